// SPDX-License-Identifier: BSD-3-Clause
// Elevation nods of scans from the ground: they are in the data and in files, flagged, and not in
// maps; the air weighs in them as it should.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/tod/simulated_tod.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

SimulationOptions nodding(const std::string& second_start = "00:10:00") {
  SimulationOptions options = small_simulation();
  options.schedule = std::make_shared<const GroundSchedule>(
      parse_schedule("a | t | -22 | -67 | 5200\n"
                     "2026-03-18 00:00:00 | 2026-03-18 00:05:00 | 0 | p | 40 | 60 | 50 | 0 | 0\n"
                     "2026-03-18 " +
                         second_start + " | 2026-03-18 00:15:00 | 0 | p | 45 | 65 | 50 | 1 | 0\n",
                     "text"));
  options.mount.nods = {.steps_deg = {2, -2, 0}, .at = NodsAt::kBoth};
  return options;
}

std::int64_t hits_in(const std::string& path) {
  double sum = 0;
  for (const double value : MapTable(path).column(0)) sum += value;
  return static_cast<std::int64_t>(sum);
}

TEST(Nods, AreInFilesAndNotInMaps) {
  const TempFolder folder;
  SerialExecutor one;
  TestThreads three(3);
  const auto sky = some_sky(8);
  SimulationOptions options = nodding();
  MapJob job = small_maps(folder.file("direct"));
  job.binned_only = true;
  job.solve.least_reciprocal = 0;
  const SimulatedTod source(options, sky);
  make_maps(source, job, one);
  const auto paths = write_observations(source, folder.file("data"), Overwrite::kNo, three);
  job.folder = folder.file("stored");
  make_maps(StoredTod(paths, {}), job, three);
  EXPECT_EQ(read_bytes(folder.file("stored/binned.fits")),
            read_bytes(folder.file("direct/binned.fits")));
  const std::size_t n = source.observation(1).samples;
  EXPECT_GT(n, 5U * 300);
  const hdf5::Reader file(paths.at(1));
  const std::vector<double> times = file.read("shared/times"), flags = file.read("shared/flags"),
                            elevation = file.read("shared/elevation"),
                            nods = file.read("intervals/elnod");
  ASSERT_EQ(nods.size(), 4U);
  EXPECT_EQ(nods[0], times[0]);  // starts, then stops
  EXPECT_EQ(nods[3], times[n - 1]);
  EXPECT_NEAR(nods[2], unix_time_of("2026-03-18 00:10:00"), 1e-6);
  std::size_t nodding_samples = 0;
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool within = (static_cast<unsigned>(flags[i]) & 8U) != 0;
    EXPECT_EQ(within, times[i] < nods[2] - 1e-6 || times[i] > nods[1] - 1e-6) << i;
    if (!within) {
      EXPECT_NEAR(elevation[i], 50 * std::acos(-1.0) / 180, 1e-12);
    }
    nodding_samples += within ? 1 : 0;
    most = std::max(most, elevation[i]);
  }
  EXPECT_EQ(nodding_samples, n - 1500);
  EXPECT_NEAR(most, 52 * std::acos(-1.0) / 180, 1e-3);
  // as many hits as without nods, and with their bit more
  job.folder = folder.file("seen");
  make_maps(StoredTod(paths, {.shared_mask = 7}), job, one);
  options.mount.nods = {};
  job.folder = folder.file("none");
  make_maps(SimulatedTod(options, sky), job, one);
  EXPECT_EQ(hits_in(folder.file("direct/hits.fits")), hits_in(folder.file("none/hits.fits")));
  EXPECT_EQ(
      hits_in(folder.file("seen/hits.fits")),
      hits_in(folder.file("none/hits.fits")) + static_cast<std::int64_t>(14 * 2 * nodding_samples));
}

TEST(Nods, WeighTheAir) {
  SimulationOptions options = nodding();
  options.plane.pixels = 1;
  options.noise = false;
  options.atmosphere.load_k = 2;
  const SimulatedTod source(options, nullptr);
  const std::size_t n = source.observation(0).samples;
  std::vector<double> values(n);
  std::vector<std::uint8_t> flags(n);
  const Signal signal{values, flags};
  source.prepare(0, source.boresight(0), serial_executor(), {});
  source.read(0, source.boresight(0), 0, {&signal, 1});
  const auto moved = source.motion(0);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(values[i], 2 / std::sin(moved->elevation[i]), 1e-12) << i;
    EXPECT_EQ(flags[i] != 0, (moved->flags[i] & 15) != 0) << i;
  }
  // beside turbulence, which stays what it was
  options.atmosphere = {.rms_k = 0.1, .outer_m = 100, .cell_m = 5};
  std::vector<double> turbulent(n), both(n);
  const Signal of_turbulent{turbulent, flags}, of_both{both, flags};
  const SimulatedTod without(options, nullptr);
  without.read(0, without.boresight(0), 0, {&of_turbulent, 1});
  options.atmosphere.load_k = 2;
  const SimulatedTod with(options, nullptr);
  with.read(0, with.boresight(0), 0, {&of_both, 1});
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(both[i], turbulent[i] + values[i], 1e-12);
}

TEST(Nods, WantTimeBetweenScans) {
  EXPECT_TRUE(thrown_by([] {
                (void)SimulatedTod(nodding("00:05:01"), nullptr);
              }).says("p-1-0 would begin before"));
  SimulationOptions options = nodding("00:05:01");
  options.mount.nods = {};
  EXPECT_EQ(thrown_by([&] { (void)SimulatedTod(options, nullptr); }).status, Status::kOk);
}

}  // namespace
}  // namespace skyloom
