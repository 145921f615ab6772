// SPDX-License-Identifier: BSD-3-Clause
// Gains and glitches of a simulation: they do what their truth in the files says, and maps can be
// made without the glitches.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/pointing/angle.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
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

SimulationOptions disturbed_simulation() {
  SimulationOptions options = small_simulation();
  options.plane.pixels = 1;
  options.gain = {.drift = 0.02, .walk = 0.1};
  options.glitches = {.per_hour = 300, .height_k = 5, .decay_s = 0.4};
  return options;
}

TEST(DisturbedTod, IsSkyTimesGainAndNoiseAndGlitches) {
  const TempFolder folder;
  const auto sky = some_sky(16);
  SerialExecutor one;
  SimulationOptions options = disturbed_simulation();
  const auto paths =
      write_observations(SimulatedTod(options, sky), folder.file("all"), Overwrite::kNo, one);
  options.gain = {};
  options.glitches = {};
  const SimulatedTod noise(options, nullptr);
  options.noise = false;
  const SimulatedTod seen(options, sky);
  const hdf5::Reader file(paths.at(1));
  const std::vector<double> signal = file.read("detdata/signal");
  const std::vector<double> gain = file.read("detdata/true_gain");
  const std::vector<double> glitches = file.read("detdata/true_glitches");
  const std::size_t n = seen.observation(1).samples;
  std::vector<double> a[2], b[2];
  std::vector<std::uint8_t> flags(n);
  Signal sa[2], sb[2];
  for (std::size_t i = 0; i < 2; ++i) {
    a[i].resize(n);
    b[i].resize(n);
    sa[i] = {a[i], flags};
    sb[i] = {b[i], flags};
  }
  seen.read(1, seen.boresight(1), 0, sa);
  noise.read(1, noise.boresight(1), 0, sb);
  double pulses = 0, gains = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t d = 0; d < 2; ++d) {
      const std::size_t at = d * n + i;
      // the truth is in single precision
      EXPECT_NEAR(signal[at], gain[at] * a[d][i] + b[d][i] + glitches[at], 1e-6) << at;
    }
    pulses += glitches[i];
    gains += std::fabs(gain[i] - 1);
  }
  EXPECT_GT(pulses, 1);
  EXPECT_GT(gains / static_cast<double>(n), 1e-3);
}

TEST(DisturbedTod, HasNoTruthWhereNothingWasDone) {
  const TempFolder folder;
  SerialExecutor one;
  const auto paths = write_observations(SimulatedTod(small_simulation(), nullptr),
                                        folder.file("plain"), Overwrite::kNo, one);
  const hdf5::Reader file(paths.at(0));
  EXPECT_FALSE(file.has("detdata/true_gain"));
  EXPECT_FALSE(file.has("detdata/true_glitches"));
}

/// A telescope that stares: what the wind blows across it has the structure function of theory.
TEST(Atmosphere, IsFrozenTurbulenceThatTheWindCarriesAlong) {
  SimulationOptions options;
  options.plane.pixels = 19;
  options.plane.width_deg = 25;
  options.plane.rate_hz = 10;
  options.noise = false;
  options.atmosphere = {
      .rms_k = 0.1, .outer_m = 40, .cell_m = 1, .wind_m_s = 10, .wind_from_deg = 70};
  options.schedule = std::make_shared<const GroundSchedule>(parse_schedule(
      "a | t | -22 | -67 | 5200\n"
      "2026-03-18 00:00:00 | 2026-03-18 00:08:00 | 0 | stare | 40 | 40 | 60 | 0 | 0\n",
      "text"));
  const SimulatedTod source(options, nullptr);
  const std::size_t n = source.observation(0).samples, lags[] = {2, 4, 8, 16};
  const Boresight boresight = source.boresight(0);
  double found[4] = {}, theory[4] = {};
  for (std::size_t d = 0; d < 38; d += 2) {
    std::vector<double> a(n), b(n);
    std::vector<std::uint8_t> flags(n);
    const Signal pair[] = {{a, flags}, {b, flags}};
    source.read(0, boresight, d, pair);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(a[i], b[i], 1e-9);  // the same air
    // elevation of a detector: that of the boresight in the middle; the airmass of each follows
    const Direction look = rotated(mount_quaternion(40 * kDegree, 60 * kDegree, 0) *
                                       source.observation(0).plane.detectors[d].place,
                                   {0, 0, 1});
    for (std::size_t l = 0; l < 4; ++l) {
      for (std::size_t i = 0; i + lags[l] < n; ++i) {
        found[l] += (a[i + lags[l]] - a[i]) * (a[i + lags[l]] - a[i]) * look.z * look.z;
        theory[l] += 2 * 0.1 * 0.1 * (1 - turbulence_covariance(static_cast<double>(lags[l]), 40));
      }
    }
  }
  for (std::size_t l = 0; l < 4; ++l) EXPECT_NEAR(found[l] / theory[l], 1, 0.05) << lags[l];
}

