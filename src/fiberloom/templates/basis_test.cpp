// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/templates/basis.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::templates {
namespace {

constexpr std::size_t kSpectra = 40, kWave = 300, kTrue = 3;

/// Positive sums of three bumps, with noise of `sigma` and a third of each spectrum missing.
struct Sample {
  Array2D<double> truth{kSpectra, kWave, 0.0};
  TrainingSpectra seen{Array2D<double>(kSpectra, kWave, 0.0),
                       Array2D<double>(kSpectra, kWave, 0.0)};
  double count = -static_cast<double>(kTrue * (kWave + kSpectra - kTrue));  ///< degrees of freedom

  explicit Sample(double sigma) {
    const loom::CounterRng rng(5, 1);
    for (std::size_t i = 0; i < kSpectra; ++i) {
      for (std::size_t j = 0; j < kWave; ++j) {
        for (std::size_t k = 0; k < kTrue; ++k) {
          const double d = (static_cast<double>(j) - 60 - 90 * static_cast<double>(k)) / 40;
          truth(i, j) += (0.2 + rng.uniform(10 * i + k)) * std::exp(-0.5 * d * d);
        }
        const bool missing = j / 100 == i % 3;
        seen.flux(i, j) = missing ? 777 : truth(i, j) + sigma * rng.normal(100000 + kWave * i + j);
        seen.weight(i, j) = missing ? 0 : 1 / (sigma * sigma);
        count += missing ? 0 : 1;
      }
    }
  }
  [[nodiscard]] double rms_error(const Basis& basis) const {
    double sum = 0;
    for (std::size_t i = 0; i < kSpectra; ++i) {
      for (std::size_t j = 0; j < kWave; ++j) {
        double r = truth(i, j);
        for (std::size_t a = 0; a < kTrue; ++a) r -= basis.coefficients(i, a) * basis.vectors(a, j);
        sum += r * r;
      }
    }
    return std::sqrt(sum / static_cast<double>(kSpectra * kWave));
  }
};

TEST(WeightedPca, FindsTheSpanFromSpectraWithGaps) {
  const Sample sample(0.01);
  const Basis basis = weighted_pca(sample.seen, {.nbasis = kTrue, .iterations = 40});
  EXPECT_LT(sample.rms_error(basis), 0.006) << "gaps are predicted better than the noise";
  EXPECT_NEAR(basis.chi2 / sample.count, 1, 0.08);
  for (std::size_t a = 0; a < kTrue; ++a) {
    double dot = 0, norm = 0;
    for (std::size_t j = 0; j < kWave; ++j) {
      dot += basis.vectors(a, j) * basis.vectors((a + 1) % kTrue, j);
      norm += basis.vectors(a, j) * basis.vectors(a, j);
    }
    EXPECT_NEAR(norm / kWave, 1, 1e-12);
    EXPECT_NEAR(dot / kWave, 0, 1e-6) << "principal axes are orthogonal";
  }
}

TEST(WeightedPca, IsExactWithoutNoiseAndGaps) {
  const Sample sample(0.01);
  const Basis basis = weighted_pca({sample.truth, {}}, {.nbasis = kTrue});
  EXPECT_LT(sample.rms_error(basis), 1e-7);
}

TEST(WeightedNmf, StaysAboveZeroAndFitsTheData) {
  const Sample sample(0.03);
  const Basis basis = weighted_nmf(sample.seen, {.nbasis = kTrue, .iterations = 30});
  for (std::size_t i = 0; i < basis.vectors.size(); ++i) EXPECT_GE(basis.vectors.data()[i], 0.0);
  for (std::size_t i = 0; i < basis.coefficients.size(); ++i) {
    EXPECT_GE(basis.coefficients.data()[i], 0.0);
  }
  EXPECT_NEAR(basis.chi2 / sample.count, 1, 0.1);
  EXPECT_LT(sample.rms_error(basis), 0.03);
}

TEST(WeightedPca, RefusesFewerSpectraThanVectors) {
  EXPECT_THROW((void)weighted_pca({Array2D<double>(2, 9, 1.0), {}}, {.nbasis = 3}), loom::Error);
  EXPECT_THROW(
      (void)weighted_nmf({Array2D<double>(4, 9, 1.0), Array2D<double>(4, 8, 1.0)}, {.nbasis = 3}),
      loom::Error);
}

}  // namespace
}  // namespace fiberloom::templates
