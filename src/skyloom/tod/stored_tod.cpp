// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/stored_tod.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>

#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "loom/json/json.hpp"
#include "skyloom/kelvin.hpp"
#include "skyloom/sky/sky_map.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/observation_file.hpp"

namespace skyloom {
namespace {

using hdf5::Reader;

constexpr double kLeastStep = 1e-9, kMostStep = 1e9;  // seconds between samples

double unit_of(const Reader& file, const std::string& signal) {
  const std::string name = file.description(signal, "units").value_or("K");
  if (const auto kelvin = kelvin_of(name)) return *kelvin;
  throw Error(Status::kUnsupported,
              file.path() + ": " + signal + ": units '" + name + "': expected K, mK or uK");
}

Json json_of(const Reader& file, const std::string& attribute) {
  const auto json = Json::parse(text_of(file, "/", attribute));
  if (!json) {
    throw Error(Status::kCorrupt, file.path() + ": attribute " + attribute + " is no JSON");
  }
  return *json;
}

/// The signal must be there, it and its flags plain numbers.
void check_signal(const Reader& file, const std::string& signal, const std::string& flags) {
  refuse_compressed(file, signal);
  refuse_compressed(file, flags);
  if (!file.has(signal)) throw Error(Status::kMissingHdu, file.path() + ": no data set " + signal);
}

/// What the boresight is in: C, E or G; empty: nobody says.
std::string frame_said(const Reader& file, const std::string& boresight) {
  const auto letter = frame_of(file.description(boresight, kFrame).value_or(""));
  return letter ? std::string(1, *letter) : std::string();
}

/// Whether there is a data set that need not be there: the one that is usually meant. One that was
/// named instead of it must be there, or be "none".
bool uses(const Reader& file, const std::string& group, const std::string& name,
          const std::string& usual) {
  const std::string path = group + name;
  if (name == StoredOptions::kNone) return false;
  if (file.has(path)) return true;
  if (name == usual) return false;
  throw Error(Status::kMissingHdu, file.path() + ": no data set " + path);
}

/// Whether flags have bits of the mask. Others than bytes are numbers first: as bytes they would be
/// cut to 0 or 255.
void read_flags(const Reader& file, const std::string& name, std::span<const std::size_t> start,
                std::span<const std::size_t> count, std::size_t mask, std::span<std::uint8_t> out) {
  if (file.type(name) == hdf5::Type::kUint8) {
    file.read_box(name, start, count, out);
    for (std::uint8_t& flag : out) flag = (flag & mask) != 0 ? 1 : 0;
    return;
  }
  std::vector<double> numbers(out.size());
  file.read_box(name, start, count, std::span<double>(numbers));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double number = numbers[i];
    if (!(std::fabs(number) <= 0x1p53) || std::floor(number) != number) {
      throw Error(Status::kCorrupt,
                  file.path() + ": " + name + print(": %g: expected whole numbers", number));
    }
    out[i] = (static_cast<std::uint64_t>(static_cast<std::int64_t>(number)) & mask) != 0 ? 1 : 0;
  }
}

void check_shape(const Reader& file, const std::string& name,
                 const std::vector<std::size_t>& expected) {
  const std::vector<std::size_t> found = file.extent(name);
  if (found == expected) return;
  const auto words = [](const std::vector<std::size_t>& sizes) {
    std::string text;
    for (const std::size_t n : sizes) text += (text.empty() ? "" : " x ") + std::to_string(n);
    return text;
  };
  throw Error(Status::kWrongShape,
              file.path() + ": " + name + ": " + words(found) + ": expected " + words(expected));
}

std::vector<double> times_of(const Reader& file, std::size_t samples) {
  check_shape(file, "shared/times", {samples});
  return file.read("shared/times");
}

/// Samples a second of timestamps, by the median step: as the peer has it.
double rate_of(const Reader& file, const std::vector<double>& times) {
  std::vector<double> steps(times.size() - 1);
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    steps[i] = times[i + 1] - times[i];
    if (!std::isfinite(steps[i])) {
      throw Error(Status::kCorrupt,
                  file.path() + print(": shared/times: row %zu: %g s", i + 1, times[i + 1]));
    }
  }
  const double step = median_of(steps);
  if (!(step >= kLeastStep && step <= kMostStep)) {
    throw Error(Status::kCorrupt, file.path() + print(": shared/times: steps of %g s: expected %g "
                                                      "to %g",
                                                      step, kLeastStep, kMostStep));
  }
  return 1 / step;
}

