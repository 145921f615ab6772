// SPDX-License-Identifier: BSD-3-Clause
// Maximum-likelihood maps of simulations: the sky comes back, and less noise is in them than in
// binned and destriped ones.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

MapJob gls_maps(const std::string& folder) {
  MapJob job = small_maps(folder);
  job.method = MapMethod::kGls;
  job.correlation_s = 100;
  job.limits.iterations = 1000;
  return job;
}

/// Rms over pixels of a map that should be 0, of I without its mean, of Q and of U.
struct Widths {
  double i = 0, q = 0, u = 0;
};
Widths widths_of(const std::string& path) {
  const SkyMap map = read_sky(path);
  double sum = 0, squares[3] = {0, 0, 0}, n = 0;
  for (std::size_t p = 0; p < map.values.size(); p += 3) {
    if (map.values[p] == 0) continue;
    n += 1;
    sum += map.values[p];
    for (std::size_t k = 0; k < 3; ++k) {
      squares[k] += double{map.values[p + k]} * double{map.values[p + k]};
    }
  }
  return {std::sqrt(squares[0] / n - sum / n * sum / n), std::sqrt(squares[1] / n),
          std::sqrt(squares[2] / n)};
}

TEST(GlsMaps, RecoverTheSkyThatWasScanned) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.noise = false;
  const auto sky = some_sky(16);
  SerialExecutor one;
  const MapSummary summary =
      make_maps(SimulatedTod(options, sky), gls_maps(folder.file("maps")), one);
  EXPECT_TRUE(summary.converged);
  EXPECT_TRUE(summary.gls);
  const SkyMap found = read_sky(folder.file("maps/map.fits"));
  std::size_t seen = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    if (found.values[i] == 0) continue;
    ++seen;
    EXPECT_NEAR(found.values[i], sky->values[i], 1e-5) << i;
  }
  EXPECT_GT(seen, 3000U);
}

TEST(GlsMaps, HaveLessNoiseThanBinnedAndDestripedOnes) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.plane.noise.fknee_hz = 0.5;
  options.glitches = {.per_hour = 50, .height_k = 1, .decay_s = 0};
  const SimulatedTod source(options, nullptr);
  SerialExecutor one;
  MapJob job = small_maps(folder.file("destriped"));
  job.filters.deglitch.sigmas = 6;  // gaps
  const MapSummary offsets = make_maps(source, job, one);
  MapJob gls = gls_maps(folder.file("gls"));
  gls.filters = job.filters;
  const MapSummary summary = make_maps(source, gls, one);
  EXPECT_TRUE(summary.converged);
  EXPECT_GT(summary.gaps, 1000U);
  const std::size_t solved = summary.hit_pixels - summary.cut_pixels;  // the offsets' pixels stay
  EXPECT_EQ(summary.system_bytes, offsets.system_bytes + 12 * summary.samples +
                                      40 * (3 * solved + summary.gaps) + 16 * 24 * solved);
  const Widths binned = widths_of(folder.file("gls/binned.fits"));
  const Widths destriped = widths_of(folder.file("destriped/map.fits"));
  const Widths found = widths_of(folder.file("gls/map.fits"));
  EXPECT_LT(found.i, 0.9 * binned.i);
  EXPECT_LT(found.q, 0.9 * binned.q);
  EXPECT_LT(found.i, destriped.i);
  EXPECT_LT(found.q, destriped.q);
  EXPECT_LT(found.u, destriped.u);
}

TEST(GlsMaps, AreTheSameForAnyThreadsAndRefuseWhatDoesNotGoWithThem) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.plane.pixels = 1;
  options.plane.noise.fknee_hz = 0.5;
  const SimulatedTod source(options, some_sky(4));
  SerialExecutor one;
  TestThreads three(3);
  MapJob job = gls_maps(folder.file("one"));
  job.nside = 4;
  make_maps(source, job, one);
  job.folder = folder.file("three");
  make_maps(source, job, three);
  EXPECT_EQ(read_bytes(folder.file("one/map.fits")), read_bytes(folder.file("three/map.fits")));
  job.prior = true;
  EXPECT_EQ(thrown_by([&] { make_maps(source, job, one); }).status, Status::kUsage);
  job.prior = false;
  job.memory = 4'000'000'000;
  const MapSummary planned = make_maps(source, job, three);
  EXPECT_GT(planned.planned_bytes, planned.system_bytes + planned.sums_bytes);
  EXPECT_EQ(read_bytes(folder.file("one/map.fits")), read_bytes(folder.file("three/map.fits")));
  job.memory = 1000;
  EXPECT_EQ(thrown_by([&] { make_maps(source, job, one); }).status, Status::kMemory);
}

TEST(GlsMaps, OfAPartAreThoseOfItsDataAlone) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.plane.noise.fknee_hz = 0.5;
  const SimulatedTod both(options, some_sky(16));
  options.observations = 1;
  const SimulatedTod first(options, some_sky(16));  // the same as the first of both
  SerialExecutor one;
  MapJob job = gls_maps(folder.file("both"));
  job.nside = 8;
  job.correlation_s = 20;
  job.limits.tolerance = 1e-12;
  job.split = split_of("observations");
  const MapSummary summary = make_maps(both, job, one);
  ASSERT_EQ(summary.gls_parts.size(), 2U);
  EXPECT_TRUE(summary.gls_parts[0].converged);
  job.split = {};
  job.folder = folder.file("alone");
  make_maps(first, job, one);
  const SkyMap part = read_sky(folder.file("both/part1_map.fits"));
  const SkyMap alone = read_sky(folder.file("alone/map.fits"));
  ASSERT_EQ(part.values.size(), alone.values.size());
  EXPECT_LE(part.unseen - alone.unseen, 4U);  // a pixel that is cut in the whole
  std::size_t seen = 0;
  for (std::size_t i = 0; i < part.values.size(); ++i) {
    if (part.values[i] == 0) continue;
    ++seen;
    EXPECT_NEAR(part.values[i], alone.values[i], 1e-5) << i;
  }
  EXPECT_GT(seen, 300U);
}

}  // namespace
}  // namespace skyloom
