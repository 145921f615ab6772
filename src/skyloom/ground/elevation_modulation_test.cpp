// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/elevation_modulation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
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

// The same with el_mod_sine_phase=10 deg, of which the peer takes the radians for turns, and with
// -0.0075 rad, which are seeds from 7 on; with el_mod_step=0.5 deg; with 3 deg, 0.8 deg/s and 0.6
// deg/s^2; with 0.5 deg beside the even motion.
constexpr Golden kStep[] = {
    {0, 0.91629785729702307},    {650, 0.91629785729702307},  {656, 0.91854197863370668},
    {658, 0.92066118042700884},  {660, 0.92278038222031111},  {700, 0.92502450355699473},
    {1330, 0.92647082332910846}, {1333, 0.9293878266869805},  {1338, 0.93337683482041989},
    {2000, 0.93375159073145386}, {2010, 0.94103147630482431}, {2999, 0.95120444233690971}};
constexpr Golden kLongStep[] = {
    {0, 0.91629785729702307},   {630, 0.91629785729702307},  {640, 0.9191874186176795},
    {658, 0.94249468448144513}, {665, 0.95226852895840364},  {680, 0.96805082542740217},
    {1325, 0.9836844554943015}, {1333, 0.99485456204127498}, {2007, 1.0472144396011047},
    {2690, 1.1121406891068746}, {2999, 1.1257373675363427}};
constexpr Golden kPhase[] = {{0, 0.91629785729702307},    {50, 0.91629785729702307},
                             {340, 0.92296653848287036},  {400, 0.90968854140208544},
                             {605, 0.91070684756875164},  {1000, 0.91629785729702307},
                             {1400, 0.92304610495776607}, {2000, 0.91629785729702307},
                             {2400, 0.91167021461204689}, {2998, 0.92048892108281333}};
constexpr Golden kSeed[] = {{0, 0.91951833431254082},    {50, 0.91307738028150531},
                            {340, 0.91223298883281545},  {400, 0.9162502054870767},
                            {605, 0.91409524238902939},  {1000, 0.91629785729702307},
                            {1400, 0.90979240498869107}, {2000, 0.91629785729702307},
                            {2400, 0.91246648951844289}, {2998, 0.91065173890289153}};
constexpr Golden kStepAndEven[] = {{0, 0.91701187456979083},    {333, 0.92049362657582012},
                                   {659, 0.9184947325101136},   {1334, 0.93444165290809855},
                                   {2500, 0.94319181334970592}, {2999, 0.95162964891958857}};

void expect_elevations(const MountOptions& mount, std::span<const Golden> golden) {
  const GroundMotion motion = sweep_mount(five_minutes(), mount, 10);
  ASSERT_EQ(motion.elevation.size(), 3000U);
  for (const auto& [sample, elevation] : golden) {
    EXPECT_NEAR(motion.elevation[sample], elevation, 1e-8) << sample;
  }
}

TEST(ElevationModulation, HasThePeersPhases) {
  MountOptions mount = modulated(true);
  mount.modulation.sine_phase_deg = 20 * std::numbers::pi;
  expect_elevations(mount, kPhase);
  mount.modulation.sine_seed = 7;
  expect_elevations(mount, kSeed);
}

TEST(ElevationSteps, AreThePeers) {
  MountOptions mount;
  mount.step_deg = 0.5;
  expect_elevations(mount, kStep);
  mount.modulation = modulated(false).modulation;
  expect_elevations(mount, kStepAndEven);
  mount = {};
  mount.step_deg = 3;
  mount.nods.rate_deg_s = 0.8;
  mount.nods.acceleration_deg_s2 = 0.6;
  expect_elevations(mount, kLongStep);
}

TEST(ElevationSteps, KeepToRateAndAccelerationAndHeight) {
  MountOptions mount;
  mount.step_deg = 3;
  const double rate = 200;
  const std::vector<double> el = sweep_mount(five_minutes(), mount, rate).elevation;
  double fastest = 0, hardest = 0;
  for (std::size_t i = 1; i + 1 < el.size(); ++i) {
    EXPECT_GE(el[i + 1], el[i] - 1e-15);
    fastest = std::fmax(fastest, (el[i + 1] - el[i]) * rate);
    hardest = std::fmax(hardest, std::fabs(el[i + 1] - 2 * el[i] + el[i - 1]) * rate * rate);
  }
  EXPECT_NEAR(fastest / kDegree, 1, 1e-9);
  EXPECT_NEAR(hardest / kDegree, 1, 1e-6);
  EXPECT_NEAR(el.back() / kDegree, 52.5 + 4 * 3, 1e-9);  // four pairs of sweeps
}

TEST(ElevationSteps, AreNoneOfAStare) {
  GroundScan stare = five_minutes();
  stare.azimuth_max_deg = stare.azimuth_min_deg;
  MountOptions mount;
  mount.step_deg = 3;
  for (const double elevation : sweep_mount(stare, mount, 10).elevation) {
    EXPECT_EQ(elevation, 52.5 * kDegree);
  }
}

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

TEST(ElevationSteps, StayBelowTheZenith) {
  MountOptions mount;
  mount.step_deg = 9;
  EXPECT_NO_THROW((void)sweep_mount(five_minutes(), mount, 10));
  mount.step_deg = 9.5;  // four times that are too many
  EXPECT_THROW((void)sweep_mount(five_minutes(), mount, 10), Error);
  mount.step_deg = 1;
  mount.nods.rate_deg_s = 0;
  EXPECT_THROW((void)sweep_mount(five_minutes(), mount, 10), Error);
}

}  // namespace
}  // namespace skyloom
