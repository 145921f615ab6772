// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/pixels/test_golden_pixels.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/pointing/focal_plane.hpp"
#include "skyloom/pointing/test_golden_pointing.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

/// q and -q are the same rotation.
void expect_same(const Quaternion& q, const double* golden, const std::string& what) {
  const double sign =
      q.x * golden[0] + q.y * golden[1] + q.z * golden[2] + q.w * golden[3] < 0 ? -1 : 1;
  EXPECT_NEAR(sign * q.x, golden[0], 4e-15) << what;
  EXPECT_NEAR(sign * q.y, golden[1], 4e-15) << what;
  EXPECT_NEAR(sign * q.z, golden[2], 4e-15) << what;
  EXPECT_NEAR(sign * q.w, golden[3], 4e-15) << what;
}

TEST(FocalPlane, IsThePeersHexagon) {
  const FocalPlane plane = hexagon({.pixels = 7, .width_deg = 5, .leakage = 0.1});
  ASSERT_EQ(plane.detectors.size(), 14U);
  EXPECT_EQ(plane.detectors[0].name, "D0A-150");
  EXPECT_EQ(plane.detectors[3].name, "D1B-150");
  EXPECT_EQ(plane.detectors[0].uid, 965203544U);
  for (std::size_t i = 0; i < 14; ++i) {
    expect_same(plane.detectors[i].place, kGoldenFocalPlane + 4 * i, plane.detectors[i].name);
  }
}

TEST(FocalPlane, TakesNumbersThatFillAHexagonAlone) {
  EXPECT_EQ(hexagon_rings(1), 1U);
  EXPECT_EQ(hexagon_rings(19), 3U);
  EXPECT_EQ(hexagon_rings(0), 0U);
  EXPECT_EQ(hexagon_rings(8), 0U);
  EXPECT_EQ(loom::test::thrown_by([] { (void)hexagon({.pixels = 6}); }).status, Status::kUsage);
  EXPECT_EQ(loom::test::thrown_by([] { (void)hexagon({.width_deg = 0}); }).status, Status::kUsage);
  const FocalPlane plane = hexagon({.pixels = 169});
  std::set<std::string> names;
  for (const Detector& detector : plane.detectors) names.insert(detector.name);
  EXPECT_EQ(names.size(), 338U);
  EXPECT_EQ(plane.detectors.back().name, "D168B-150");
}

TEST(Satellite, ScansAsThePeerDoes) {
  const SatelliteScan scan{.year_days = 0};
  std::size_t i = 0;
  for (const std::int64_t sample : {0, 1, 7, 1234, 35999}) {
    const Boresight one = satellite_boresight(scan, 10, sample, 1);
    expect_same(quaternion_at(one, 0), kGoldenBoresight + 4 * i++, std::to_string(sample));
  }
}

TEST(Satellite, IsTheSameHoweverItIsCut) {
  const SatelliteScan scan{};
  const Boresight all = satellite_boresight(scan, 100, 0, 1000);
  const Boresight part = satellite_boresight(scan, 100, 400, 600);
  for (std::size_t i = 0; i < 600; ++i) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(part(k, i), all(k, i + 400));
  }
}

TEST(Satellite, GoesAroundTheEclipticInAYear) {
  // half a year later the axis of precession points the other way; both angles 0 show it
  const SatelliteScan scan{.spin_angle_deg = 0, .precession_angle_deg = 0, .year_days = 2};
  const auto look = [&](std::int64_t sample, Frame frame) {
    SatelliteScan framed = scan;
    framed.frame = frame;
    const Quaternion q = quaternion_at(satellite_boresight(framed, 1, sample, 1), 0);
    return Direction{2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x),
                     1 - 2 * (q.x * q.x + q.y * q.y)};
  };
  EXPECT_NEAR(look(0, Frame::kEcliptic).x, 1, 1e-12);
  EXPECT_NEAR(look(86400, Frame::kEcliptic).x, -1, 1e-12);
  EXPECT_NEAR(look(43200, Frame::kEcliptic).y, 1, 1e-12);
  const Direction north = look(43200, Frame::kEquatorial);  // the summer solstice
  EXPECT_NEAR(north.z, std::sin(23.4392794 * std::numbers::pi / 180), 1e-8);
}

/// Random quaternions, and some that look at poles and along axes.
Boresight anywhere(std::size_t n) {
  Boresight out(4, n);
  const CounterRng random(7, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto a = random.normal2(2 * i), b = random.normal2(2 * i + 1);
    const double length = std::sqrt(a[0] * a[0] + a[1] * a[1] + b[0] * b[0] + b[1] * b[1]);
    Quaternion q{a[0] / length, a[1] / length, b[0] / length, b[1] / length};
    if (i % 50 == 0) q = about_z(0.1 * static_cast<double>(i)) * about_y(1e-7);
    if (i % 50 == 1) q = about_z(0.1 * static_cast<double>(i)) * about_y(std::numbers::pi - 1e-7);
    out(0, i) = q.x, out(1, i) = q.y, out(2, i) = q.z, out(3, i) = q.w;
  }
  return out;
}

