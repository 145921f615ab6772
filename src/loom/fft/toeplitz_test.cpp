// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/toeplitz.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/base/rng.hpp"

namespace loom::fft {
namespace {

std::vector<double> some_lags(std::size_t reach) {
  std::vector<double> out(reach + 1, 2.0);
  for (std::size_t k = 1; k <= reach; ++k) {
    out[k] = -0.24 * std::exp(-0.3 * static_cast<double>(k));
  }
  return out;
}

TEST(ToeplitzFilter, IsTheSumOverItsLags) {
  for (const std::size_t reach : {0U, 1U, 20U, 300U}) {
    const std::vector<double> lags = some_lags(reach);
    const ToeplitzFilter filter(lags);
    ToeplitzWork work;
    for (const std::size_t n : {1U, 2U, 63U, 64U, 1000U, 20000U}) {
      std::vector<double> x(n), y(n, NAN);
      const CounterRng random(3, n);
      for (std::size_t i = 0; i < n; ++i) x[i] = random.normal(i);
      filter.apply(x, y, work);
      for (std::size_t i = 0; i < n; i += 1 + n / 100) {
        double sum = 0;
        for (std::size_t j = i > reach ? i - reach : 0; j < std::min(n, i + reach + 1); ++j) {
          sum += lags[i > j ? i - j : j - i] * x[j];
        }
        ASSERT_NEAR(y[i], sum, 1e-13) << reach << " " << n << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace loom::fft