SimulationOptions ground_simulation(const char* scans) {
  SimulationOptions options = small_simulation();
  options.noise = false;
  options.schedule = std::make_shared<const GroundSchedule>(
      parse_schedule(std::string("a | t | -22 | -67 | 5200\n") + scans, "text"));
  return options;
}

constexpr const char* kTwoScans =
    "2026-03-18 00:00:00 | 2026-03-18 00:10:00 | 0 | low | 10 | 80 | 45 | 0 | 0\n"
    "2026-03-18 01:00:00 | 2026-03-18 01:10:00 | 0 | high | 10 | 80 | 75 | 0 | 0\n";

std::vector<double> read_one(const TodSource& source, std::size_t number, std::size_t detector) {
  const std::size_t n = source.observation(number).samples;
  std::vector<double> values(n);
  std::vector<std::uint8_t> flags(n);
  const Signal one{values, flags};
  source.read(number, source.boresight(number), detector, {&one, 1});
  return values;
}

TEST(GroundSignal, IsOfTheAzimuthAloneTheLessTheHigher) {
  SimulationOptions options = ground_simulation(kTwoScans);
  options.ground.rms_k = 0.01;
  options.ground.harmonics = 8;
  const SimulatedTod source(options, nullptr);
  const std::vector<double> low = read_one(source, 0, 0), high = read_one(source, 1, 0);
  const auto at = source.motion(0), above = source.motion(1);
  // sweeps go over the same azimuths again and again: so does the signal, and it is that of the
  // other scan, times (1/2 + 1/2) / (5/6 + 1/2)
  double most = 0;
  for (std::size_t i = 0; i < low.size(); i += 7) {
    most = std::max(most, std::fabs(low[i]));
    for (std::size_t k = i + 50; k < low.size(); k += 3) {
      if (std::fabs(at->azimuth[i] - at->azimuth[k]) > 1e-4) continue;
      EXPECT_NEAR(low[i], low[k], 2e-5);
    }
    for (std::size_t k = 0; k < high.size(); ++k) {
      if (std::fabs(at->azimuth[i] - above->azimuth[k]) > 1e-4) continue;
      EXPECT_NEAR(high[k], 0.75 * low[i], 2e-5);
    }
  }
  EXPECT_GT(most, 0.003);
  EXPECT_LT(most, 0.05);
  // what the map's filter of the ground is for
  const TempFolder folder;
  SerialExecutor one;
  MapJob job = small_maps(folder.file("with"));
  job.binned_only = true;
  job.solve.least_reciprocal = 0;
  make_maps(source, job, one);
  job.filters.ground.order = 16;
  job.folder = folder.file("without");
  make_maps(source, job, one);
  const auto rms = [&](const char* name) {
    double squares = 0;
    for (const float v : read_sky(folder.file(name) + "/binned.fits").values) {
      squares += double{v} * double{v};
    }
    return std::sqrt(squares);
  };
  EXPECT_LT(20 * rms("without"), rms("with"));
}

TEST(GroundSignal, OfAMapIsWhatLiesThere) {
  SimulationOptions options = ground_simulation(kTwoScans);
  auto horizon = std::make_shared<SkyMap>();
  horizon->pixels = Healpix(64);
  horizon->values.resize(3 * static_cast<std::size_t>(horizon->pixels.pixels()), 0.0F);
  for (Pixel p = 0; p < horizon->pixels.pixels(); ++p) {
    const Direction to = horizon->pixels.centre(p);  // longitude from north by west
    horizon->values[3 * static_cast<std::size_t>(p)] = static_cast<float>(std::atan2(-to.y, to.x));
  }
  options.ground.map = horizon;
  const SimulatedTod source(options, nullptr);
  const std::vector<double> found = read_one(source, 0, 0);
  const auto at = source.motion(0);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], at->azimuth[i], 0.025);
}

