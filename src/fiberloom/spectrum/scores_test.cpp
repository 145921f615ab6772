// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "loom/base/rng.hpp"
#include "loom/base/steady_median.hpp"

namespace fiberloom {
namespace {

TEST(Scores, AreDesispecsSumsAndMedians) {
  Spectra r;
  r.wave = {5799, 5800, 5801, 5803, 5805, 7610};  // the first and last are outside [5800, 7600)
  r.flux = Array2D<double>(1, 6);
  r.ivar = Array2D<double>(1, 6, 4.0);
  const std::vector<double> flux{1000, 1, 2, 3, 10, 1000};
  std::copy(flux.begin(), flux.end(), r.flux.data());
  r.ivar(0, 1) = -1;

  const Table scores = *frame_scores(r);

  // numpy.gradient gives widths 1, 1.5, 2, 903.5 for the four bins
  const std::vector<double> per_aa{1, 2 / 1.5, 1.5, 10 / 903.5};
  const std::vector<double> snr{0, 4 / std::sqrt(1.5), 6 / std::sqrt(2.0), 20 / std::sqrt(903.5)};
  EXPECT_DOUBLE_EQ((*scores.column("SUM_RAW_COUNT_R"))[0], 16.0);
  EXPECT_DOUBLE_EQ((*scores.column("MEDIAN_RAW_COUNT_R"))[0], 0.5 * (per_aa[0] + per_aa[1]));
  EXPECT_DOUBLE_EQ((*scores.column("MEDIAN_RAW_SNR_R"))[0], 0.5 * (snr[3] + snr[1]));
  EXPECT_EQ(scores.columns[0].comment, "sum counts in wave. range 5800,7600A");
}

TEST(Scores, PickTheCameraByTheMeanWavelengthAndNeedItsRange) {
  Spectra r;
  r.flux = Array2D<double>(1, 3, 1.0);
  r.ivar = Array2D<double>(1, 3, 1.0);

  r.wave = {4000, 4001, 4002};
  EXPECT_TRUE(frame_scores(r)->column("SUM_RAW_COUNT_B"));
  r.wave = {8000, 8001, 8002};
  EXPECT_TRUE(frame_scores(r)->column("SUM_RAW_COUNT_Z"));
  r.wave = {3000, 3001, 3002};
  EXPECT_FALSE(frame_scores(r));
}

Spectra red_spectra(double flux) {
  Spectra r;
  r.wave = {6000, 6001, 6002};
  r.flux = Array2D<double>(2, 3, flux);
  r.ivar = Array2D<double>(2, 3, 4.0);
  return r;
}

TEST(Scores, OfAStageStandBehindThoseOfTheStageBefore) {
  Spectra r = red_spectra(3);
  add_scores(r, ScoreStage::kRaw);
  for (double* f = r.flux.data(); f != r.flux.data() + r.flux.size(); ++f) *f = 1.5;
  add_scores(r, ScoreStage::kFlat);
  EXPECT_EQ(r.scores->columns.size(), 6U);
  EXPECT_EQ(r.scores->columns[3].name, "SUM_FFLAT_COUNT_R");
  EXPECT_EQ((*r.scores->column("MEDIAN_RAW_COUNT_R"))[1], 3);
  EXPECT_EQ((*r.scores->column("MEDIAN_FFLAT_SNR_R"))[1], 3);
  add_scores(r, ScoreStage::kRaw);
  EXPECT_EQ(r.scores->columns.size(), 6U) << "in the place of the old ones";
  EXPECT_EQ((*r.scores->column("SUM_RAW_COUNT_R"))[0], 4.5);
}

TEST(Scores, OfCoaddsCountTheWidthOfBins) {
  Spectra r = red_spectra(3);
  r.wave = {6000, 6002, 6004};
  Table scores;
  append_coadd_scores(scores, r, 'R');
  append_coadd_scores(scores, r, 'Z');
  ASSERT_EQ(scores.columns.size(), 3U) << "no bin lies in the range of Z";
  EXPECT_EQ((*scores.column("INTEG_COADD_FLUX_R"))[0], 18);
  EXPECT_EQ((*scores.column("MEDIAN_COADD_FLUX_R"))[1], 3);
  EXPECT_NEAR((*scores.column("MEDIAN_COADD_SNR_R"))[1], 6 / std::sqrt(2.0), 1e-6);
  EXPECT_EQ(scores.columns[0].cell, Cell::kFloat32);
}

TEST(SteadyMedian, IsTheMedian) {
  const CounterRng rng(5, 1);
  for (const std::size_t n : {1U, 2U, 47U, 48U, 49U, 50U, 1000U, 1001U, 2881U}) {
    for (int kind = 0; kind < 7; ++kind) {
      std::vector<double> values(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double x = rng.normal(i + 10000 * static_cast<std::size_t>(kind)),
                     at = static_cast<double>(i);
        const double choices[] = {x,
                                  at,
                                  -at,
                                  std::round(x),
                                  0.0,
                                  i % 3 == 0 ? 0.0 : x,
                                  i % 100 == 7 ? std::numeric_limits<double>::quiet_NaN() : x};
        values[i] = choices[kind];
      }
      std::vector<double> copy = values;
      const double found = loom::steady_median_of(values), wanted = loom::median_of(copy);
      const bool same = found == wanted || (std::isnan(found) && std::isnan(wanted));
      EXPECT_TRUE(same) << found << " for " << wanted << ", " << n << " of kind " << kind;
    }
  }
}

}  // namespace
}  // namespace fiberloom
