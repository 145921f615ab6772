// SPDX-License-Identifier: BSD-3-Clause
// From the horizon of a place on the Earth to the sky (ICRS): rotations with the time, aberration,
// where Sun and Moon stand. The only user of ERFA in skyloom; knows no detectors.
#pragma once

#include <string>
#include <vector>

#include "skyloom/pixels/healpix.hpp"
#include "skyloom/pointing/quaternion.hpp"

namespace skyloom {

struct Site {
  double latitude_deg = 0, longitude_deg = 0;  ///< geodetic (WGS 84), longitude counted eastward
  double height_m = 0;
  /// How the Earth stands beyond what can be computed: UT1 - UTC in seconds, the pole's place in
  /// arc seconds. A second of UT1 is 15 arc seconds of right ascension.
  double ut1_minus_utc_s = 0, pole_x_arcsec = 0, pole_y_arcsec = 0;
};

/// Empty where it is one; else what is wrong with it.
[[nodiscard]] std::string fault_of(const Site& site);

/// From the beginning of UTC to the end of what the ephemeris was fitted to, Unix time: 1960 to
/// 2100.
inline constexpr double kFirstTime = -315619200, kLastTime = 4102444800;

/// Azimuth from north by east, and elevation, rad.
struct HorizonPlace {
  double azimuth = 0, elevation = 0;
};

/// A direction in the frame of the horizon: x to the north, y to the west, z to the zenith.
[[nodiscard]] Direction horizon_direction(const HorizonPlace& place) noexcept;
[[nodiscard]] HorizonPlace horizon_place(const Direction& direction) noexcept;
/// Between two unit vectors, rad; exact for small ones.
[[nodiscard]] double angle_between(const Direction& a, const Direction& b) noexcept;

[[nodiscard]] Direction rotated(const Quaternion& q, const Direction& v) noexcept;
/// The rotation that takes unit vector `a` to `b` along their great circle.
[[nodiscard]] Quaternion along_great_circle(const Direction& a, const Direction& b) noexcept;
/// Of a rotation's columns.
[[nodiscard]] Quaternion quaternion_of(const Direction& x, const Direction& y,
                                       const Direction& z) noexcept;

/// The sky over a place during a stretch of time. Rotations are computed at nodes and turned into
/// each other evenly between them, with nodes a minute apart to 1e-11 rad; no air.
class Horizon {
 public:
  /// Times are Unix time. Throws kUsage outside [kFirstTime, kLastTime], or where the site is none.
  Horizon(const Site& site, double first_time, double last_time, double node_step_s = 60);

  /// From the horizon's frame to where the direction (a boresight's z) is seen in ICRS: rotation of
  /// the Earth, then aberration and the Sun's bending of light, both of which turn a direction
  /// along a great circle.
  [[nodiscard]] Quaternion to_sky(double time, const Quaternion& from_horizon) const;
  [[nodiscard]] HorizonPlace sun(double time) const;
  [[nodiscard]] HorizonPlace moon(double time) const;
  /// Where a direction of ICRS is seen.
  [[nodiscard]] HorizonPlace place(double time, const Direction& icrs) const;

 private:
  struct Node {
    Quaternion turn;     ///< horizon to GCRS
    double velocity[3];  ///< of the observer, c
    double from_sun[3];  ///< unit vector
    double sun_au = 1, bm1 = 1;
    double from_earth[3];  ///< of the observer, au
  };
  [[nodiscard]] Node node(double time) const;
  [[nodiscard]] Node between(double time) const;
  [[nodiscard]] static HorizonPlace seen(const Node& at, const double natural[3]);

  Site site_;
  double first_ = 0, step_ = 60;
  std::vector<Node> nodes_;
};

}  // namespace skyloom
