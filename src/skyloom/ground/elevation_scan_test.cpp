// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/elevation_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/error.hpp"
#include "skyloom/pointing/angle.hpp"
#include "skyloom/pointing/quaternion.hpp"

namespace skyloom {
namespace {

/// The schedule that the peer's figures below are of.
GroundScan deep_scan() {
  return {.name = "south-deep",
          .start_s = 1740801600,
          .stop_s = 1740802800,
          .boresight_angle_deg = 30,
          .azimuth_min_deg = 150,
          .azimuth_max_deg = 200,
          .elevation_deg = 52.5,
          .scan = 3,
          .subscan = 1};
}
GroundScan north_scan() {
  return {.name = "b",
          .start_s = 1740805200,
          .stop_s = 1740805800,
          .azimuth_min_deg = 340,
          .azimuth_max_deg = 20,
          .elevation_deg = 48};
}
Site atacama() {
  return {.latitude_deg = -22.958,
          .longitude_deg = -67.786,
          .height_m = 5200,
          .ut1_minus_utc_s = 0.045499733333333334,
          .pole_x_arcsec = 0.07021716666666666,
          .pole_y_arcsec = 0.3262411666666667};
}

struct PeerSample {
  std::size_t sample;
  double azimuth;
  Quaternion boresight;
};
// TOAST 3.0.6: SimGround(use_ephem=False), 10 Hz.
constexpr PeerSample kDeep[] = {
    {0,
     2.6179938779914944,
     {-0.73520972807566043, 0.59693263808953723, 0.24495850839003042, -0.20768584567492976}},
    {7,
     2.6380629970230323,
     {-0.74029045391564841, 0.59296101339286889, 0.24568209783743714, -0.20001896719976661}},
    {333,
     3.501233703837924,
     {-0.88246533750855005, 0.37150926557355146, 0.25318808927107184, 0.1383169734348797}},
    {605,
     2.7229697593238487,
     {-0.76214454985792046, 0.57392082420933566, 0.24812684008814723, -0.16787984956097682}},
    {2000,
     2.5986964215666464,
     {-0.7346340598353519, 0.59533382182261818, 0.24266408106412446, -0.21680540234322579}},
    {11999,
     2.9292987544453339,
     {-0.82753988744132956, 0.49337923059597988, 0.24941660640118724, -0.09770376636254019}}};
constexpr PeerSample kNorth[] = {
    {0,
     -0.34906585039886551,
     {0.2373336872323073, 0.54638148966966416, 0.059174672433239636, -0.80102331226593848}},
    {333,
     0.25657825692664771,
     {-0.055105847827668357, 0.58586243808742822, 0.1240060412060449, -0.79896874214067548}},
    {5999,
     -0.22343572365921974,
     {0.16543893648090099, 0.56268622743285712, 0.055855800599592671, -0.8080187481072616}}};

void expect_peers(const GroundScan& scan, std::span<const PeerSample> samples, std::size_t n) {
  const GroundMotion motion = move_mount(scan, atacama(), {}, 10);
  ASSERT_EQ(motion.azimuth.size(), n);
  const Boresight found = ground_boresight(scan, atacama(), motion, 10, 0);
  for (const PeerSample& peer : samples) {
    // the peer goes through tables of 10,000 points
    EXPECT_NEAR(motion.azimuth[peer.sample], peer.azimuth, 1e-8) << peer.sample;
    // its quaternions are made of three axes that aberration has put askew: 100 to 250 arc seconds
    // from astropy's own directions (docs/skyloom/migration.md)
    const Quaternion q = quaternion_at(found, peer.sample);
    for (const Direction& axis : {Direction{0, 0, 1}, Direction{1, 0, 0}}) {
      EXPECT_LT(angle_between(rotated(q, axis), rotated(peer.boresight, axis)), 300 * kArcsec);
    }
  }
}

TEST(ElevationScan, LooksWhereAstropySaysThatItDoes) {
  // astropy 8.0.2, at samples 0, 333 and 2000: by `bench/skyloom/horizon-of-astropy`
  const Direction astropy[] = {{-0.6085496148576915, -0.01284963317318423, -0.7934117803409966},
                               {-0.3445414078783657, 0.43236921174966675, -0.8332755144537523},
                               {-0.6150982408442367, -0.029527672956993, -0.7878973731648496}};
  const GroundMotion motion = move_mount(deep_scan(), atacama(), {}, 10);
  const Boresight found = ground_boresight(deep_scan(), atacama(), motion, 10, 0);
  const std::size_t samples[] = {0, 333, 2000};
  for (std::size_t i = 0; i < 3; ++i) {
    const Direction look = rotated(quaternion_at(found, samples[i]), {0, 0, 1});
    // 1e-8 rad of azimuth: astropy was given the peer's
    EXPECT_LT(angle_between(look, astropy[i]), 0.002 * kArcsec) << samples[i];
  }
}

TEST(ElevationScan, GoesToAndFroAsThePeerDoes) {
  expect_peers(deep_scan(), kDeep, 12000);
  expect_peers(north_scan(), kNorth, 6000);
}

TEST(ElevationScan, HasThePeersIntervalsAndFlags) {
  const GroundMotion motion = move_mount(deep_scan(), atacama(), {}, 10);
  const auto at = [&](const char* name) { return *motion.interval(name); };
  EXPECT_EQ(at("scanning").size(), 36U);
  EXPECT_EQ(at("scanning")[1], (Stretch{338, 642}));
  EXPECT_EQ(at("scan_leftright")[3], (Stretch{2024, 2328}));
  EXPECT_EQ(at("turnaround").size(), 35U);
  EXPECT_EQ(at("turnaround")[3], (Stretch{1317, 1349}));
  EXPECT_EQ(at("throw")[0], (Stretch{0, 321}));
  EXPECT_EQ(at("throw")[3], (Stretch{996, 1333}));
  EXPECT_EQ(at("throw_rightleft").size(), 18U);
  EXPECT_EQ(std::count(motion.flags.begin(), motion.flags.end(), kTurnaroundFlag), 1149);
  EXPECT_TRUE(at("sun_up").empty());
  EXPECT_EQ(motion.interval("nothing"), nullptr);
  const GroundMotion north = move_mount(north_scan(), atacama(), {}, 10);
  EXPECT_EQ(std::count(north.flags.begin(), north.flags.end(), kTurnaroundFlag), 599);
  EXPECT_EQ((*north.interval("scan_rightleft"))[2], (Stretch{1488, 1756}));
}

/// Two minutes of the deep scan with nods; TOAST 3.0.6: SimGround(elnods, elnod_start, elnod_end).
GroundScan nodding_scan() {
  GroundScan scan = deep_scan();
  scan.stop_s = scan.start_s + 120;
  return scan;
}
struct PeerPlace {
  std::size_t sample;
  double azimuth, elevation;
};
void expect_places(const GroundMotion& motion, std::span<const PeerPlace> places) {
  for (const PeerPlace& peer : places) {
    // the peer goes through tables of 10,000 points
    EXPECT_NEAR(motion.azimuth[peer.sample], peer.azimuth, 1e-8) << peer.sample;
    EXPECT_NEAR(motion.elevation[peer.sample], peer.elevation, 1e-8) << peer.sample;
  }
}

TEST(ElevationNods, GoUpAndDownAsThePeersDo) {
  // elnods [1.5, -1.5, 0] at start and end
  constexpr PeerPlace kBoth[] = {{0, 2.6179938779914944, 0.91629785729702307},
                                 {9, 2.6179938779914944, 0.92336644329715378},
                                 {17, 2.6179938779914944, 0.93689274340974105},
                                 {30, 2.6179938779914944, 0.94029613487915653},
                                 {55, 2.6179938779914944, 0.89884456601420049},
                                 {70, 2.6179938779914944, 0.89229957975782337},
                                 {88, 2.6179938779914944, 0.91594879147124997},
                                 {89, 2.6179938779914944, 0.91621059084587353},
                                 {90, 2.6179938779914944, 0.91629785729702307},
                                 {500, 3.2820380371189013, 0.91629785729702307},
                                 {1289, 2.9536746285660533, 0.91629785729702307},
                                 {1290, 2.9536746285660533, 0.91629785729702307},
                                 {1407, 2.7581977521448704, 0.94247779607693793},
                                 {1485, 2.6226837710533228, 0.94247779607693793},
                                 {1507, 2.6179938779914944, 0.92560203334457469},
                                 {1547, 2.6179938779914944, 0.90699367829256161},
                                 {1556, 2.6179938779914944, 0.91614328187486105}};
  MountOptions mount;
  mount.nods = {.steps_deg = {1.5, -1.5, 0}, .at = NodsAt::kBoth};
  const GroundScan scan = nodding_scan();
  const GroundMotion both = move_mount(scan, atacama(), mount, 10);
  ASSERT_EQ(both.azimuth.size(), 1557U);
  EXPECT_EQ(both.start_s(scan, 10), 1740801591);
  expect_places(both, kBoth);
  EXPECT_EQ(*both.interval("elnod"), (std::vector<Stretch>{{0, 90}, {1290, 1557}}));
  EXPECT_EQ((*both.interval("scanning"))[1], (Stretch{428, 732}));
  EXPECT_EQ((*both.interval("scan_leftright"))[1], (Stretch{765, 1069}));
  EXPECT_EQ((*both.interval("throw"))[2], (Stretch{749, 1086}));
  for (std::size_t i = 0; i < 1557; ++i) {
    EXPECT_EQ((both.flags[i] & kNodFlag) != 0, i < 90 || i >= 1290) << i;
  }
  // elnods [0.4, 0] at the end, 0.5 degrees/s, 2 degrees/s^2
  constexpr PeerPlace kEnd[] = {
      {1199, 2.9536746285660533, 0.91629785729702307},
      {1200, 2.9536746285660533, 0.91629785729702307},
      {1203, 2.9528892239398226, 0.91782501975485453},
      {1211, 2.9432026547179868, 0.92327917430500028},
      {1262, 2.8541908612042501, 0.92327917430500028},
      {1402, 2.618003441540937, 0.92327917430500028},
      {1404, 2.6179938779914944, 0.92279294449441551},
      {1406, 2.6179938779914944, 0.9211681131738616},
      {1411, 2.6179938779914944, 0.91688292707927244},
  };
  mount.nods = {
      .steps_deg = {0.4, 0}, .at = NodsAt::kEnd, .rate_deg_s = 0.5, .acceleration_deg_s2 = 2};
  const GroundMotion end = move_mount(scan, atacama(), mount, 10);
  ASSERT_EQ(end.azimuth.size(), 1412U);
  EXPECT_EQ(end.before, 0U);
  expect_places(end, kEnd);
}

TEST(ElevationNods, LeaveTheScanAsItIs) {
  const GroundScan scan = nodding_scan();
  MountOptions mount;
  const GroundMotion plain = move_mount(scan, atacama(), mount, 10);
  const Boresight of_plain = ground_boresight(scan, atacama(), plain, 10, 0);
  mount.nods = {.steps_deg = {2, 0}, .at = NodsAt::kBoth};
  const GroundMotion nods = move_mount(scan, atacama(), mount, 10);
  const Boresight of_nods = ground_boresight(scan, atacama(), nods, 10, 0);
  ASSERT_GT(nods.before, 0U);
  for (std::size_t i = 0; i < plain.azimuth.size(); ++i) {
    const std::size_t at = i + nods.before;
    EXPECT_EQ(nods.azimuth[at], plain.azimuth[i]);
    EXPECT_EQ(nods.elevation[at], plain.elevation[i]);
    EXPECT_EQ(nods.flags[at], plain.flags[i]);
    // nodes of the horizon lie elsewhere in time
    EXPECT_LT(angle_between(rotated(quaternion_at(of_nods, at), {0, 0, 1}),
                            rotated(quaternion_at(of_plain, i), {0, 0, 1})),
              0.003 * kArcsec);
  }
  // in the nods the boresight is where the horizon says
  const Horizon sky(atacama(), scan.start_s - 60, scan.stop_s + 60);
  for (const std::size_t i : {std::size_t{0}, nods.before / 3, nods.azimuth.size() - 3}) {
    const double t = nods.start_s(scan, 10) + 0.1 * static_cast<double>(i);
    const Quaternion look =
        mount_quaternion(nods.azimuth[i], nods.elevation[i], scan.boresight_angle_deg);
    EXPECT_LT(angle_between(rotated(sky.to_sky(t, look), {0, 0, 1}),
                            rotated(quaternion_at(of_nods, i), {0, 0, 1})),
              0.003 * kArcsec);
  }
}

TEST(ElevationNods, ThatCannotBeAreRefused) {
  const auto says = [](const NodOptions& nods, const char* what) {
    MountOptions mount;
    mount.nods = nods;
    try {
      (void)sweep_mount(nodding_scan(), mount, 10);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      return std::string(error.what()).find(what) != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(says({.steps_deg = {1, -1}}, "expected 0 at last"));
  EXPECT_TRUE(says({.steps_deg = {40, 0}}, "elevation of 52.5"));
  EXPECT_TRUE(says({.steps_deg = {-53, 0}, .at = NodsAt::kEnd}, "elevation of 52.5"));
  EXPECT_TRUE(says({.steps_deg = {1, 0}, .rate_deg_s = 0}, "above 0"));
  EXPECT_FALSE(says({.steps_deg = {1, -1}, .at = NodsAt::kEnd}, ""));  // nothing comes behind them
}

TEST(ElevationScan, IsAtRestNowhereAndJumpsNowhere) {
  const GroundScan scan = deep_scan();
  const MountOptions mount{.rate_deg_s = 0.5, .rate_on_sky = false, .acceleration_deg_s2 = 2};
  const GroundMotion motion = move_mount(scan, atacama(), mount, 50);
  double most = 0, change = 0;
  for (std::size_t i = 2; i < motion.azimuth.size(); ++i) {
    const double a = motion.azimuth[i - 1] - motion.azimuth[i - 2],
                 b = motion.azimuth[i] - motion.azimuth[i - 1];
    most = std::max(most, std::fabs(b));
    change = std::max(change, std::fabs(b - a));
  }
  EXPECT_NEAR(most * 50 / kDegree, 0.5, 1e-9);
  EXPECT_NEAR(change * 50 * 50 / kDegree, 2, 1e-6);
}

TEST(ElevationScan, FlagsTheSun) {
  GroundScan day = deep_scan();
  day.start_s = 1740841200;  // 15:00 UTC: 10:30 at the site
  day.stop_s = day.start_s + 600;
  day.azimuth_min_deg = 60;
  day.azimuth_max_deg = 120;
  const GroundMotion motion = move_mount(day, atacama(), {}, 10);
  EXPECT_EQ(motion.interval("sun_up")->size(), 1U);
  EXPECT_EQ(motion.interval("sun_up")->front(), (Stretch{0, motion.flags.size()}));
  const Horizon sky(atacama(), day.start_s, day.stop_s);
  for (std::size_t i = 0; i < motion.flags.size(); i += 97) {
    EXPECT_NE(motion.flags[i] & kSunUpFlag, 0);
    const double away =
        angle_between(horizon_direction(sky.sun(day.start_s + 0.1 * static_cast<double>(i))),
                      horizon_direction({motion.azimuth[i], motion.elevation[i]}));
    if (std::fabs(away - 45 * kDegree) < 1e-4) continue;
    EXPECT_EQ((motion.flags[i] & kSunCloseFlag) != 0, away < 45 * kDegree) << i;
  }
  EXPECT_FALSE(motion.interval("sun_close")->empty());
}

TEST(ElevationScan, StaresWhereAzimuthsAreEqual) {
  GroundScan stare = deep_scan();
  stare.azimuth_max_deg = stare.azimuth_min_deg;
  const GroundMotion motion = move_mount(stare, atacama(), {}, 10);
  EXPECT_EQ(*std::max_element(motion.azimuth.begin(), motion.azimuth.end()), motion.azimuth[0]);
  EXPECT_TRUE(motion.interval("scanning")->empty());
}

TEST(ElevationScan, RefusesAMountThatStands) {
  EXPECT_THROW((void)move_mount(deep_scan(), atacama(), {.rate_deg_s = 0}, 10), Error);
  EXPECT_THROW((void)move_mount(deep_scan(), atacama(), {.acceleration_deg_s2 = -1}, 10), Error);
}

TEST(ElevationScan, TurnsAHalfWavePlate) {
  const GroundScan scan = north_scan();
  const GroundMotion motion = move_mount(scan, atacama(), {}, 10);
  const Boresight found = ground_boresight(scan, atacama(), motion, 10, 60);
  ASSERT_TRUE(has_plate(found));
  EXPECT_NEAR(found(kPlateAngle, 3), 2 * std::numbers::pi * 0.3, 1e-9);
}

}  // namespace
}  // namespace skyloom
