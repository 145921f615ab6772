// SPDX-License-Identifier: BSD-3-Clause
// Each operation against a dense matrix, for both types, with fewer bins than diagonals too.
#include "fiberloom/spectrum/banded.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

using Dense = Array2D<double>;

struct Shape {
  std::size_t ndiag, n;
};
constexpr Shape kShapes[] = {{1, 1}, {1, 6}, {3, 8}, {11, 40}, {11, 4}, {5, 1}, {7, 2}};

/// Stored diagonals of numbers between 0 and 1; NaN where the row lies outside the matrix, as no
/// operation may read there.
template <class T>
Array2D<T> random_bands(Shape shape, std::uint64_t seed) {
  const CounterRng rng(seed, 0);
  Array2D<T> out(shape.ndiag, shape.n);
  for (std::size_t k = 0; k < shape.ndiag; ++k) {
    for (std::size_t j = 0; j < shape.n; ++j) {
      const bool inside = j + k >= shape.ndiag / 2 && j + k - shape.ndiag / 2 < shape.n;
      const double value = 0x1p-32 * static_cast<double>(rng.block(k * shape.n + j)[0]);
      out(k, j) = inside ? static_cast<T>(value) : std::numeric_limits<T>::quiet_NaN();
    }
  }
  return out;
}

std::vector<double> random_vector(std::size_t n, std::uint64_t seed) {
  const Array2D<double> numbers = random_bands<double>({1, n}, seed);
  return {numbers.data(), numbers.data() + n};
}

/// By the definition: R[j + k - ndiag/2, j] = stored (k, j).
template <class T>
Dense dense(const Array2D<T>& bands) {
  const std::size_t n = bands.cols();
  Dense out(n, n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t k = i + bands.rows() / 2 - j;  // wraps where i lies too far above
      if (k < bands.rows()) out(i, j) = static_cast<double>(bands(k, j));
    }
  }
  return out;
}

void expect_near(const Dense& got, const Dense& want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got.data()[i], want.data()[i], tolerance) << i;
  }
}

