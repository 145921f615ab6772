// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/horizon.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/error.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

constexpr double kMicroArcsec = kArcsec * 1e-6;

struct Reference {
  double time, ut1_minus_utc, pole_x, pole_y;
  double azimuth_deg, elevation_deg, ra, dec;  ///< what is seen, and where it is
  double sun_azimuth, sun_elevation, moon_azimuth, moon_elevation;  ///< degrees
};

// astropy 8.0.2 with pyerfa 2.0.1.5: AltAz(location = 67.786 W, 22.958 S, 5200 m) to ICRS,
// get_sun() and get_body("moon"), with what its tables said of the Earth's rotation; by
// `bench/skyloom/horizon-of-astropy`.
constexpr Reference kAstropy[] = {
    {1740801600, 0.045499733333333334, 0.070217166666666664, 0.32624116666666669,
     184.25578489209241, 81.037095706074822, 2.6243916556518285, -0.55451148238722436, 200.487079,
     -57.7317436, 228.553064, -55.8404086},
    {1500000000.25, 0.35569149824739582, 0.18955656067418983, 0.4391773297482639,
     51.897460579068145, 80.891955770979507, 4.740502641536029, -0.29975235350339374, 272.969433,
     -62.9582335, 94.4141527, 5.38655967},
    {1600000000.5, -0.17641581117881944, 0.20906847725694444, 0.3458999199652778,
     112.25932272377476, 38.866115917806056, 2.9476244384133161, -0.54066244686456699, 73.8415258,
     25.7835474, 11.493986, 42.2772877},
    {1262304000, 0.1141359, 0.098669999999999994, 0.19284000000000001, 297.97293377535902,
     37.735930909532904, 6.0742012224675221, 0.10204264638937888, 240.183319, -9.00459346,
     61.1646465, 5.27295252},
};

Site site_of(const Reference& r) {
  return {.latitude_deg = -22.958,
          .longitude_deg = -67.786,
          .height_m = 5200,
          .ut1_minus_utc_s = r.ut1_minus_utc,
          .pole_x_arcsec = r.pole_x,
          .pole_y_arcsec = r.pole_y};
}

Quaternion look_at(const HorizonPlace& place) {
  return about_z(-place.azimuth) * about_y(std::numbers::pi / 2 - place.elevation);
}

Direction sky_direction(double ra, double dec) {
  return {std::cos(dec) * std::cos(ra), std::cos(dec) * std::sin(ra), std::sin(dec)};
}

TEST(Horizon, IsAstropysToAMicroArcSecond) {
  for (const Reference& r : kAstropy) {
    const HorizonPlace at{r.azimuth_deg * kDegree, r.elevation_deg * kDegree};
    const Direction expected = sky_direction(r.ra, r.dec);
    // at a node, and between two
    for (const double before : {0.0, 23.0}) {
      const Horizon sky(site_of(r), r.time - before, r.time + 120);
      const Direction found = rotated(sky.to_sky(r.time, look_at(at)), {0, 0, 1});
      EXPECT_LT(angle_between(found, expected), (before == 0 ? 1 : 3) * kMicroArcsec)
          << r.time << " " << angle_between(found, expected) / kMicroArcsec;
      const HorizonPlace back = sky.place(r.time, expected);
      EXPECT_LT(angle_between(horizon_direction(back), horizon_direction(at)), 5 * kMicroArcsec);
    }
  }
}

TEST(Horizon, KnowsSunAndMoonAsAstropyDoes) {
  for (const Reference& r : kAstropy) {
    const Horizon sky(site_of(r), r.time, r.time + 1);
    const auto far = [](const HorizonPlace& found, double azimuth, double elevation) {
      return angle_between(horizon_direction(found),
                           horizon_direction({azimuth * kDegree, elevation * kDegree}));
    };
    EXPECT_LT(far(sky.sun(r.time), r.sun_azimuth, r.sun_elevation), 1.0 / 3600 * kDegree);
    EXPECT_LT(far(sky.moon(r.time), r.moon_azimuth, r.moon_elevation), 30.0 / 3600 * kDegree);
  }
}

TEST(Horizon, TurnsWithTheEarthAboutThePole) {
  // the sky's pole stays where it is, but for aberration; everything else goes around in a sidereal
  // day
  const Site site{.latitude_deg = 40, .longitude_deg = 10, .height_m = 0};
  const double day = 86164.0905, start = 1.75e9;
  const Horizon sky(site, start, start + day);
  const HorizonPlace pole = sky.place(start, {0, 0, 1});
  EXPECT_NEAR(pole.elevation, 40 * kDegree, 0.15 * kDegree);  // precession since 2000
  const Direction star = sky_direction(1, 0.3);
  const HorizonPlace first = sky.place(start, star), last = sky.place(start + day, star);
  EXPECT_LT(angle_between(horizon_direction(first), horizon_direction(last)), 2.0 / 3600 * kDegree);
  EXPECT_GT(
      angle_between(horizon_direction(first), horizon_direction(sky.place(start + day / 2, star))),
      1.0);
}

TEST(Horizon, KeepsTheTurnOfAFocalPlane) {
  // a boost keeps angles: the axes of a boresight go where neighbouring directions go
  const Reference& r = kAstropy[2];
  const Horizon sky(site_of(r), r.time, r.time + 60);
  const Quaternion look = look_at({1, 0.7});
  const Quaternion q = sky.to_sky(r.time + 20, look);
  constexpr double kSmall = 1e-4;
  for (const Quaternion& turn : {about_x(kSmall), about_y(kSmall)}) {
    const Direction by_turn = rotated(q * turn, {0, 0, 1});
    const Direction by_itself = rotated(sky.to_sky(r.time + 20, look * turn), {0, 0, 1});
    // its size is changed by aberration, 1e-4, its direction is not
    EXPECT_LT(angle_between(by_turn, by_itself), 1.5e-4 * kSmall);
  }
}

TEST(Horizon, RefusesTimesAndPlacesThatAreNone) {
  EXPECT_THROW(Horizon({}, 1e12, 1e12), Error);
  EXPECT_THROW(Horizon({}, 10, 5), Error);
  EXPECT_THROW(Horizon({.latitude_deg = 91}, 0, 5), Error);
  EXPECT_THROW(Horizon({.latitude_deg = NAN}, 0, 5), Error);
}

TEST(Quaternion, OfARotationsColumnsIsThatRotation) {
  for (double a = 0.1; a < 6.2; a += 0.37) {
    for (double b = 0; b < 6.2; b += 0.71) {
      const Quaternion q = about_z(a) * about_y(b) * about_x(a - b);
      const Quaternion found =
          quaternion_of(rotated(q, {1, 0, 0}), rotated(q, {0, 1, 0}), rotated(q, {0, 0, 1}));
      const double cosine = q.x * found.x + q.y * found.y + q.z * found.z + q.w * found.w;
      EXPECT_NEAR(std::fabs(cosine), 1, 1e-14);
    }
  }
}

}  // namespace
}  // namespace skyloom
