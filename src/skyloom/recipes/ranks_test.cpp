// SPDX-License-Identifier: BSD-3-Clause
// Maps by several ranks, which are threads here.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "loom/testing/test_files.hpp"
#include "loom/testing/thread_ranks.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

/// Makes maps on ranks that are threads; the summary of the first one.
MapSummary make_on_ranks(const TodSource& source, const MapJob& job, int ranks) {
  ThreadRanks::World world(ranks);
  MapSummary first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRanks own(world, rank);
      RankCompany company(own);
      SerialExecutor one;
      const MapSummary found = make_maps(source, job, one, {}, &company);
      if (rank == 0) first = found;
      own.finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return first;
}

/// Largest difference of two maps' values over their largest value; unseen ones are the same.
double difference(const std::string& a, const std::string& b) {
  const SkyMap one = read_sky(a), other = read_sky(b);
  EXPECT_EQ(one.unseen, other.unseen);
  double most = 0, size = 0;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    EXPECT_EQ(one.values[i] == 0, other.values[i] == 0);
    most = std::max(most, std::fabs(double{one.values[i]} - double{other.values[i]}));
    size = std::max(size, std::fabs(double{one.values[i]}));
  }
  return most / size;
}

/// What is said in a step has the size of what ranks share, whatever the sky has: 24 bytes there
/// and back of each pixel of a shared tile, some numbers a message.
TEST(MakeMaps, OnRanksSayWhatTheyShareAlone) {
  const TempFolder folder;
  const SimulatedTod source(small_simulation(), nullptr);
  std::size_t of_step[2] = {};
  for (const std::size_t ranks : {2, 4}) {
    MapJob job = small_maps(folder.file("maps"));
    job.nside = 64;
    job.limits = {.tolerance = 0, .iterations = 10};
    const MapSummary found = make_on_ranks(source, job, static_cast<int>(ranks));
    EXPECT_EQ(make_on_ranks(source, job, static_cast<int>(ranks)).solve_sent_bytes,
              found.solve_sent_bytes);
    const std::size_t step = found.solve_sent_bytes / 10;
    EXPECT_GT(step, std::size_t{0});
    EXPECT_LT(step, ranks * 2 * sizeof(Stokes) * found.hit_pixels);
    of_step[ranks / 4] = step;
  }
  EXPECT_LT(of_step[0], of_step[1]);
  EXPECT_EQ(make_on_ranks(source, small_maps(folder.file("maps")), 1).solve_sent_bytes, 0U);
}

TEST(MakeMaps, OnRanksAreThoseOfOneProcess) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.observation_minutes = 5;
  const SimulatedTod source(options, some_sky(64));  // 14 pairs in all
  for (const bool prior : {false, true}) {
    MapJob job = small_maps(folder.file("alone"));
    job.prior = prior;
    job.filters = {.polynomial = 1, .common_mode = true};
    job.split = split_of("time=3");
    job.limits.tolerance = 1e-13;
    SerialExecutor one;
    const MapSummary alone = make_maps(source, job, one);
    for (const int ranks : prior ? std::vector<int>{3} : std::vector<int>{2, 17}) {  // 17: too many
      job.folder = folder.file("ranks");
      const MapSummary found = make_on_ranks(source, job, ranks);
      EXPECT_EQ(found.samples, alone.samples);
      EXPECT_EQ(found.good, alone.good);
      EXPECT_EQ(found.runs, alone.runs);
      EXPECT_EQ(found.baselines, alone.baselines);
      EXPECT_EQ(found.hit_pixels, alone.hit_pixels);
      EXPECT_EQ(found.cut_pixels, alone.cut_pixels);
      EXPECT_EQ(found.cut_samples, alone.cut_samples);
      EXPECT_EQ(found.parts[1].good, alone.parts[1].good);
      EXPECT_EQ(found.parts[2].cut_pixels, alone.parts[2].cut_pixels);
      EXPECT_TRUE(found.converged);
      for (const char* name : {"hits", "part2_hits"}) {
        const std::string file = std::string("/") + name + ".fits";
        EXPECT_EQ(read_bytes(folder.file("ranks") + file), read_bytes(folder.file("alone") + file));
      }
      for (const char* name : {"binned", "map", "part1_binned", "part3_map"}) {
        const std::string file = std::string("/") + name + ".fits";
        // read_sky() rounds to float: what rounds apart shows as 6e-8
        EXPECT_LT(difference(folder.file("alone") + file, folder.file("ranks") + file), 1.2e-7)
            << name << " " << ranks << " " << prior;
      }
      job.folder = folder.file("again");
      make_on_ranks(source, job, ranks);
      for (const char* name : {"/map.fits", "/cov.fits", "/part1_map.fits"}) {
        EXPECT_EQ(read_bytes(folder.file("again") + name), read_bytes(folder.file("ranks") + name));
      }
    }
  }
}

