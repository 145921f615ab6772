// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/view_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/view_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using loom::test::TempFolder;
using loom::test::thrown_by;
using test::small_simulation;

TEST(ViewNoise, LiesOnTheModelAndIsTheSameForAnyThreads) {
  const TempFolder folder;
  SerialExecutor one;
  TestThreads three(3);
  SimulationOptions options = small_simulation();
  options.plane.pixels = 37;  // 74 detectors, of which 64 are looked at
  options.observations = 1;
  options.common.noise = {.net = 60e-6, .fmin_hz = 1e-3, .fknee_hz = 0.2, .slope = 2};
  const auto paths =
      write_observations(SimulatedTod(options, nullptr), folder.file("data"), Overwrite::kNo, one);
  Json found = noise_spectra_json(paths[0], {}, one, {});
  EXPECT_EQ(found["detectors"].size(), kViewedDetectors);
  EXPECT_EQ(found["all"].get<std::size_t>(), 74U);
  const auto frequencies = found["frequencies"].get<std::vector<double>>();
  const auto median = found["median"].get<std::vector<double>>();
  const auto model = found["model"].get<std::vector<double>>();
  double ratio = 0, bands = 0;
  for (std::size_t b = 0; b < frequencies.size(); ++b) {
    if (frequencies[b] < 0.2) continue;
    ratio += median[b] / model[b];
    bands += 1;
  }
  EXPECT_NEAR(ratio / bands, 1, 0.05);
  EXPECT_NEAR(model.back(), std::sqrt(50e-6 * 50e-6 + 60e-6 * 60e-6), 2e-6);
  EXPECT_EQ(view_maps({.folder = paths[0]}, one), view_maps({.folder = paths[0]}, three));
  EXPECT_EQ(
      thrown_by([&] { (void)view_maps({.folder = paths[0], .noise = paths[0]}, one); }).status,
      Status::kUsage);
}

TEST(ViewNoise, SaysThatThereAreTooFewSamples) {
  const TempFolder folder;
  SerialExecutor one;
  SimulationOptions options = small_simulation();
  options.observation_minutes = 0.5;  // 150 samples
  const auto paths =
      write_observations(SimulatedTod(options, nullptr), folder.file("data"), Overwrite::kNo, one);
  EXPECT_EQ(thrown_by([&] { (void)noise_spectra_json(paths[0], {}, one, {}); }).status,
            kNoGoodData);
}

}  // namespace
}  // namespace skyloom
