// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/common_mode.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "loom/base/error.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/split.hpp"
#include "skyloom/random/gaussian.hpp"
#include "skyloom/random/name_uid.hpp"

namespace skyloom {
namespace {

constexpr std::uint64_t kTelescopes = 3956215;  // the peer's step of keys between telescopes
constexpr double kMostComponents = 65535;       // what the peer's keys have room for

double coupling_of(const CommonOptions& options, const CommonPlace& place, std::uint32_t stream,
                   std::uint32_t detector) {
  const Words key{stream + place.telescope_uid * kTelescopes,
                  options.same_every ? 0 : place.observation_uid};
  const Words counter{options.same_every ? 0 : place.realization, detector};
  double drawn = 0;
  fill_gaussian(key, counter, {&drawn, 1});
  return options.coupling + options.spread * drawn;
}

/// Where the plane has the column of a mode; 0 where it asks for none.
std::size_t place_of(const FocalPlane& plane, const CommonOptions& mode) {
  const std::string& column = mode.column();
  if (column.empty()) return 0;
  const auto found = std::find(plane.groups.begin(), plane.groups.end(), column);
  if (found == plane.groups.end()) {
    throw Error(Status::kUsage, "noise in common: the focal plane has no column " + column);
  }
  return static_cast<std::size_t>(found - plane.groups.begin());
}

void add_mode(const CommonOptions& options, std::size_t number, const FocalPlane& plane,
              const CommonPlace& place, CommonModes& to) {
  const std::string begin = options.stream_name();
  (void)analytic_psd(options.noise, plane.rate_hz, begin);
  const std::size_t column = place_of(plane, options), before = to.streams.size();
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> first;  // detector of each stream
  for (std::size_t d = 0; d < plane.detectors.size(); ++d) {
    const Detector& detector = plane.detectors[d];
    if (!options.only_in.empty() && detector.groups[column] != options.only) continue;
    const std::string group = options.by.empty() ? std::string() : "_" + detector.groups[column];
    const auto [found, fresh] = numbers.emplace(group, first.size());
    if (fresh) {
      const std::string name = begin + group;
      to.streams.push_back(
          {.noise = options.noise, .mode = number, .name = name, .uid = name_uid(name)});
      first.push_back(d);
    }
    CommonStream& stream = to.streams[before + found->second];
    if (d / 2 != first[found->second] / 2) stream.of_one_pair = false;
    to.parts[d].push_back(
        {before + found->second, coupling_of(options, place, stream.uid, detector.uid)});
  }
  if (first.empty()) {
    throw Error(Status::kUsage, "noise in common: no detector has " + options.only + " in the " +
                                    "column " + options.only_in);
  }
}

/// One "key=value" of a mode's text; `flag`: what stands alone.
class ModeText {
 public:
  ModeText(const std::string& text, CommonOptions& to) : text_(text), to_(to) {}

  void take(const std::string& part) {
    const std::size_t equal = part.find('=');
    const std::string key = part.substr(0, equal);
    if (!seen_.insert(key).second) refuse("'" + key + "' twice");
    if (equal == std::string::npos) {
      if (key != "fixed") refuse("'" + key + "'");
      to_.same_every = true;
      return;
    }
    const std::string value = part.substr(equal + 1);
    if (value.empty()) refuse("'" + part + "'");
    const std::map<std::string, double*> numbers{
        {"net", &to_.noise.net},     {"fknee", &to_.noise.fknee_hz}, {"fmin", &to_.noise.fmin_hz},
        {"slope", &to_.noise.slope}, {"coupling", &to_.coupling},    {"spread", &to_.spread}};
    if (const auto found = numbers.find(key); found != numbers.end()) {
      *found->second = number(part, value, -1e6, 1e6);
    } else if (key == "component") {
      to_.component = static_cast<std::size_t>(number(part, value, 0, kMostComponents));
    } else if (key == "name") {
      to_.name = value;
    } else if (key == "by") {
      to_.by = value;
    } else if (key == "in") {
      const std::size_t colon = value.find(':');
      if (colon == 0 || colon >= value.size() - 1) refuse("'" + part + "'");
      to_.only_in = value.substr(0, colon);
      to_.only = value.substr(colon + 1);
    } else {
      refuse("'" + part + "'");
    }
  }
  [[noreturn]] void refuse(const std::string& found) const {
    throw Error(Status::kUsage,
                "'" + text_ + "': " + found +
                    ": expected net=NET and of fknee=, fmin=, slope=, coupling=, spread=, fixed, "
                    "by=COLUMN or in=COLUMN:VALUE, name=, component= what is wanted, each once, "
                    "between commas");
  }

 private:
  double number(const std::string& part, const std::string& value, double low, double high) const {
    const auto found = number_in(value);
    if (!found || !(*found >= low && *found <= high)) refuse("'" + part + "'");
    return *found;
  }

  const std::string& text_;
  CommonOptions& to_;
  std::set<std::string> seen_;
};

}  // namespace

CommonOptions common_of(const std::string& text, std::size_t component) {
  CommonOptions out;
  out.component = component;
  ModeText reader(text, out);
  for (const std::string_view part : loom::parts_of(text)) reader.take(std::string(part));
  if (!(out.noise.net > 0)) reader.refuse("no NET above 0");
  if (!(out.spread >= 0)) reader.refuse("a spread below 0");
  if (!out.by.empty() && !out.only_in.empty()) reader.refuse("by= and in=");
  return out;
}

std::vector<std::string> common_columns(std::span<const CommonOptions> modes) {
  std::vector<std::string> out;
  for (const CommonOptions& mode : modes) {
    const std::string& column = mode.column();
    if (column.empty() || std::find(out.begin(), out.end(), column) != out.end()) continue;
    out.push_back(column);
  }
  return out;
}

double CommonModes::white_psd(std::size_t detector) const noexcept {
  double sum = 0;
  for (const auto& [stream, coupling] : parts[detector]) {
    const double net = coupling * streams[stream].noise.net;
    sum += net * net;
  }
  return sum;
}

CommonModes common_modes(std::span<const CommonOptions> modes, const FocalPlane& plane,
                         const CommonPlace& place) {
  CommonModes out;
  out.parts.resize(plane.detectors.size());
  for (std::size_t m = 0; m < modes.size(); ++m) add_mode(modes[m], m, plane, place, out);
  std::set<std::string> names;
  for (const Detector& detector : plane.detectors) names.insert(detector.name);
  for (const CommonStream& stream : out.streams) {
    if (names.insert(stream.name).second) continue;
    throw Error(Status::kUsage, "noise in common: two streams called " + stream.name +
                                    ": expected name= or component= that differ");
  }
  return out;
}

void add_common_psd(const CommonModes& modes, std::size_t detector, double rate_hz, NoisePsd& to) {
  for (const auto& [stream, coupling] : modes.parts[detector]) {
    const CommonStream& from = modes.streams[stream];
    const NoisePsd common = analytic_psd(from.noise, rate_hz, from.name);
    for (std::size_t i = 0; i < to.psd.size(); ++i) {
      to.psd[i] += coupling * coupling * common.psd[i];
    }
  }
}

}  // namespace skyloom
