// SPDX-License-Identifier: BSD-3-Clause
// What a telescope on the ground sees of the ground: signals that go with the scan, fixed to the
// horizon. Knows no sky.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "skyloom/ground/elevation_scan.hpp"
#include "skyloom/pointing/focal_plane.hpp"
#include "skyloom/random/gaussian.hpp"
#include "skyloom/sky/sky_map.hpp"

namespace skyloom {

struct GroundOptions {
  double rms_k = 0;                        ///< at an elevation of 45 degrees; 0: none
  std::size_t harmonics = 20;              ///< of the azimuth
  std::shared_ptr<const SkyMap> map = {};  ///< of the horizon, beside it; none: nothing
  [[nodiscard]] bool any() const noexcept { return rms_k > 0 || map != nullptr; }
};

/// Component of its stream.
inline constexpr std::uint64_t kGroundComponent = 663056;  // the peer's

class GroundSignal {
 public:
  /// `name`: of the telescope; the ground is the same for all of its observations.
  GroundSignal(const GroundOptions& options, StreamName name);

  /// Adds RMS g(azimuth) / (elevation / 90 degrees + 1/2), g = sum over m of a_m cos(m azimuth) +
  /// b_m sin(m azimuth), of rms 1 over all azimuths, of the place that the detector looks at, and
  /// the map there: longitude is -azimuth, latitude elevation. `horizon`: from the focal plane.
  void add(const Detector& detector, const Boresight& horizon, std::span<double> signal) const;

 private:
  GroundOptions options_;
  std::vector<double> cosines_, sines_;
};

/// Quaternions from the focal plane to the horizon (north, west, zenith), sample by sample, with
/// the plate's angles where `boresight` has them.
[[nodiscard]] Boresight horizon_boresight(const GroundScan& scan, const GroundMotion& motion,
                                          const Boresight& boresight);

}  // namespace skyloom
