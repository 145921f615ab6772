// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/earth_orbit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/error.hpp"
#include "skyloom/pointing/satellite.hpp"

namespace skyloom {
namespace {

constexpr double kStart = 1771804800;  // 2026-02-23

TEST(EarthOrbit, IsAstropys) {
  // TOAST 3.0.6, which asks astropy: SpaceSite.position_velocity(), km and km/s
  const EarthState at = earth_state(kStart);
  EXPECT_NEAR(at.position_km.x, -1.33443328e+08, 20);
  EXPECT_NEAR(at.position_km.y, 5.87386077e+07, 20);
  EXPECT_NEAR(at.position_km.z, 2.54827263e+07, 20);
  EXPECT_NEAR(at.velocity_km_s.x, -13.51618153, 1e-5);
  EXPECT_NEAR(at.velocity_km_s.y, -24.6769224, 1e-5);
  EXPECT_NEAR(at.velocity_km_s.z, -10.69770302, 1e-5);
  EXPECT_THROW((void)earth_state(1e12), Error);
}

TEST(Galactic, IsAstropys) {
  const Direction found = from_galactic(263.99, 48.26);  // astropy 8.0.2
  EXPECT_NEAR(found.x, -0.970750433145348, 1e-7);
  EXPECT_NEAR(found.y, 0.207602368618848, 1e-7);
  EXPECT_NEAR(found.z, -0.120602044310879, 1e-7);
}

TEST(Satellite, FollowsTheEarthAsThePeersDoes) {
  // TOAST 3.0.6: SimSatellite, an hour at 1 Hz
  const struct {
    std::size_t sample;
    Quaternion q;
  } peer[] = {
      {0, {-0.0060051522687901149, -0.55659040121961212, 0.80782911977074678, 0.19386380958508112}},
      {777, {0.31838168967616653, 0.38075361775185834, 0.61753616695348401, -0.61017117659900988}},
      {3500,
       {-0.083252755721038962, 0.26155155412392828, -0.72956486041982271, -0.62641430191273217}}};
  const SatelliteScan scan{.follows_earth = true, .frame = Frame::kEquatorial};
  const Boresight found = satellite_boresight(scan, 1, 0, 3600, earth_axes(kStart, 1, 3600));
  for (const auto& each : peer) {
    const Quaternion q = quaternion_at(found, each.sample);
    const double cosine = q.x * each.q.x + q.y * each.q.y + q.z * each.q.z + q.w * each.q.w;
    EXPECT_NEAR(std::fabs(cosine), 1, 1e-13) << each.sample;
  }
}

TEST(Satellite, LooksTheSameWayInEitherFrame) {
  const std::vector<Quaternion> axes = earth_axes(kStart, 1, 100);
  const Boresight a = satellite_boresight({.frame = Frame::kEcliptic}, 1, 0, 100, axes);
  const Boresight b = satellite_boresight({.frame = Frame::kEquatorial}, 1, 0, 100, axes);
  const Quaternion between = about_x(84381.406 / 3600 * 3.14159265358979323846 / 180);
  for (const std::size_t i : {0, 50, 99}) {
    const Quaternion q = between * quaternion_at(a, i), r = quaternion_at(b, i);
    EXPECT_NEAR(std::fabs(q.x * r.x + q.y * r.y + q.z * r.z + q.w * r.w), 1, 1e-14);
  }
}

}  // namespace
}  // namespace skyloom