struct Streams {
  explicit Streams(std::size_t n) : pixels(n), q(n), u(n) {}
  [[nodiscard]] Pointing view() { return {pixels, q, u}; }
  std::vector<Pixel> pixels;
  std::vector<double> q, u;
};

TEST(Expand, AgreesWithTheReferenceOnEveryLevel) {
  constexpr std::size_t kSamples = 20011;
  const Boresight plain = anywhere(kSamples);
  Boresight turning(kPlateRows, kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (std::size_t k = 0; k < kBoresightRows; ++k) turning(k, i) = plain(k, i);
    set_plate(turning, i, 0.013 * static_cast<double>(i));
  }
  const Detector detector{
      .place = about_x(0.03) * about_y(-0.02) * about_z(0.7), .gamma = 0.7, .leakage = 0.05};
  for (const std::int64_t nside : {1, 16, 1024, 8192}) {
    const Boresight& boresight = nside == 16 ? turning : plain;
    const Healpix sky(nside);
    Streams expected(kSamples);
    expand_pointing_reference(boresight, 0, detector, sky, expected.view());
    for (const Isa isa : available_isas()) {
      Streams found(kSamples);
      expand_pointing(boresight, 0, detector, sky, found.view(), isa);
      EXPECT_EQ(found.pixels, expected.pixels) << nside << " " << isa_name(isa);
      for (std::size_t i = 0; i < kSamples; ++i) {
        ASSERT_NEAR(found.q[i], expected.q[i], 1e-11) << i;
        ASSERT_NEAR(found.u[i], expected.u[i], 1e-11) << i;
      }
    }
  }
}

TEST(Expand, GivesThePixelsAndWeightsOfThePeers) {
  constexpr std::size_t kSamples = std::size(kGoldenNested1);
  Boresight boresight(4, kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (std::size_t k = 0; k < 4; ++k) boresight(k, i) = kGoldenQuaternions[4 * i + k];
  }
  const Detector detector{.leakage = 0.1};
  Streams found(kSamples);
  expand_pointing(boresight, 0, detector, Healpix(1024), found.view());
  for (std::size_t i = 0; i < kSamples; ++i) {
    EXPECT_EQ(found.pixels[i], kGoldenNested1024[i]);
    EXPECT_NEAR(found.q[i], kGoldenWeights[3 * i + 1], 1e-13);
    EXPECT_NEAR(found.u[i], kGoldenWeights[3 * i + 2], 1e-13);
  }
}

TEST(Expand, SeesThroughAHalfWavePlateAsThePeerDoes) {
  constexpr std::size_t kSamples = std::size(kGoldenPlateAngles);
  Boresight boresight(kPlateRows, kSamples);
  for (std::size_t i = 0; i < kSamples; ++i) {
    for (std::size_t k = 0; k < 4; ++k) boresight(k, i) = kGoldenPlateQuaternions[4 * i + k];
    set_plate(boresight, i, kGoldenPlateAngles[i]);
  }
  Streams found(kSamples);
  expand_pointing(boresight, 0, {.gamma = 0.7, .leakage = 0.05}, Healpix(64), found.view());
  for (std::size_t i = 0; i < kSamples; ++i) {
    EXPECT_NEAR(found.q[i], kGoldenPlateWeights[2 * i], 1e-14) << i;
    EXPECT_NEAR(found.u[i], kGoldenPlateWeights[2 * i + 1], 1e-14) << i;
  }
}

TEST(Satellite, CarriesAPlateThatTurnsEvenly) {
  const SatelliteScan scan{.plate_rpm = 90};
  const Boresight one = satellite_boresight(scan, 10, 1000003, 1);
  ASSERT_TRUE(has_plate(one));
  // 1.5 turns a second, 100000.3 s: 150000.45 turns
  EXPECT_NEAR(one(kPlateAngle, 0), 0.45 * 2 * std::numbers::pi, 1e-9);
  EXPECT_NEAR(one(kPlateAngle + 1, 0), std::cos(4 * 0.45 * 2 * std::numbers::pi), 1e-9);
  EXPECT_NEAR(one(kPlateAngle + 2, 0), std::sin(4 * 0.45 * 2 * std::numbers::pi), 1e-9);
}

TEST(Expand, AtAPoleIsFinite) {
  Boresight boresight(4, 1);
  boresight(0, 0) = boresight(1, 0) = boresight(2, 0) = 0;
  boresight(3, 0) = 1;
  Streams found(1);
  expand_pointing(boresight, 0, Detector{}, Healpix(64), found.view());
  EXPECT_NEAR(found.q[0] * found.q[0] + found.u[0] * found.u[0], 1, 1e-15);
  EXPECT_EQ(found.pixels[0], Healpix(64).nested(Direction{0, 0, 1}));
}

}  // namespace
}  // namespace skyloom
