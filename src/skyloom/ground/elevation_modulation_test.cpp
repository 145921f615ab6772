// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/elevation_modulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "skyloom/ground/elevation_scan.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {
namespace {

GroundScan five_minutes() {
  return {.name = "deep",
          .start_s = 1740801600,
          .stop_s = 1740801900,
          .azimuth_min_deg = 150,
          .azimuth_max_deg = 200,
          .elevation_deg = 52.5};
}

MountOptions modulated(bool sine) {
  MountOptions mount;
  mount.modulation = {.rate_hz = 0.1, .amplitude_deg = 0.4, .sine = sine};
  return mount;
}

// TOAST 3.0.6: SimGround(el_mod_rate=0.1 Hz, el_mod_amplitude=0.4 deg, el_mod_sine), 10 Hz, 1
// deg/s, 1 deg/s^2; samples and elevations.
using Golden = std::pair<std::size_t, double>;
constexpr Golden kEven[] = {
    {0, 0.91701187456979083},    {1, 0.91730068525987984},    {7, 0.9190335514661504},
    {50, 0.91558384002425519},   {333, 0.92049362657582012},  {605, 0.91845592939739351},
    {1000, 0.91701187456979083}, {2000, 0.91701187456979094}, {2999, 0.91672306387970193}};
constexpr Golden kSine[] = {
    {0, 0.91629785729702307},    {1, 0.91673621740144995},    {7, 0.9192703576961283},
    {50, 0.91629785729702307},   {333, 0.91629785729702307},  {605, 0.91002541661081393},
    {1000, 0.91629785729702307}, {2000, 0.91629785729702307}, {1400, 0.91583201958938987},
    {2400, 0.92062516500188596}, {2998, 0.91635292547202785}};

TEST(ElevationModulation, IsThePeers) {
  for (const bool sine : {false, true}) {
    const GroundMotion motion = sweep_mount(five_minutes(), modulated(sine), 10);
    ASSERT_EQ(motion.elevation.size(), 3000U);
    for (const auto& [sample, elevation] : sine ? std::span<const Golden>(kSine) : kEven) {
      EXPECT_NEAR(motion.elevation[sample], elevation, 1e-8) << sample << (sine ? " sine" : "");
    }
    EXPECT_EQ(motion.azimuth, sweep_mount(five_minutes(), {}, 10).azimuth);
  }
}

TEST(ElevationModulation, KeepsToRateAndAccelerationAndAmplitude) {
  MountOptions mount = modulated(false);
  const double rate = 200;
  const std::vector<double> el = sweep_mount(five_minutes(), mount, rate).elevation;
  double low = 2, high = 0, fastest = 0, hardest = 0;
  for (std::size_t i = 1; i + 1 < el.size(); ++i) {
    low = std::fmin(low, el[i]), high = std::fmax(high, el[i]);
    fastest = std::fmax(fastest, std::fabs(el[i] - el[i - 1]) * rate);
    hardest = std::fmax(hardest, std::fabs(el[i + 1] - 2 * el[i] + el[i - 1]) * rate * rate);
  }
  EXPECT_NEAR(low / kDegree, 52.1, 1e-4);
  EXPECT_NEAR(high / kDegree, 52.9, 1e-4);
  EXPECT_LT(fastest / kDegree, 0.2);  // 0.8 degrees in less than 5 seconds
  EXPECT_GT(fastest / kDegree, 0.16);
  EXPECT_NEAR(hardest / kDegree, 1, 1e-3);
}

TEST(ElevationModulation, EndsBeforeNodsBehindTheScan) {
  MountOptions mount = modulated(true);
  mount.nods.steps_deg = {1, 0};
  mount.nods.at = NodsAt::kEnd;
  const GroundMotion motion = sweep_mount(five_minutes(), mount, 10);
  ASSERT_GT(motion.elevation.size(), 3030U);
  EXPECT_NEAR(motion.elevation[3000], motion.elevation[2999], 1e-12) << "from where the scan ends";
  EXPECT_NEAR(motion.elevation.back() / kDegree, 52.5, 0.02);
}

TEST(ElevationModulation, SaysWhatAMountCannotDo) {
  const auto refused = [](double rate_hz, double amplitude, bool sine) {
    MountOptions mount;
    mount.modulation = {.rate_hz = rate_hz, .amplitude_deg = amplitude, .sine = sine};
    try {
      (void)sweep_mount(five_minutes(), mount, 10);
    } catch (const Error& error) {
      return error.status() == Status::kUsage;
    }
    return false;
  };
  EXPECT_TRUE(refused(1, 0.4, false));     // acceleration
  EXPECT_TRUE(refused(1, 0.4, true));      // likewise
  EXPECT_TRUE(refused(0.05, 6, true));     // rate
  EXPECT_TRUE(refused(0.04, 8, false));    // likewise
  EXPECT_TRUE(refused(0.001, 40, false));  // above 90 degrees
  EXPECT_FALSE(refused(0.001, 30, false));
}

}  // namespace
}  // namespace skyloom
