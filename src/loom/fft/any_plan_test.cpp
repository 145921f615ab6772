// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/any_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "loom/base/rng.hpp"

namespace loom::fft {
namespace {

template <class Real>
void is_the_sum_it_stands_for(std::size_t n, Sign sign, double tolerance) {
  constexpr std::size_t kWide = kElement<Real>, kLanesOf = kBatch<Real>;
  const AnyPlan<Real> plan(n, sign);
  std::vector<Real> in(n * kWide), work(plan.work_size());
  const CounterRng rng(7, n);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<Real>(rng.uniform(i) - 0.5);
  const Real* const out = plan.run(in.data(), work.data());
  double worst = 0, most = 0;
  for (const std::size_t lane : {std::size_t{0}, kLanesOf - 1}) {
    for (std::size_t k = 0; k < n; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const double turn = static_cast<double>(j * k % n) / static_cast<double>(n);
        sum += std::complex<double>(in[j * kWide + lane], in[j * kWide + lane + kLanesOf]) *
               std::polar(1.0, static_cast<int>(sign) * 2 * std::numbers::pi * turn);
      }
      const std::complex<double> got(out[k * kWide + lane], out[k * kWide + lane + kLanesOf]);
      worst = std::max(worst, std::abs(got - sum));
      most = std::max(most, std::abs(sum));
    }
  }
  EXPECT_LT(worst, tolerance * most) << n;
}

TEST(AnyPlan, IsTheSumItStandsForAtEveryLength) {
  for (const std::size_t n : {1, 2, 3, 7, 11, 14, 60, 77, 127, 128, 251}) {
    for (const Sign sign : {Sign::kMinus, Sign::kPlus}) {
      is_the_sum_it_stands_for<double>(n, sign, 4e-15 * (1 + std::log2(n)));
      is_the_sum_it_stands_for<float>(n, sign, 8e-7F * (1 + std::log2(n)));
    }
  }
}

}  // namespace
}  // namespace loom::fft
