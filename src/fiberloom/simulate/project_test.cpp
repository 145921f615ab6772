// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/project.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/simulate/small_frame.hpp"
#include "fiberloom/simulate/spot_evaluator.hpp"
#include "loom/base/error.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom {
namespace {

double sum(const Array2D<double>& a) { return std::accumulate(a.data(), a.data() + a.size(), 0.0); }

bool same_bytes(const Array2D<double>& a, const Array2D<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

double largest_difference_from_reference(const PsfModel& psf) {
  SpotEvaluator evaluate(psf);
  double worst = 0;
  for (int f = 0; f < psf.nfiber(); f += 3) {
    for (double w = psf.x.wave_min - 5; w < psf.x.wave_max + 5; w += 3.37) {
      const auto fiber = static_cast<std::size_t>(f);
      const Spot expected = spot_reference(psf, fiber, w);
      const Spot& got = evaluate(fiber, w);
      EXPECT_EQ(got.x0, expected.x0);
      EXPECT_EQ(got.y0, expected.y0);
      for (std::size_t k = 0; k < expected.value.size(); ++k) {
        worst = std::max(worst, std::abs(got.value[k] - expected.value[k]));
      }
    }
  }
  return worst;
}

TEST(SpotEvaluator, EqualsTheReferenceSpot) {
  EXPECT_LT(largest_difference_from_reference(make_psf(small_psf_options(50, 6000, 6200))), 1e-14);
}

TEST(SpotEvaluator, EqualsTheReferenceWhenTheShapeSeriesHaveDifferentDomains) {
  PsfModel psf = make_psf(small_psf_options(9, 6000, 6100));
  psf.gh[3].wave_min -= 40;
  EXPECT_LT(largest_difference_from_reference(psf), 1e-14);
}

TEST(SpotEvaluator, EqualsTheReferenceWhenTailsAreOn) {
  PsfModel psf = make_psf(small_psf_options(9, 6000, 6100));
  psf.has_tails = true;
  for (std::size_t f = 0; f < psf.tails.amp.coef.rows(); ++f) psf.tails.amp.coef(f, 0) = 0.01;
  EXPECT_EQ(largest_difference_from_reference(psf), 0.0);
}

TEST(SpotEvaluator, GivesAnEmptySpotForAWidthThatIsNotPositive) {
  PsfModel psf = make_psf(small_psf_options(9, 6000, 6100));
  psf.sigma_x.coef(3, 0) = -1;
  SpotEvaluator evaluate(psf);
  const Spot& spot = evaluate(3, 6050);
  EXPECT_EQ(*std::max_element(spot.value.begin(), spot.value.end()), 0.0);
}

TEST(Project, ConservesTheFluxOfSpotsInsideTheCcd) {
  const PsfModel psf = make_psf(small_psf_options(30, 6000, 6100));
  const std::vector<double> wave{6010, 6050, 6090};
  const Array2D<double> electrons(30, 3, 100.0);
  SerialExecutor serial;
  EXPECT_NEAR(sum(project(psf, wave, electrons, serial)), 9000.0, 1e-9);
}

TEST(Project, CropsASpotAtTheEdgeWithoutRenormalising) {
  const PsfModel psf = make_psf(small_psf_options(5, 6000, 6100));
  double wave = 6000;  // walk to where the centre of fibre 2 lies on the first row's lower edge
  while (psf.y(2, wave) > -0.5) wave -= 0.01;
  Array2D<double> electrons(1, 1, 1000.0);
  SerialExecutor serial;
  const double kept = sum(project(psf, {wave}, electrons, serial, 2));
  const Spot spot = spot_reference(psf, 2, wave);
  double expected = 0;
  for (int r = std::max(0, -spot.y0); r < spot.ny; ++r) {
    for (int q = 0; q < spot.nx; ++q) {
      expected += 1000.0 * spot.value[static_cast<std::size_t>(r * spot.nx + q)];
    }
  }
  EXPECT_NEAR(kept, expected, 1e-9);
  EXPECT_GT(kept, 400.0);
  EXPECT_LT(kept, 600.0);
}

TEST(Project, DropsLightThatFallsBesideTheCcd) {
  const PsfModel psf = make_psf(small_psf_options(5, 6000, 6100));
  SerialExecutor serial;
  EXPECT_EQ(sum(project(psf, {7000}, Array2D<double>(5, 1, 10.0), serial)), 0.0);
}

TEST(Project, GivesTheSameBytesForAnyNumberOfThreads) {
  SmallFrameOptions options;
  options.nfiber = 47;
  options.nwave = 60;
  SerialExecutor serial;
  const SmallFrame expected = make_small_frame(options, serial);
  for (const std::size_t threads : {1U, 2U, 3U}) {
    TestThreads executor(threads);
    const SmallFrame got = make_small_frame(options, executor);
    EXPECT_TRUE(same_bytes(got.mean, expected.mean)) << threads << " threads";
    EXPECT_TRUE(same_bytes(got.image, expected.image)) << threads << " threads";
  }
}

TEST(Project, GivesTheSameBytesWhenAllGroupsOverlap) {
  SimulatedPsfOptions options = small_psf_options(60, 6000, 6050);
  options.pitch = 0.8;
  options.gap = 0.8;
  const PsfModel psf = make_psf(options);
  const std::vector<double> wave = lit_wave_grid(psf, 6000, 0.8, 0.8);
  Array2D<double> electrons(60, wave.size());
  for (std::size_t i = 0; i < electrons.size(); ++i) {
    electrons.data()[i] = std::sqrt(static_cast<double>(i + 1));
  }
  SerialExecutor serial;
  TestThreads three(3);
  EXPECT_TRUE(
      same_bytes(project(psf, wave, electrons, serial), project(psf, wave, electrons, three)));
}

TEST(Project, RefusesSpectraThatDoNotFit) {
  const PsfModel psf = make_psf(small_psf_options(5, 6000, 6100));
  SerialExecutor serial;
  EXPECT_THROW(static_cast<void>(project(psf, {6000}, Array2D<double>(5, 2, 1.0), serial)), Error);
  EXPECT_THROW(static_cast<void>(project(psf, {6000}, Array2D<double>(6, 1, 1.0), serial)), Error);
}

TEST(LitWaveGrid, TilesTheBinsOfTheExtractionGrid) {
  const PsfModel psf = make_psf(small_psf_options(5, 6000, 6100));
  const std::vector<double> fine = lit_wave_grid(psf, 6000, 0.8, 0.4);
  const auto at = std::lower_bound(fine.begin(), fine.end(), 5999.7);
  EXPECT_NEAR(at[0], 5999.8, 1e-9);
  EXPECT_NEAR(at[1], 6000.2, 1e-9);
}

TEST(SmallFrame, HoldsTheGridWithLightOnBothSides) {
  SerialExecutor serial;
  const SmallFrame frame = make_small_frame({}, serial);
  EXPECT_EQ(frame.wave.size(), 200U);
  EXPECT_EQ(frame.wave[0], frame.lit_wave[frame.first_bin]);
  EXPECT_NEAR(frame.wave[0], 6000.0, 1e-9);
  EXPECT_GT(frame.first_bin, 50U);
  EXPECT_GT(frame.lit_wave.size(), frame.first_bin + 250U);
  for (int f = 0; f < frame.psf.nfiber(); ++f) {
    EXPECT_GT(frame.psf.y(static_cast<std::size_t>(f), frame.wave.front() - 45), 0.0);
    EXPECT_LT(frame.psf.y(static_cast<std::size_t>(f), frame.wave.back() + 45),
              frame.psf.npix_y - 1.0);
  }
}

}  // namespace
}  // namespace fiberloom
