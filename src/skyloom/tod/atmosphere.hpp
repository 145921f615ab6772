// SPDX-License-Identifier: BSD-3-Clause
// The atmosphere over a telescope on the ground: one layer of frozen turbulence that the wind
// carries along. Knows no sky.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "skyloom/ground/elevation_scan.hpp"
#include "skyloom/noise/turbulent_screen.hpp"
#include "skyloom/pointing/focal_plane.hpp"

namespace skyloom {

struct AtmosphereOptions {
  double rms_k = 0;                         ///< at the zenith; 0: no turbulence
  double load_k = 0;                        ///< at the zenith, as even as the air is
  double height_m = 1000;                   ///< of the layer above the telescope
  double outer_m = 300;                     ///< outer scale of the turbulence
  double cell_m = 2;                        ///< of the grid
  double wind_m_s = 10, wind_from_deg = 0;  ///< azimuth, from north by east
  [[nodiscard]] bool any() const noexcept { return rms_k > 0 || load_k > 0; }
};

class Atmosphere {
 public:
  /// The part of the layer that a scan looks at, where there is turbulence. Throws kUsage where
  /// that is lower than 5 degrees, or more nodes than 2^26.
  Atmosphere(const AtmosphereOptions& options, const GroundScan& scan, const GroundMotion& motion,
             double rate_hz, const FocalPlane& plane, StreamName name, Executor& executor);
  /// Bytes while one is made.
  [[nodiscard]] static std::size_t bytes(const AtmosphereOptions& options, const GroundScan& scan,
                                         const GroundMotion& motion, double rate_hz,
                                         const FocalPlane& plane);

  /// Adds rms F(x - wind t) / sin(elevation) of where the detector's line of sight meets the layer,
  /// and load / sin(elevation).
  void add(const Detector& detector, std::span<double> signal) const;

 private:
  struct Area;
  struct Place {
    double along = 0, across = 0, airmass = 0;  ///< m, m, 1 / sin(elevation)
  };
  Atmosphere(const AtmosphereOptions& options, const GroundScan& scan, const GroundMotion& motion,
             double rate_hz, const Area& area, StreamName name, Executor& executor);
  [[nodiscard]] static Area area_of(const AtmosphereOptions& options, const GroundScan& scan,
                                    const GroundMotion& motion, double rate_hz,
                                    const FocalPlane& plane);
  [[nodiscard]] static Place place(const AtmosphereOptions& options, const Quaternion& look,
                                   double seconds) noexcept;

  AtmosphereOptions options_;
  double rate_hz_, first_along_, first_across_;
  std::vector<Quaternion> looks_;          ///< from the focal plane to the horizon
  std::optional<TurbulentScreen> screen_;  ///< none: nothing but load
};

}  // namespace skyloom
