// SPDX-License-Identifier: BSD-3-Clause
// The loops of every level that this machine has against the plain ones, to the byte.
#include "fiberloom/calibrate/wide_loops.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "loom/base/rng.hpp"

namespace fiberloom::calibrate {
namespace {

std::vector<double> numbers(std::size_t n, std::uint64_t seed) {
  std::vector<double> out;
  const loom::CounterRng rng(seed, seed);
  for (std::size_t i = 0; i < n; ++i) out.push_back(rng.uniform(i) - 0.5);
  return out;
}
std::vector<float> diagonals(std::size_t size, std::uint64_t seed) {
  std::vector<float> out;
  for (const double v : numbers(size, seed)) out.push_back(static_cast<float>(v));
  return out;
}

class WideLoopsTest : public testing::Test {
 protected:
  const WideLoops& loops_ = wide_loops(loom::active_isa());
};

TEST_F(WideLoopsTest, ProductsAreThoseOfTheBandedAlgebra) {
  for (const std::size_t ndiag : {1U, 3U, 11U, 13U}) {
    for (const std::size_t n : {1U, 4U, 11U, 200U}) {
      const std::vector<float> r = diagonals(ndiag * n, ndiag + n);
      const std::vector<double> x = numbers(n, 7);
      const Banded<const float> matrix{r.data(), ndiag, n};
      std::vector<double> want(n), got(n, -1.0);
      multiply(matrix, std::span<const double>(x), std::span<double>(want));
      multiply_wide(matrix, x, got);
      EXPECT_EQ(got, want) << ndiag << " diagonals, " << n << " bins";
    }
  }
}

TEST_F(WideLoopsTest, ABlocksSumsAreTakenInTheOrderOfTheStoredRows) {
  for (const long ndiag : {3L, 11L}) {
    constexpr long kColumns = 37;
    const long pitch = kColumns + ndiag;
    std::vector<double> seen = numbers(static_cast<std::size_t>(ndiag * pitch), 1);
    std::vector<double> weighted = numbers(static_cast<std::size_t>(ndiag * pitch), 2);
    const std::vector<double> data = numbers(static_cast<std::size_t>(pitch), 3);
    std::vector<double> a = numbers(static_cast<std::size_t>(ndiag * 50), 4), want = a;
    std::vector<double> y = numbers(kColumns, 5), want_y = y;
    std::vector<long> ends;
    for (long d = 0; d < ndiag; ++d) ends.push_back(kColumns - 2 * d);
    const BlockView view{ndiag, pitch, kColumns, seen.data(), weighted.data()};
    loops_.gram(view, ends.data(), a.data(), 50);
    loops_.project(view, data.data(), y.data());
    const auto at = [](const auto& v, long i) { return v[static_cast<std::size_t>(i)]; };
    for (long d = 0; d < ndiag; ++d) {
      for (long j = 0; j < at(ends, d); ++j) {
        double& sum = want[static_cast<std::size_t>(d * 50 + j)];
        for (long k = d; k < ndiag; ++k) {
          sum += at(weighted, k * pitch + j) * at(seen, (k - d) * pitch + j + d);
        }
      }
    }
    for (long j = 0; j < kColumns; ++j) {
      for (long k = 0; k < ndiag; ++k) {
        want_y[static_cast<std::size_t>(j)] += at(weighted, k * pitch + j) * at(data, j + k);
      }
    }
    EXPECT_EQ(a, want);
    EXPECT_EQ(y, want_y);
  }
}

TEST_F(WideLoopsTest, ARowIsScaledByWhatIsThere) {
  const std::vector<float> r = diagonals(21, 1);
  const std::vector<double> shape = numbers(21, 2), gain = numbers(21, 3), weight = numbers(21, 4);
  std::vector<double> seen(21), weighted(21);
  loops_.load(21, r.data(), shape.data(), gain.data(), weight.data(), seen.data(), weighted.data());
  for (std::size_t j = 0; j < 21; ++j) {
    EXPECT_EQ(seen[j], static_cast<double>(r[j]) * shape[j] * gain[j]);
    EXPECT_EQ(weighted[j], seen[j] * weight[j]);
  }
  loops_.load(21, r.data(), nullptr, nullptr, weight.data(), seen.data(), weighted.data());
  for (std::size_t j = 0; j < 21; ++j) EXPECT_EQ(seen[j], static_cast<double>(r[j]));
}

TEST_F(WideLoopsTest, TheMeanOfMatricesIsTheirSumOverTheirNumber) {
  Array3D<float> all(3, 2, 5);
  for (std::size_t i = 0; i < all.size(); ++i) all.data()[i] = static_cast<float>(i);
  const Array2D<float> mean = mean_matrix(all);
  for (std::size_t i = 0; i < mean.size(); ++i)
    EXPECT_EQ(mean.data()[i], static_cast<float>(i + 10));
}

}  // namespace
}  // namespace fiberloom::calibrate
