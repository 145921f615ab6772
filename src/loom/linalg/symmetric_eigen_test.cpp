// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/symmetric_eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/rng.hpp"

namespace loom {
namespace {

TEST(SymmetricEigen, PutsTheMatrixTogetherAgain) {
  constexpr std::size_t kSize = 40;
  const CounterRng rng(3, 1);
  Array2D<double> a(kSize, kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = i; j < kSize; ++j) a(i, j) = a(j, i) = rng.normal(kSize * i + j);
  }
  const SymmetricEigen e = symmetric_eigen(a);
  double worst = 0, crooked = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    for (std::size_t j = 0; j < kSize; ++j) {
      double sum = 0, dot = 0;
      for (std::size_t k = 0; k < kSize; ++k) {
        sum += e.values[k] * e.vectors(k, i) * e.vectors(k, j);
        dot += e.vectors(i, k) * e.vectors(j, k);
      }
      worst = std::max(worst, std::abs(sum - a(i, j)));
      crooked = std::max(crooked, std::abs(dot - (i == j ? 1 : 0)));
    }
  }
  EXPECT_LT(worst, 1e-12);
  EXPECT_LT(crooked, 1e-13);
  EXPECT_TRUE(std::is_sorted(e.values.rbegin(), e.values.rend()));
}

TEST(SymmetricEigen, TakesZeroAndEqualEigenvalues) {
  Array2D<double> a(3, 3, 0.0);
  EXPECT_EQ(symmetric_eigen(a).values, (std::vector<double>{0, 0, 0}));
  a(0, 0) = a(1, 1) = a(2, 2) = 2;
  const SymmetricEigen e = symmetric_eigen(a);
  EXPECT_EQ(e.values, (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(e.vectors(0, 0), 1.0);
}

}  // namespace
}  // namespace loom