TEST(Atmosphere, IsTheSameForAnyThreadsAndRefusesTheGround) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.atmosphere = {.rms_k = 0.1, .outer_m = 100, .cell_m = 5};
  const char* const line =
      "a | t | -22 | -67 | 5200\n2026-03-18 00:00:00 | 2026-03-18 00:10:00 | 0 ";
  options.schedule = std::make_shared<const GroundSchedule>(
      parse_schedule(std::string(line) + "| p | 40 | 60 | 50 | 0 | 0\n", "text"));
  SerialExecutor one;
  TestThreads three(3);
  const SimulatedTod source(options, nullptr);
  EXPECT_GT(source.shared_bytes(), 20U * 600 * 10 / 5 * 30);
  MapJob job = small_maps(folder.file("one"));
  job.binned_only = true;
  job.solve.least_reciprocal = 0;
  job.memory = 4'000'000'000;
  // the layer is there once, whatever the threads
  const std::uint64_t planned = make_maps(source, job, one).planned_bytes;
  job.folder = folder.file("three");
  const std::uint64_t of_three = make_maps(source, job, three).planned_bytes;
  EXPECT_LT(of_three - planned, source.shared_bytes());
  EXPECT_EQ(read_bytes(folder.file("one/binned.fits")),
            read_bytes(folder.file("three/binned.fits")));
  options.schedule = std::make_shared<const GroundSchedule>(
      parse_schedule(std::string(line) + "| p | 40 | 60 | 12 | 0 | 0\n", "text"));
  job.folder = folder.file("low");
  EXPECT_EQ(thrown_by([&] { make_maps(SimulatedTod(options, nullptr), job, one); }).status,
            Status::kUsage);
}

/// Of the maps' I, without their means.
double rms_difference(const std::string& a, const std::string& b) {
  const SkyMap first = read_sky(a), second = read_sky(b);
  double sum = 0, square = 0, n = 0;
  for (std::size_t i = 0; i < first.values.size(); i += 3) {
    if (first.values[i] == 0 || second.values[i] == 0) continue;
    const double apart = double{first.values[i]} - double{second.values[i]};
    sum += apart, square += apart * apart, n += 1;
  }
  return std::sqrt(square / n - sum / n * sum / n);
}

TEST(Deglitch, MakesMapsAlmostAsIfThereHadBeenNoGlitches) {
  const TempFolder folder;
  SerialExecutor one;
  TestThreads three(3);
  SimulationOptions options = small_simulation();
  MapJob job = small_maps(folder.file("clean"));
  make_maps(SimulatedTod(options, nullptr), job, one);
  options.glitches = {.per_hour = 100, .height_k = 0.1, .decay_s = 0.2};
  const SimulatedTod source(options, nullptr);
  job.folder = folder.file("with");
  make_maps(source, job, one);
  job.filters.deglitch.sigmas = 5;
  job.folder = folder.file("without");
  const MapSummary summary = make_maps(source, job, one);
  // 14 detectors, 2 x 10 minutes, 100 an hour: 467 glitches of 11 samples and more
  EXPECT_GT(summary.glitches, 4000U);
  EXPECT_LT(summary.glitches, 12000U);
  EXPECT_EQ(summary.good + summary.flagged, summary.samples);
  EXPECT_GE(summary.flagged, summary.glitches);
  const std::string map = "/map.fits", clean = folder.file("clean") + map;
  const double left = rms_difference(folder.file("without") + map, clean);
  EXPECT_LT(20 * left, rms_difference(folder.file("with") + map, clean));
  job.folder = folder.file("three");
  job.filters.common_mode = true;
  const MapSummary common = make_maps(source, job, three);
  EXPECT_EQ(common.glitches, summary.glitches);  // read twice, counted once
}

}  // namespace
}  // namespace skyloom