/// What is to be said of timestamps that are not even: samples are taken as if they were.
std::string uneven_times(const std::string& path, const std::vector<double>& times, double rate) {
  std::size_t uneven = 0, worst = 0;
  double farthest = 0.5;  // of a step
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double off = std::fabs((times[i + 1] - times[i]) * rate - 1);
    if (off > 0.5) ++uneven;
    if (off <= farthest) continue;
    farthest = off;
    worst = i;
  }
  if (uneven == 0) return {};
  return path + print(
                    ": shared/times: %zu of %zu steps are not %g s (that behind sample %zu is %g "
                    "s): baselines, filters and noise take samples as even",
                    uneven, times.size() - 1, 1 / rate, worst, times[worst + 1] - times[worst]);
}

/// Behind a half-wave plate it matters how detectors stand on the focal plane.
void check_gammas(const Reader& file, const std::vector<Detector>& detectors) {
  if (file.read_field(kFocalPlaneTable, "gamma").empty()) {
    throw Error(Status::kMissingKeyword,
                file.path() + ": " + kFocalPlaneTable +
                    ": no column gamma of numbers, which a half-wave plate asks for");
  }
  for (const Detector& detector : detectors) {
    if (std::isfinite(detector.gamma)) continue;
    throw Error(Status::kCorrupt, file.path() + ": " + kFocalPlaneTable + ": detector " +
                                      detector.name + print(": gamma %g", detector.gamma));
  }
}

/// The samples of intervals by the peer's rule: start <= time < stop, of the last sample also stop.
std::vector<Stretch> stretches_of(const Reader& file, const std::string& name) {
  const std::vector<std::size_t> extent = file.extent(name);
  if (extent.size() != 2 || extent[0] != 2) {
    throw Error(Status::kWrongShape, file.path() + ": " + name + ": expected 2 x intervals");
  }
  const std::vector<double> spans = file.read(name), times = file.read("shared/times");
  const std::size_t n = extent[1];
  std::vector<Stretch> out;
  double before = -INFINITY;
  for (std::size_t i = 0; i < n; ++i) {
    const double start = spans[i], stop = spans[n + i];
    if (!(before <= start && start <= stop && std::isfinite(stop))) {
      throw Error(Status::kCorrupt, file.path() + ": " + name +
                                        print(": interval %zu, from %.17g to %.17g s: expected "
                                              "growing times",
                                              i, start, stop));
    }
    before = stop;
    const auto place = [&](double time) {
      return static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), time) -
                                      times.begin());
    };
    Stretch stretch{place(start), place(stop)};
    if (stretch.end + 1 == times.size()) stretch.end = times.size();
    if (stretch.first < stretch.end) out.push_back(stretch);
  }
  return out;
}

}  // namespace

StoredTod::StoredTod(const std::vector<std::string>& paths, const StoredOptions& options)
    : options_(options) {
  std::set<std::filesystem::path> seen;
  for (const std::string& path : paths) {
    std::error_code none;  // a file that is not there is told of when it is opened
    if (!seen.insert(std::filesystem::weakly_canonical(path, none)).second) {
      throw Error(Status::kUsage, path + ": named twice: its samples would count twice");
    }
    files_.push_back({.path = path, .observation = {}, .rows = {}, .flags = {}});
    open(files_.back());
  }
  check_apart();
}

/// A copy under another name is the same observation: same telescope, name and first sample. Files
/// of other detectors of it are not.
void StoredTod::check_apart() const {
  std::map<std::tuple<std::string, std::string, double, std::string>, const File*> seen;
  for (const File& file : files_) {
    const Observation& of = file.observation;
    for (const Detector& detector : of.plane.detectors) {
      const auto [at, first] =
          seen.try_emplace({of.telescope, of.name, of.start_s, detector.name}, &file);
      if (first) continue;
      throw Error(Status::kUsage, file.path + ": observation " + of.name + ", detector " +
                                      detector.name + " are those of " + at->second->path +
                                      ": its samples would count twice");
    }
  }
}