template <class T>
class BandedMatrix : public testing::Test {
 protected:
  /// Of sums of at most 40 numbers below 1, and of results rounded to T.
  static constexpr double kTolerance =
      std::is_same_v<T, float> ? 1e-7 : 40 * std::numeric_limits<double>::epsilon();
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(BandedMatrix, Types);

TYPED_TEST(BandedMatrix, TimesAVectorAndTransposedTimesAVector) {
  for (const Shape shape : kShapes) {
    const auto bands = random_bands<TypeParam>(shape, 1);
    const Dense r = dense(bands);
    const auto x = random_vector(shape.n, 2);
    std::vector<double> y(shape.n, -9), z(shape.n, -9);
    multiply(banded(bands), x, std::span<double>(y));
    multiply_transposed(banded(bands), x, std::span<double>(z));
    const auto sums = row_sums(banded(bands));
    for (std::size_t i = 0; i < shape.n; ++i) {
      double want_y = 0, want_z = 0, want_sum = 0;
      for (std::size_t j = 0; j < shape.n; ++j) {
        want_y += r(i, j) * x[j];
        want_z += r(j, i) * x[j];
        want_sum += r(i, j);
      }
      EXPECT_NEAR(y[i], want_y, 1e-14) << shape.ndiag << " x " << shape.n;
      EXPECT_NEAR(z[i], want_z, 1e-14) << shape.ndiag << " x " << shape.n;
      EXPECT_NEAR(sums[i], want_sum, 1e-14) << shape.ndiag << " x " << shape.n;
    }
  }
}

TYPED_TEST(BandedMatrix, IsScaledFromEitherSide) {
  for (const Shape shape : kShapes) {
    auto left = random_bands<TypeParam>(shape, 3);
    auto right = left;
    Dense by_rows = dense(left), by_columns = by_rows;
    const auto d = random_vector(shape.n, 4);
    for (std::size_t i = 0; i < shape.n; ++i) {
      for (std::size_t j = 0; j < shape.n; ++j) {
        by_rows(i, j) *= d[i];
        by_columns(i, j) *= d[j];
      }
    }
    scale_rows(banded(left), d);
    scale_columns(banded(right), d);
    expect_near(dense(left), by_rows, this->kTolerance);
    expect_near(dense(right), by_columns, this->kTolerance);
  }
}

TYPED_TEST(BandedMatrix, IsTransposedAndBackAgain) {
  for (const Shape shape : kShapes) {
    const auto bands = random_bands<TypeParam>(shape, 5);
    const Dense r = dense(bands);
    const auto transposed = transpose(banded(bands));
    Dense want(shape.n, shape.n);
    for (std::size_t i = 0; i < shape.n; ++i) {
      for (std::size_t j = 0; j < shape.n; ++j) want(i, j) = r(j, i);
    }
    expect_near(dense(transposed), want, 0);
    expect_near(dense(transpose(banded(transposed))), r, 0);
  }
}

TYPED_TEST(BandedMatrix, MeansByRowWeightAreThoseOfDenseMatricesWhateverTheirWidths) {
  constexpr std::size_t kN = 12;
  const Array2D<TypeParam> all[] = {random_bands<TypeParam>({11, kN}, 6),
                                    random_bands<TypeParam>({5, kN}, 7),
                                    random_bands<TypeParam>({1, kN}, 8)};
  std::vector<std::vector<double>> weights;
  for (std::uint64_t e = 0; e < 3; ++e) weights.push_back(random_vector(kN, 10 + e));
  for (auto& w : weights) w[4] = 0;  // a bin that nobody has seen
  weights[1][7] = 0;
  std::vector<RowWeighted<TypeParam>> parts;
  for (std::size_t e = 0; e < 3; ++e) parts.push_back({banded(all[e]), weights[e]});

  const Array2D<double> mean = row_weighted_mean<TypeParam>(parts);

  Dense want(kN, kN, 0.0);
  for (std::size_t i = 0; i < kN; ++i) {
    const double sum = weights[0][i] + weights[1][i] + weights[2][i];
    for (std::size_t j = 0; j < kN && sum > 0; ++j) {
      for (std::size_t e = 0; e < 3; ++e) want(i, j) += weights[e][i] / sum * dense(all[e])(i, j);
    }
  }
  EXPECT_EQ(mean.rows(), 11U);
  expect_near(dense(mean), want, 1e-15);
}

// What the row weights are for: the mean of spectra of one truth is R of the mean times the truth.
TYPED_TEST(BandedMatrix, MeanByRowWeightIsTheResolutionOfTheWeightedMean) {
  constexpr std::size_t kN = 30;
  const auto truth = random_vector(kN, 20);
  std::vector<double> sum(kN, 0.0), flux(kN, 0.0);
  std::vector<Array2D<TypeParam>> matrices;
  std::vector<std::vector<double>> ivar;
  for (std::uint64_t e = 0; e < 4; ++e) {
    matrices.push_back(random_bands<TypeParam>({7, kN}, 30 + e));
    ivar.push_back(random_vector(kN, 40 + e));
  }
  std::vector<RowWeighted<TypeParam>> parts;
  for (std::size_t e = 0; e < 4; ++e) {
    parts.push_back({banded(matrices[e]), ivar[e]});
    std::vector<double> seen(kN);
    multiply(banded(matrices[e]), truth, std::span<double>(seen));
    for (std::size_t i = 0; i < kN; ++i) sum[i] += ivar[e][i], flux[i] += ivar[e][i] * seen[i];
  }
  const Array2D<double> mean = row_weighted_mean<TypeParam>(parts);
  std::vector<double> expected(kN);
  multiply(banded(mean), truth, std::span<double>(expected));
  for (std::size_t i = 0; i < kN; ++i) EXPECT_NEAR(expected[i], flux[i] / sum[i], 1e-14) << i;
}

TYPED_TEST(BandedMatrix, WeightedGramIsTheDenseOne) {
  for (const Shape shape : kShapes) {
    const auto bands = random_bands<TypeParam>(shape, 50);
    const Dense r = dense(bands);
    const auto w = random_vector(shape.n, 51);
    const Array2D<double> a = weighted_gram(banded(bands), w);
    for (std::size_t j = 0; j < shape.n; ++j) {
      for (std::size_t i = j; i < shape.n; ++i) {
        double want = 0;
        for (std::size_t row = 0; row < shape.n; ++row) want += r(row, i) * w[row] * r(row, j);
        EXPECT_NEAR(i - j < shape.ndiag ? a(i - j, j) : 0.0, want, 1e-14) << i << " " << j;
      }
    }
    for (std::size_t d = 1; d < std::min(shape.ndiag, shape.n); ++d) {
      EXPECT_EQ(a(d, shape.n - d), 0) << "beyond the end";
    }
  }
}

TEST(Banded, SeesTheMatrixOfOneSpectrumAmongMany) {
  Array3D<float> all(3, 5, 4, 0.0F);
  all(1, 3, 2) = 2;  // R[3, 2] of the second
  const std::vector<double> x{1, 1, 10, 1};
  std::vector<double> y(4);
  multiply(banded(all, 1), x, std::span<double>(y));
  EXPECT_EQ(y, (std::vector<double>{0, 0, 0, 20}));
  scale_rows(banded(all, 1), std::vector<double>{1, 1, 1, 0.5});
  EXPECT_EQ(all(1, 3, 2), 1);
}

}  // namespace
}  // namespace fiberloom
