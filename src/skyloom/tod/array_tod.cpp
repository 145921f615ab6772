// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/array_tod.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace skyloom {
namespace {

void check_length(const ArrayObservation& of, const char* what, std::size_t found,
                  std::size_t expected) {
  if (found == expected) return;
  throw Error(Status::kUsage, print("observation %s: %s: expected %zu values, got %zu",
                                    of.about.name.c_str(), what, expected, found));
}

void check_angle(const ArrayObservation& of, const char* what, std::size_t row, double angle) {
  if (std::fabs(angle) < kMostAngle) return;
  throw Error(Status::kCorrupt, print("observation %s: %s: value %zu is %g", of.about.name.c_str(),
                                      what, row, angle));
}

}  // namespace

ArrayTod::ArrayTod(std::vector<ArrayObservation> observations)
    : observations_(std::move(observations)) {
  for (const ArrayObservation& of : observations_) {
    const std::size_t n = of.about.samples;
    check_length(of, "boresight", of.boresight.size(), 4 * n);
    check_length(of, "detectors", of.detectors.size(), of.about.plane.detectors.size());
    if (!of.plate.empty()) check_length(of, "hwp_angle", of.plate.size(), n);
    if (!of.azimuth.empty()) check_length(of, "azimuth", of.azimuth.size(), n);
    if (!of.shared_flags.empty()) check_length(of, "shared flags", of.shared_flags.size(), n);
    for (const ArrayDetector& detector : of.detectors) {
      check_length(of, "signal",
                   std::visit([](const auto& view) { return view.size(); }, detector.signal), n);
      if (!detector.flags.empty()) check_length(of, "flags", detector.flags.size(), n);
    }
  }
}

Boresight ArrayTod::boresight(std::size_t number) const {
  const ArrayObservation& of = observations_[number];
  const std::size_t n = of.about.samples;
  Boresight out(of.plate.empty() ? kBoresightRows : kPlateRows, n);
  for (std::size_t i = 0; i < n; ++i) {
    const Quaternion q = unit_quaternion(of.boresight.data() + 4 * i);
    if (!std::isfinite(q.x + q.y + q.z + q.w)) {
      throw Error(Status::kCorrupt, print("observation %s: boresight: row %zu is no quaternion",
                                          of.about.name.c_str(), i));
    }
    set_quaternion(out, i, q);
    if (of.plate.empty()) continue;
    check_angle(of, "hwp_angle", i, of.plate[i]);
    set_plate(out, i, of.plate[i]);
  }
  return out;
}

std::shared_ptr<const GroundMotion> ArrayTod::motion(std::size_t number) const {
  const ArrayObservation& of = observations_[number];
  if (of.azimuth.empty()) return nullptr;
  for (std::size_t i = 0; i < of.azimuth.size(); ++i) check_angle(of, "azimuth", i, of.azimuth[i]);
  auto out = std::make_shared<GroundMotion>();
  out->azimuth.assign(of.azimuth.begin(), of.azimuth.end());
  return out;
}

NoisePsd ArrayTod::noise(std::size_t number, std::size_t detector) const {
  const NoisePsd& given = observations_[number].detectors[detector].noise;
  return given.psd.empty() ? TodSource::noise(number, detector) : given;
}

bool ArrayTod::has_spectra(std::size_t number) const {
  return std::ranges::none_of(observations_[number].detectors,
                              [](const ArrayDetector& d) { return d.noise.psd.empty(); });
}

void ArrayTod::read(std::size_t number, const Boresight& /*boresight*/, std::size_t first,
                    std::span<const Signal> signals) const {
  const ArrayObservation& of = observations_[number];
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const ArrayDetector& from = of.detectors[first + i];
    const Signal& to = signals[i];
    std::visit([&](const auto& view) { std::copy(view.begin(), view.end(), to.values.begin()); },
               from.signal);
    for (std::size_t k = 0; k < to.flags.size(); ++k) {
      const int own = from.flags.empty() ? 0 : from.flags[k] & of.detector_mask;
      const int shared = of.shared_flags.empty() ? 0 : of.shared_flags[k] & of.shared_mask;
      to.flags[k] = (own | shared) != 0 ? 1 : 0;
    }
  }
}

}  // namespace skyloom