TEST(MakeMaps, OfMaximumLikelihoodOnRanksAreThoseOfOneProcess) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.observation_minutes = 5;
  options.plane.noise.fknee_hz = 0.5;
  options.glitches = {.per_hour = 50, .height_k = 1, .decay_s = 0};
  const SimulatedTod source(options, nullptr);
  MapJob job = small_maps(folder.file("alone"));
  job.method = MapMethod::kGls;
  job.correlation_s = 10;
  job.nside = 8;
  job.filters.deglitch.sigmas = 6;  // gaps
  job.split = split_of("time=2");
  job.limits = {.tolerance = 1e-13, .iterations = 1000};
  SerialExecutor one;
  const MapSummary alone = make_maps(source, job, one);
  ASSERT_TRUE(alone.converged);
  ASSERT_GT(alone.gaps, 100U);
  for (const int ranks : {2, 17}) {  // 17: some have no data
    job.folder = folder.file("ranks");
    const MapSummary found = make_on_ranks(source, job, ranks);
    EXPECT_TRUE(found.converged);
    EXPECT_EQ(found.gaps, alone.gaps);
    EXPECT_EQ(found.gls_parts[1].gaps, alone.gls_parts[1].gaps);
    for (const char* name : {"/binned.fits", "/map.fits", "/part1_map.fits", "/part2_map.fits"}) {
      EXPECT_LT(difference(folder.file("alone") + name, folder.file("ranks") + name), 1.2e-7)
          << name << " " << ranks;
    }
    if (ranks == 17) continue;
    job.folder = folder.file("again");
    make_on_ranks(source, job, ranks);
    for (const char* name : {"/map.fits", "/part2_map.fits"}) {
      EXPECT_EQ(read_bytes(folder.file("again") + name), read_bytes(folder.file("ranks") + name));
    }
  }
}

TEST(MakeMaps, OfDemodulatedStreamsOnRanksAreThoseOfOneProcess) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.plane.rate_hz = 20;
  options.observation_minutes = 3;
  options.scan.plate_rpm = 60;
  options.plate = {.amplitudes_k = {0.01, 0.1, 0, 0.02}, .spread = 0.1, .drift = 0.01};
  const SimulatedTod source(options, nullptr);
  MapJob job = small_maps(folder.file("alone"));
  job.nside = 8;
  job.filters = {.plate = {.harmonics = 4}, .common_mode = true};
  job.demodulation.on = true;
  job.split = split_of("detectors");
  job.limits = {.tolerance = 1e-12, .iterations = 1000};
  SerialExecutor one;
  const MapSummary alone = make_maps(source, job, one);
  ASSERT_TRUE(alone.converged);
  for (const int ranks : {3, 17}) {  // 17: some have no data
    job.folder = folder.file("ranks");
    const MapSummary found = make_on_ranks(source, job, ranks);
    EXPECT_TRUE(found.converged);
    EXPECT_EQ(found.good, alone.good);
    EXPECT_EQ(found.detectors, alone.detectors);
    EXPECT_EQ(read_bytes(folder.file("alone/hits.fits")),
              read_bytes(folder.file("ranks/hits.fits")));
    for (const char* name : {"/binned.fits", "/map.fits", "/part1_map.fits"}) {
      EXPECT_LT(difference(folder.file("alone") + name, folder.file("ranks") + name), 1.2e-7)
          << name << " " << ranks;
    }
  }
}

/// The card's algorithm has the CPU's order of sums: what differs are the fused multiply-adds that
/// the CPU's loops may have, here and on ranks.
TEST(MakeMaps, OfAnEmulatedDeviceAreThoseOfTheCpu) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.observation_minutes = 5;
  const SimulatedTod source(options, some_sky(64));
  for (const bool prior : {false, true}) {
    for (const int ranks : {1, 3}) {
      MapJob job = small_maps(folder.file("cpu"));
      job.prior = prior;
      job.limits.iterations = 30;
      const MapSummary want = make_on_ranks(source, job, ranks);
      job.backend = Backend::kEmulate;
      job.folder = folder.file("device");
      const MapSummary found = make_on_ranks(source, job, ranks);
      ASSERT_GT(found.residuals.size(), 5U);
      ASSERT_EQ(found.residuals.size(), want.residuals.size());
      for (std::size_t i = 0; i < found.residuals.size(); ++i) {
        EXPECT_NEAR(found.residuals[i], want.residuals[i], 1e-6 * want.residuals[i]);
      }
      EXPECT_EQ(found.runs, want.runs);
      EXPECT_EQ(read_bytes(folder.file("device/hits.fits")),
                read_bytes(folder.file("cpu/hits.fits")));
      for (const char* name : {"/binned.fits", "/map.fits"}) {
        EXPECT_LT(difference(folder.file("device") + name, folder.file("cpu") + name), 1e-7)
            << name << " " << ranks << " " << prior;
      }
    }
  }
}

TEST(MakeMaps, OnRanksThatHaveOnePartEachArePlanned) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.observation_minutes = 5;
  const SimulatedTod source(options, nullptr);
  MapJob job = small_maps(folder.file("maps"));
  job.split = split_of("observations");
  job.binned_only = true;
  job.memory = 4'000'000'000;
  const MapSummary found = make_on_ranks(source, job, 2);
  EXPECT_GT(found.planned_bytes, 0U);
  EXPECT_EQ(found.parts[0].good + found.parts[1].good, found.good);
}

}  // namespace
}  // namespace skyloom
