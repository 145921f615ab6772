// SPDX-License-Identifier: BSD-3-Clause
// Against the dense square root by eigenvectors, in bands that kernels have and in wider ones.
#include "loom/linalg/banded_root.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loom/base/rng.hpp"
#include "loom/linalg/symmetric_eigen.hpp"

namespace loom {
namespace {

constexpr double kLow = 0.05, kHigh = 40;

/// Positive definite, eigenvalues in [kLow, kHigh]: a dominant diagonal.
Array2D<double> matrix(std::size_t n, std::size_t band) {
  Array2D<double> out(band + 1, n, 0.0);
  const CounterRng rng(11, n + 100 * band);
  for (std::size_t d = 0; d <= band; ++d) {
    for (std::size_t j = 0; j + d < n; ++j) {
      out(d, j) = d == 0 ? 5 + 3 * rng.uniform(j)
                         : (2 * rng.uniform(d * n + j) - 1) / static_cast<double>(band);
    }
  }
  return out;
}

std::vector<double> some_numbers(std::size_t n) {
  std::vector<double> y;
  for (std::size_t j = 0; j < n; ++j) y.push_back(std::cos(static_cast<double>(j)));
  return y;
}

BandedRoot root_of(const Array2D<double>& a, std::size_t half) {
  RootSpace space;
  return banded_root(a, some_numbers(a.cols()), half, rational_root(kLow, kHigh, 20), space);
}

struct RootShape {
  std::size_t n, band, half;
};

class RootOfOneMatrix : public testing::TestWithParam<RootShape> {};

TEST_P(RootOfOneMatrix, IsTheDenseOne) {
  const auto [n, band, half] = GetParam();
  const Array2D<double> a = matrix(n, band);
  Array2D<double> dense(n, n, 0.0);
  for (std::size_t d = 0; d <= band; ++d) {
    for (std::size_t j = 0; j + d < n; ++j) dense(j, j + d) = dense(j + d, j) = a(d, j);
  }
  const SymmetricEigen x = symmetric_eigen(dense);
  const std::vector<double> y = some_numbers(n);
  Array2D<double> q(n, n, 0.0);
  std::vector<double> sums(n, 0.0), along(n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    ASSERT_GT(x.values[k], kLow);
    ASSERT_LT(x.values[k], kHigh);
    double projection = 0;
    for (std::size_t i = 0; i < n; ++i) projection += x.vectors(k, i) * y[i];
    for (std::size_t i = 0; i < n; ++i) {
      along[i] += x.vectors(k, i) * projection / std::sqrt(x.values[k]);
      for (std::size_t j = 0; j < n; ++j) {
        const double v = x.vectors(k, i) * std::sqrt(x.values[k]) * x.vectors(k, j);
        q(i, j) += v;
        sums[i] += v;
      }
    }
  }
  const BandedRoot found = root_of(a, half);
  ASSERT_TRUE(found.definite);
  for (std::size_t j = 0; j < n; ++j) {
    EXPECT_NEAR(found.sums[j], sums[j], 1e-10) << j;
    EXPECT_NEAR(found.along[j], along[j], 1e-10) << j;
    for (std::size_t d = 0; d <= half; ++d) {
      EXPECT_NEAR(found.q(d, j), j + d < n ? q(j, j + d) : 0.0, 1e-10) << d << " " << j;
    }
  }
}

// narrower than its band; with a kernel's band, and padded to one; wider than any kernel
INSTANTIATE_TEST_SUITE_P(Shapes, RootOfOneMatrix,
                         testing::Values(RootShape{5, 12, 3}, RootShape{90, 8, 8},
                                         RootShape{90, 11, 5}, RootShape{90, 3, 14},
                                         RootShape{90, 40, 20}, RootShape{90, 70, 30}));

TEST(BandedRoot, IsTheSameInASpaceThatWasUsedBefore) {
  const Array2D<double> a = matrix(50, 11), other = matrix(80, 20);
  const std::vector<double> y = some_numbers(50);
  const RationalRoot poles = rational_root(kLow, kHigh, 12);
  RootSpace fresh, used;
  static_cast<void>(banded_root(other, some_numbers(80), 9, poles, used));
  const BandedRoot first = banded_root(a, y, 6, poles, fresh),
                   second = banded_root(a, y, 6, poles, used);
  EXPECT_EQ(first.sums, second.sums);
  EXPECT_EQ(first.along, second.along);
  EXPECT_TRUE(std::equal(first.q.data(), first.q.data() + first.q.size(), second.q.data()));
}

TEST(BandedRoot, SaysWhereThereIsNone) {
  for (const std::size_t band : {11U, 70U}) {
    for (const double bad : {-50.0, std::numeric_limits<double>::quiet_NaN()}) {
      Array2D<double> a = matrix(90, band);
      a(0, 40) = bad;
      EXPECT_FALSE(root_of(a, 5).definite) << band << " " << bad;
    }
  }
}

}  // namespace
}  // namespace loom