StoredTod::~StoredTod() = default;

void StoredTod::open(File& to) const {
  const Reader file(to.path);
  check_observation(file);
  const std::string signal = "detdata/" + options_.signal;
  check_signal(file, signal, "detdata/" + options_.detector_flags);
  Observation& observation = to.observation;
  std::vector<std::string> names, used;
  try {
    names = json_of(file, "observation_detectors").get<std::vector<std::string>>();
    std::set<std::string> once;
    for (const std::string& name : names) {
      if (once.insert(name).second) continue;
      throw Error(Status::kCorrupt,
                  to.path + ": observation_detectors: " + name + " is there twice");
    }
    const Json flags = json_of(file, "observation_detector_flags");
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((flags.value<std::uint64_t>(names[i], 0) & options_.detector_mask) != 0) continue;
      used.push_back(names[i]);
      to.rows.push_back(i);
    }
  } catch (const JsonError& error) {
    throw Error(Status::kCorrupt, to.path + ": attributes of detectors: " + error.what());
  }
  observation.name = text_of(file, "/", "observation_name");
  const double samples = number_of(file, "/", "observation_samples");
  if (!(samples >= 2 && samples < 0x1p40)) {
    throw Error(Status::kCorrupt, to.path + print(": observation_samples %g", samples));
  }
  observation.samples = static_cast<std::size_t>(samples);
  check_shape(file, signal, {names.size(), observation.samples});
  check_shape(file, "shared/" + options_.boresight, {observation.samples, 4});
  to.unit = unit_of(file, signal);
  observation.frame = frame_said(file, "shared/" + options_.boresight);
  const std::vector<double> times = times_of(file, observation.samples);
  observation.plane.rate_hz = rate_of(file, times);
  to.note = uneven_times(to.path, times, observation.plane.rate_hz);
  observation.start_s = times.front();
  observation.telescope = file.description("instrument", "telescope_name").value_or("");
  observation.plane.detectors = read_detectors(file, used);
  to.has_plate = uses(file, "shared/", options_.plate, StoredOptions().plate);
  if (to.has_plate) {
    check_shape(file, "shared/" + options_.plate, {observation.samples});
    check_gammas(file, observation.plane.detectors);
  }
  observation.plane.rate_hz = read_noise(file, options_.noise_model, observation.plane.rate_hz,
                                         observation.plane.detectors);
  to.has_mixed_noise = has_mixed_noise(file, options_.noise_model);
  to.has_spectra = skyloom::has_spectra(file, options_.noise_model);
  std::vector<Detector>& detectors = observation.plane.detectors;
  for (std::size_t i = detectors.size(); i-- > 0;) {
    if (detectors[i].noise.net > 0) continue;  // no weight
    detectors.erase(detectors.begin() + static_cast<std::ptrdiff_t>(i));
    to.rows.erase(to.rows.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const std::string flags = "detdata/" + options_.detector_flags;
  to.has_flags = uses(file, "detdata/", options_.detector_flags, StoredOptions().detector_flags);
  if (to.has_flags) check_shape(file, flags, {names.size(), observation.samples});
  read_shared_flags(file, to);
}

void StoredTod::read_shared_flags(const Reader& file, File& to) const {
  const std::size_t samples = to.observation.samples;
  const std::string shared = "shared/" + options_.shared_flags;
  if (uses(file, "shared/", options_.shared_flags, StoredOptions().shared_flags)) {
    check_shape(file, shared, {samples});
    to.flags.resize(samples);
    const std::size_t start[] = {0}, count[] = {samples};
    read_flags(file, shared, start, count, options_.shared_mask, to.flags);
  }
  if (options_.intervals.empty()) return;
  const std::string name = "intervals/" + options_.intervals;
  if (!file.has(name)) throw Error(Status::kMissingHdu, to.path + ": no data set " + name);
  to.observation.stretches = stretches_of(file, name);
  to.flags.resize(samples, 0);
  flag_between(to.observation.stretches, to.flags);
  // none at all: everything is flagged, and one stretch of it is as good as none
  if (to.observation.stretches.empty()) to.observation.stretches.push_back({0, samples});
}

std::vector<std::string> StoredTod::notes() const {
  std::vector<std::string> out;
  for (const File& file : files_) {
    if (!file.note.empty()) out.push_back(file.note);
  }
  return out;
}

std::shared_ptr<const Reader> StoredTod::reader(std::size_t number) const {
  return open_.of(number, [&] { return std::make_shared<const Reader>(files_[number].path); });
}

NoisePsd StoredTod::noise(std::size_t number, std::size_t detector) const {
  const File& file = files_[number];
  if (!file.has_mixed_noise) return TodSource::noise(number, detector);
  const FocalPlane& plane = file.observation.plane;
  const auto spectra = spectra_.of(number, [&] {
    return std::make_shared<const MixedSpectra>(*reader(number), options_.noise_model,
                                                plane.rate_hz);
  });
  return spectra->of(plane.detectors[detector].name);
}

std::shared_ptr<const GroundMotion> StoredTod::motion(std::size_t number) const {
  const File& file = files_[number];
  const auto from = reader(number);
  const std::string name = "shared/" + options_.azimuth;
  if (!from->has(name)) return nullptr;
  check_shape(*from, name, {file.observation.samples});
  auto out = std::make_shared<GroundMotion>();
  out->azimuth = from->read(name);
  for (std::size_t i = 0; i < out->azimuth.size(); ++i) {
    if (std::fabs(out->azimuth[i]) < kMostAngle) continue;
    throw Error(Status::kCorrupt,
                file.path + ": " + name + print(": row %zu: %g", i, out->azimuth[i]));
  }
  return out;
}

Boresight StoredTod::boresight(std::size_t number) const {
  const File& file = files_[number];
  const std::string name = "shared/" + options_.boresight;
  const std::vector<double> values = reader(number)->read(name);
  const std::size_t n = file.observation.samples;
  if (values.size() != 4 * n) {
    throw Error(Status::kChanged, file.path + ": " + name + " has another size than before");
  }
  Boresight out(file.has_plate ? kPlateRows : kBoresightRows, n);
  for (std::size_t i = 0; i < n; ++i) {
    Quaternion q = unit_quaternion(values.data() + 4 * i);
    if (!std::isfinite(q.x + q.y + q.z + q.w)) {
      if (i < file.flags.size() && file.flags[i] != 0) q = {0, 0, 0, 1};  // nothing is seen there
    }
    if (!std::isfinite(q.x + q.y + q.z + q.w)) {
      throw Error(Status::kCorrupt,
                  file.path + ": " + name + print(": row %zu is no quaternion", i));
    }
    set_quaternion(out, i, q);
  }
  if (!file.has_plate) return out;
  const std::string plate = "shared/" + options_.plate;
  const std::vector<double> angles = reader(number)->read(plate);
  if (angles.size() != n) {
    throw Error(Status::kChanged, file.path + ": " + plate + " has another size than before");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (!(std::fabs(angles[i]) < kMostAngle)) {
      throw Error(Status::kCorrupt,
                  file.path + ": " + plate + print(": row %zu: %g", i, angles[i]));
    }
    set_plate(out, i, angles[i]);
  }
  return out;
}

void StoredTod::read(std::size_t number, const Boresight& /*boresight*/, std::size_t first,
                     std::span<const Signal> signals) const {
  const File& file = files_[number];
  const auto from = reader(number);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const Signal& to = signals[i];
    const std::size_t start[] = {file.rows[first + i], 0};
    const std::size_t count[] = {1, file.observation.samples};
    from->read_box("detdata/" + options_.signal, start, count, to.values);
    if (file.unit != 1) {
      for (double& value : to.values) value *= file.unit;
    }
    std::fill(to.flags.begin(), to.flags.end(), std::uint8_t{0});
    if (file.has_flags) {
      read_flags(*from, "detdata/" + options_.detector_flags, start, count, options_.detector_mask,
                 to.flags);
    }
    for (std::size_t k = 0; k < file.flags.size(); ++k) to.flags[k] |= file.flags[k];
  }
}

}  // namespace skyloom
