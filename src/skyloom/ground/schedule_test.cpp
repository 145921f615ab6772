// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/rng.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/ground/scheduler.hpp"
#include "skyloom/pointing/angle.hpp"
#include "skyloom/pointing/sky_place.hpp"

namespace skyloom {
namespace {

using loom::test::thrown_by;

// as TOAST 3.0.6 writes them
constexpr const char* kVersion4 =
    "# Site | Telescope | Latitude [deg] | Longitude [deg] | Elevation [m]\n"
    "atacama         | LAT             |         -22.958 |        -67.786 |         5200.0\n"
    "# Start time UTC | Stop time UTC | Rotation | Patch name | Az min. | Az max. | Elev. | Pass | "
    "Sub\n"
    " 2025-03-01 04:00:00 |  2025-03-01 04:20:00 |    30.00 | south-deep      |   150.00 |   "
    "200.00 "
    "|    52.50 |     3 |   1\n"
    " 2025-03-01 05:00:00 |  2025-03-01 05:10:00 |     0.00 | b               |   340.00 |    "
    "20.00 "
    "|    48.00 |     0 |   0\n";
constexpr const char* kVersion5 =
    "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: start_time, datatype: string}\n"
    "# meta: !!omap\n# - {site_name: atacama}\n# - {telescope_name: LAT}\n"
    "# - site_lat: !astropy.units.Quantity\n#     unit: &id001 !astropy.units.Unit {unit: deg}\n"
    "#     value: -22.958\n# - site_lon: !astropy.units.Quantity\n#     unit: *id001\n"
    "#     value: -67.786\n# - site_alt: !astropy.units.Quantity\n"
    "#     unit: !astropy.units.Unit {unit: m}\n#     value: 5200.0\n"
    "# - __serialized_columns__:\n#     azmax:\n#       unit: *id001\n"
    "#       value: !astropy.table.SerializedColumn {name: azmax}\n# schema: astropy-2.0\n"
    "start_time stop_time boresight_angle name azmin azmax el scan_index subscan_index\n"
    "2025-03-01T04:00:00+00:00 2025-03-01T04:20:00+00:00 30.0 south-deep 150.0 200.0 52.5 3 1\n"
    "2025-03-01T05:00:00+00:00 2025-03-01T05:10:00+00:00 0.0 b 340.0 20.0 48.0 0 0\n";

void expect_the_two_scans(const GroundSchedule& found) {
  EXPECT_EQ(found.site_name, "atacama");
  EXPECT_EQ(found.telescope_name, "LAT");
  EXPECT_EQ(found.site.latitude_deg, -22.958);
  EXPECT_EQ(found.site.longitude_deg, -67.786);
  EXPECT_EQ(found.site.height_m, 5200);
  ASSERT_EQ(found.scans.size(), 2U);
  EXPECT_EQ(found.scans[0].session(), "south-deep-3-1");
  EXPECT_EQ(found.scans[0].start_s, 1740801600);
  EXPECT_EQ(found.scans[0].stop_s, 1740802800);
  EXPECT_EQ(found.scans[0].boresight_angle_deg, 30);
  EXPECT_EQ(found.scans[1].azimuth_min_deg, 340);
  EXPECT_EQ(found.scans[1].azimuth_max_deg, 20);
  EXPECT_EQ(found.scans[1].elevation_deg, 48);
}

TEST(Schedule, IsReadInThePeersVersions) {
  expect_the_two_scans(parse_schedule(kVersion4, "s"));
  expect_the_two_scans(parse_schedule(kVersion5, "s"));
  // 3: dates and times apart, between blanks; 2: 22 fields
  expect_the_two_scans(
      parse_schedule("atacama LAT -22.958 -67.786 5200.0\n"
                     "2025-03-01 04:00:00 2025-03-01 04:20:00 30 south-deep 150 "
                     "200 52.5 3 1\n2025-03-01 05:00:00 2025-03-01 05:10:00 0 b "
                     "340 20 48 0 0\n",
                     "s"));
  const std::string old = " | R | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 0.5 |";
  expect_the_two_scans(
      parse_schedule("atacama | LAT | -22.958 | -67.786 | 5200.0\n"
                     "2025-03-01 04:00:00 | 2025-03-01 04:20:00 | 1 | 2 | 30 | south-deep | 150 | "
                     "200 | 52.5" +
                         old +
                         " 3 | 1 | 0.1\n2025-03-01 05:00:00 | 2025-03-01 05:10:00 | 1 | 2 | 0 | b "
                         "| 340 | 20 | 48" +
                         old + " 0 | 0 | 0.2\n",
                     "s"));
}

TEST(Schedule, IsReadBackAsItWasWritten) {
  GroundSchedule schedule = parse_schedule(kVersion4, "s");
  schedule.scans[0].azimuth_min_deg = 149.1234;
  schedule.scans[1].start_s += 0.25;
  const GroundSchedule again = parse_schedule(schedule_text(schedule), "s");
  EXPECT_EQ(again.scans[0].azimuth_min_deg, 149.1234);
  EXPECT_EQ(again.scans[1].start_s, schedule.scans[1].start_s);
  EXPECT_EQ(schedule_text(again), schedule_text(schedule));
}

TEST(Schedule, NamesTheLineThatIsWrong) {
  const std::string head = "a | t | -22 | -67 | 5200\n# comment\n";
  const std::string good =
      "2025-03-01 04:00:00 | 2025-03-01 04:20:00 | 0 | p | 1 | 2 | 50 | 0 | 0\n";
  const auto says = [&](const std::string& text, const char* what) {
    const auto thrown = thrown_by([&] { (void)parse_schedule(text, "f.txt"); });
    EXPECT_EQ(thrown.status, Status::kCorrupt) << text;
    EXPECT_TRUE(thrown.says(what)) << thrown.message;
  };
  says("", "no scan");
  says(head, "no scan");
  says("a | b\n" + good, "line 1: 2 fields");
  says(head + "2025-03-01 04:00:00 | x\n", "line 3: 2 fields");
  says(head + good + "2025-13-01 04:00:00 | 2025-03-01 04:20:00 | 0 | p | 1 | 2 | 50 | 0 | 0\n",
       "line 4: start '2025-13-01");
  says(head + "2025-03-01 05:00:00 | 2025-03-01 04:20:00 | 0 | p | 1 | 2 | 50 | 0 | 0\n",
       "stop before start");
  says(head + "2025-03-01 04:00:00 | 2025-03-01 04:20:00 | 0 | p | 1 | 2 | 90 | 0 | 0\n",
       "elevation 90");
  says(head + "2025-03-01 04:00:00 | 2025-03-01 04:20:00 | 0 | p | nan | 2 | 50 | 0 | 0\n",
       "azimuth 'nan'");
  says(head + "2025-03-01 04:00:00 | 2025-03-01 04:20:00 | 0 | ../p | 1 | 2 | 50 | 0 | 0\n",
       "without /");
  says("a | t | -22 | -67 | 1e9\n" + good, "a place on the Earth");
  says(head + good + "2025-03-01 03:00:00 | 2025-03-01 03:20:00 | 0 | p | 1 | 2 | 50 | 0 | 0\n",
       "scans in their order");
}

TEST(Schedule, SpoiledTextIsReadOrNamed) {
  const CounterRng random(5, 0);
  std::uint64_t at = 0;
  const auto dice = [&](std::size_t n) {
    return static_cast<std::size_t>(random.uniform(at++) * static_cast<double>(n));
  };
  std::size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 2 == 0 ? kVersion4 : kVersion5;
    for (std::size_t k = dice(4) + 1; k > 0; --k) {
      const std::size_t place = dice(text.size());
      switch (dice(4)) {
        case 0:
          text[place] = static_cast<char>(dice(256));
          break;
        case 1:
          text.erase(place, dice(40) + 1);
          break;
        case 2:
          text.insert(place, text.substr(dice(text.size()), dice(60)));
          break;
        default:
          text.resize(place + 1);
      }
    }
    const auto thrown = thrown_by([&] { (void)parse_schedule(text, "s"); });
    EXPECT_TRUE(thrown.status == Status::kOk || thrown.status == Status::kCorrupt) << text;
    refused += thrown.status == Status::kCorrupt ? 1 : 0;
  }
  EXPECT_GT(refused, 1000U);
}

TEST(Times, AreReadAndTold) {
  EXPECT_EQ(unix_time_of("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(unix_time_of("2025-03-01T04:00:00+00:00"), 1740801600);
  EXPECT_EQ(unix_time_of("2025-03-01T06:30:00.5+02:30"), 1740801600.5);
  EXPECT_EQ(unix_time_of("2025-03-01 04:00:00Z"), 1740801600);
  EXPECT_EQ(utc_text(1740801600), "2025-03-01 04:00:00");
  EXPECT_EQ(utc_text(1740801600.25), "2025-03-01 04:00:00.250000");
  for (const char* text :
       {"", "2025-02-30 00:00:00", "2025-03-01", "2025-03-01 24:00:00", "2025-03-01 04:00:00.",
        "2025-03-01 04:00:00+1", "2025/03/01 04:00:00"}) {
    EXPECT_EQ(thrown_by([&] { (void)unix_time_of(text); }).status, Status::kUsage) << text;
  }
}

ScheduleOptions two_patches() {
  ScheduleOptions options;
  options.patches = {"deep,1,40,-40,20", "wide,2,30,-20,60,-45"};
  options.start = "2026-03-18 00:00:00";  // a new moon
  options.stop = "2026-03-20 00:00:00";
  return options;
}

TEST(Scheduler, ScansWhatItSaysAtElevationsThatThePatchCrosses) {
  const ScheduleOptions options = two_patches();
  const GroundSchedule found = make_schedule(options);
  ASSERT_GT(found.scans.size(), 10U);
  double before = unix_time_of(options.start), spent[2] = {0, 0};
  const Horizon sky(options.site, before, unix_time_of(options.stop), 600);
  for (const GroundScan& scan : found.scans) {
    EXPECT_GE(scan.start_s, before);
    EXPECT_GE(scan.stop_s - scan.start_s, 180);
    EXPECT_LE(scan.stop_s - scan.start_s, 3600);
    EXPECT_GE(scan.elevation_deg, 29.9);
    EXPECT_LE(scan.elevation_deg, 80.1);
    EXPECT_LT(scan.azimuth_min_deg, scan.azimuth_max_deg);
    before = scan.stop_s + options.gap_s;
    spent[scan.name == "wide" ? 1 : 0] += scan.stop_s - scan.start_s;
    // the middle of the patch crosses near the middle of the scans
    for (const double t : {scan.start_s, scan.stop_s}) {
      for (double azimuth = scan.azimuth_min_deg; azimuth < scan.azimuth_max_deg; azimuth += 1) {
        const Direction look = horizon_direction({azimuth * kDegree, scan.elevation_deg * kDegree});
        if (sky.sun(t).elevation > 0) {
          EXPECT_GT(angle_between(look, horizon_direction(sky.sun(t))), 29.9 * kDegree);
        }
        if (sky.moon(t).elevation > 0) {
          EXPECT_GT(angle_between(look, horizon_direction(sky.moon(t))), 19.9 * kDegree);
        }
      }
    }
  }
  EXPECT_GT(spent[0], 0);
  EXPECT_GT(spent[1], spent[0]);  // twice the weight
  // what it writes is what it means
  EXPECT_EQ(parse_schedule(schedule_text(found), "s").scans.size(), found.scans.size());
}

TEST(Scheduler, KeepsTheSunDown) {
  ScheduleOptions options = two_patches();
  options.sun_elevation_max_deg = -5;
  const GroundSchedule found = make_schedule(options);
  const Horizon sky(options.site, unix_time_of(options.start), unix_time_of(options.stop), 600);
  for (const GroundScan& scan : found.scans) {
    EXPECT_LE(sky.sun(scan.start_s).elevation, -0.08);
    EXPECT_LE(sky.sun(scan.stop_s).elevation, -0.08);
  }
}

ScheduleOptions south_pole(const char* patch) {
  ScheduleOptions options;
  options.site = {.latitude_deg = -89.991, .longitude_deg = -44.65, .height_m = 2843};
  options.patches = {patch};
  options.start = "2026-06-01 00:00:00";  // night
  options.stop = "2026-06-02 00:00:00";
  options.pole = true;
  options.pole_step_deg = 1;
  options.pole_minutes = 30;
  options.gap_s = 30;
  options.moon_angle_deg = 0;
  return options;
}

/// Within a scan, to a thousandth of a degree.
bool is_between(double azimuth, const GroundScan& scan) {
  double high = scan.azimuth_max_deg;
  if (high < scan.azimuth_min_deg) high += 360;
  const double middle = (scan.azimuth_min_deg + high) / 2;
  const double half = (high - scan.azimuth_min_deg) / 2 + 1e-3;
  return std::fabs(std::remainder(azimuth - middle, 360)) <= half;
}

TEST(Scheduler, ScansAPatchRowByRowAtAPole) {
  for (const char* patch : {"p,1,0,-52,30,-60", "p,1,-150,-52,150,-60"}) {
    const ScheduleOptions options = south_pole(patch);
    const GroundSchedule found = make_schedule(options);
    ASSERT_GT(found.scans.size(), 16U);
    const Horizon sky(options.site, unix_time_of(options.start), unix_time_of(options.stop), 600);
    const bool wide = patch[4] == '-';
    for (std::size_t i = 0; i < found.scans.size(); ++i) {
      const GroundScan& scan = found.scans[i];
      const long pass = scan.scan, sub = scan.subscan;
      EXPECT_EQ(scan.stop_s - scan.start_s, 1800);
      if (i > 0) {
        const GroundScan& before = found.scans[i - 1];
        EXPECT_EQ(scan.start_s, before.stop_s + 30);
        EXPECT_TRUE((pass == before.scan && sub == before.subscan + 1) ||
                    (pass == before.scan + 1 && sub == 0));
        if (sub > 0) {
          EXPECT_GT(scan.elevation_deg, before.elevation_deg + 0.8);
          EXPECT_LT(scan.elevation_deg, before.elevation_deg + 1.001);
        }
      }
      // at the pole the elevation is -declination, but for 26 years of precession
      EXPECT_NEAR(scan.elevation_deg, 56, 4);
      if (sub == 0) {
        EXPECT_NEAR(scan.elevation_deg, 52.5, 0.3);
      }
      if (sub == 0 && i > 0) {
        EXPECT_NEAR(found.scans[i - 1].elevation_deg, 59.5, 0.3);
      }
      // the throw is the patch, and what the sky turns meanwhile
      double high = scan.azimuth_max_deg;
      if (high < scan.azimuth_min_deg) high += 360;
      EXPECT_NEAR(high - scan.azimuth_min_deg, (wide ? 300 : 30) + 7.5, 1);
      // all that has this elevation is swept, all the time
      for (double ra = wide ? -150 : 0; ra <= (wide ? 150 : 30); ra += 5) {
        for (const double t : {scan.start_s, scan.start_s + 870, scan.stop_s}) {
          double least = 1, azimuth = 0;
          for (double dec = -59.9; dec <= -52.1; dec += 0.05) {
            const HorizonPlace at = sky.place(t, direction_of({ra, dec}));
            const double off = std::fabs(at.elevation - scan.elevation_deg * kDegree);
            if (off >= least) continue;
            least = off;
            azimuth = at.azimuth / kDegree;
          }
          if (least > 0.03 * kDegree) continue;
          EXPECT_TRUE(is_between(azimuth, scan)) << ra << " " << i;
        }
      }
      EXPECT_LE(sub, 8);  // rows of a degree, and what precession tilts them by
    }
    EXPECT_GE(found.scans.back().scan, 4);
    EXPECT_EQ(schedule_text(parse_schedule(schedule_text(found), "s")), schedule_text(found));
  }
}

TEST(Scheduler, AtAPoleLetsNothingInTheWay) {
  ScheduleOptions options = south_pole("p,1,0,-52,30,-60");
  options.elevation_max_deg = 59;  // the patch ends higher
  EXPECT_EQ(thrown_by([&] { (void)make_schedule(options); }).status, Status::kUsage);
  options = south_pole("p,1,0,-52,30,-60");
  options.start = "2026-12-21 00:00:00";  // the Sun is up, 23 degrees high
  options.stop = "2026-12-23 00:00:00";
  options.sun_angle_deg = 60;
  const GroundSchedule found = make_schedule(options);
  const Horizon sky(options.site, unix_time_of(options.start), unix_time_of(options.stop), 600);
  for (const GroundScan& scan : found.scans) {
    double high = scan.azimuth_max_deg;
    if (high < scan.azimuth_min_deg) high += 360;
    for (double azimuth = scan.azimuth_min_deg; azimuth <= high; azimuth += 1) {
      for (const double t : {scan.start_s, scan.stop_s}) {
        EXPECT_GT(
            angle_between(horizon_direction({azimuth * kDegree, scan.elevation_deg * kDegree}),
                          horizon_direction(sky.sun(t))),
            59.5 * kDegree);
      }
    }
  }
  options.sun_elevation_max_deg = 0;
  EXPECT_EQ(thrown_by([&] { (void)make_schedule(options); }).status, Status::kUsage);
  options = south_pole("p,1,0,-52,30,-60");
  options.pole_step_deg = 0;
  EXPECT_TRUE(thrown_by([&] { (void)make_schedule(options); }).says("steps of 0"));
}

TEST(Scheduler, SaysWhatCannotBe) {
  ScheduleOptions options = two_patches();
  const auto status = [&] { return thrown_by([&] { (void)make_schedule(options); }).status; };
  options.patches = {"north,1,0,89,60,85"};  // never above 30 degrees from the south
  EXPECT_EQ(status(), Status::kUsage);
  options = two_patches();
  options.stop = options.start;
  EXPECT_EQ(status(), Status::kUsage);
  options = two_patches();
  options.patches.push_back(options.patches.front());  // simulate would find two scans of one name
  EXPECT_EQ(status(), Status::kUsage);
  for (const char* patch : {"", "a", "a,1,2,3", "a,0,1,2,3", "a,1,2,100,3", "a,1,x,2,3", ",1,2,3,4",
                            "a b,1,2,3,4", "a,1,2,3,2,3"}) {
    EXPECT_EQ(thrown_by([&] { (void)patch_of(patch); }).status, Status::kUsage) << patch;
  }
}

}  // namespace
}  // namespace skyloom
