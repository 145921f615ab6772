// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/common_mode.hpp"

#include <map>

#include "skyloom/random/gaussian.hpp"
#include "skyloom/random/name_uid.hpp"

namespace skyloom {
namespace {

constexpr const char* kName = "CommonModeNoise_0";  // the peer's: operator and component
constexpr std::uint64_t kTelescopes = 3956215;      // the peer's step of keys between telescopes

double coupling_of(const CommonOptions& options, const CommonPlace& place, std::uint32_t stream,
                   std::uint32_t detector) {
  const Words key{stream + place.telescope_uid * kTelescopes,
                  options.same_every ? 0 : place.observation_uid};
  const Words counter{options.same_every ? 0 : place.realization, detector};
  double drawn = 0;
  fill_gaussian(key, counter, {&drawn, 1});
  return options.coupling + options.spread * drawn;
}

}  // namespace

CommonModes common_modes(const CommonOptions& options, const FocalPlane& plane,
                         const CommonPlace& place) {
  CommonModes out{.noise = options.noise, .streams = {}, .parts = {}};
  (void)analytic_psd(options.noise, plane.rate_hz, kName);
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> first;  // detector of each stream
  for (std::size_t d = 0; d < plane.detectors.size(); ++d) {
    const Detector& detector = plane.detectors[d];
    const std::string group = options.by.empty() ? std::string() : "_" + detector.group;
    const auto [found, fresh] = numbers.emplace(group, out.streams.size());
    if (fresh) {
      const std::string name = kName + group;
      out.streams.push_back({.name = name, .uid = name_uid(name)});
      first.push_back(d);
    }
    const std::size_t number = found->second;
    CommonStream& stream = out.streams[number];
    if (d / 2 != first[number] / 2) stream.of_one_pair = false;
    out.parts.push_back({number, coupling_of(options, place, stream.uid, detector.uid)});
  }
  return out;
}

void add_common_psd(const CommonModes& modes, std::size_t detector, double rate_hz, NoisePsd& to) {
  const auto [stream, coupling] = modes.parts[detector];
  const NoisePsd common = analytic_psd(modes.noise, rate_hz, modes.streams[stream].name);
  for (std::size_t i = 0; i < to.psd.size(); ++i) to.psd[i] += coupling * coupling * common.psd[i];
}

}  // namespace skyloom
