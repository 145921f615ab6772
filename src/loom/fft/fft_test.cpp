// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/fft.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numbers>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace loom::fft {
namespace {

using Number = std::complex<double>;

/// The sum as it is written down.
std::vector<Number> plain_transform(const std::vector<Number>& x, Sign sign) {
  const std::size_t n = x.size();
  std::vector<Number> out(n);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      const double angle = static_cast<int>(sign) * 2 * std::numbers::pi *
                           static_cast<double>((j * k) % n) / static_cast<double>(n);
      out[k] += x[j] * std::polar(1.0, angle);
    }
  }
  return out;
}

/// A batch of random problems: lane `lane`, element `j`.
template <class Real>
class Batch {
 public:
  Batch(std::size_t n, std::size_t step, std::size_t count)
      : values(n * step * kElement<Real>, std::numeric_limits<Real>::quiet_NaN()), count_(count) {
    const CounterRng rng(7, n);
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t i = 0; i < kElement<Real>; ++i) {
        values[j * step * kElement<Real> + i] =
            static_cast<Real>(rng.normal(j * kElement<Real> + i));
      }
    }
    step_ = step;
    length_ = n;
  }
  [[nodiscard]] std::vector<Number> problem(std::size_t lane) const {
    std::vector<Number> out(length_);
    for (std::size_t j = 0; j < count_; ++j) out[j] = at(values.data(), j * step_, lane);
    return out;
  }
  static Number at(const Real* data, std::size_t element, std::size_t lane) {
    const Real* const p = data + element * kElement<Real> + lane;
    return {p[0], p[kBatch<Real>]};
  }
  std::vector<Real> values;  ///< not a number wherever nothing may be read

 private:
  std::size_t count_, step_ = 1, length_ = 0;
};

template <class Real>
void expect_plain_sums(std::size_t n, Sign sign, std::size_t step, std::size_t count) {
  const Batch<Real> batch(n, step, count);
  for (const Isa isa : available_isas()) {
    const Plan<Real> plan(n, sign, isa);
    std::vector<Real> work(plan.work_size(), Real{7});
    const Real* const got = plan.run(batch.values.data(), step, count, work.data());
    const double eps = std::numeric_limits<Real>::epsilon();
    // of sums of n normal deviates; some 4 eps a pass
    const double limit =
        16 * eps * std::sqrt(static_cast<double>(n)) * (1 + std::log2(static_cast<double>(n)));
    for (const std::size_t lane : {std::size_t{0}, std::size_t{3}, kBatch<Real> - 1}) {
      const auto want = plain_transform(batch.problem(lane), sign);
      for (std::size_t k = 0; k < n; ++k) {
        ASSERT_LT(std::abs(Batch<Real>::at(got, k, lane) - want[k]), limit)
            << n << " " << k << " lane " << lane << " " << isa_name(isa);
      }
    }
  }
}

TEST(Fft, EveryLengthOf2And3And5IsThePlainSum) {
  for (std::size_t n = 1; n <= 128; ++n) {
    if (!is_length(n)) continue;
    expect_plain_sums<float>(n, Sign::kMinus, 1, n);
    expect_plain_sums<double>(n, Sign::kPlus, 1, n);
  }
}

TEST(Fft, LongOnesToo) {
  for (const std::size_t n : {512U, 768U, 1000U, 1024U}) {
    expect_plain_sums<float>(n, Sign::kPlus, 1, n);
    expect_plain_sums<double>(n, Sign::kMinus, 1, n);
  }
}

TEST(Fft, WhatIsPaddedIsNotReadAndCountsAsZero) {
  expect_plain_sums<float>(96, Sign::kPlus, 1, 41);
  expect_plain_sums<double>(64, Sign::kMinus, 1, 1);
  expect_plain_sums<float>(8, Sign::kPlus, 1, 0);
}

TEST(Fft, ElementsMayLieApart) {
  expect_plain_sums<float>(60, Sign::kPlus, 3, 60);
  expect_plain_sums<double>(45, Sign::kMinus, 7, 30);
}

TEST(Fft, ThereAndBackIsNTimesWhatItWas) {
  const std::size_t n = 2160;
  const Batch<double> batch(n, 1, n);
  const Plan<double> there(n, Sign::kMinus), back(n, Sign::kPlus);
  std::vector<double> a(there.work_size()), b(back.work_size());
  const double* const spectrum = there.run(batch.values.data(), 1, n, a.data());
  const double* const again = back.run(spectrum, 1, n, b.data());
  double worst = 0;
  for (std::size_t i = 0; i < n * kElement<double>; ++i) {
    worst = std::max(worst, std::abs(again[i] / static_cast<double>(n) - batch.values[i]));
  }
  EXPECT_LT(worst, 100 * std::numeric_limits<double>::epsilon());
}

TEST(Fft, LengthsAreTheNextGoodOnes) {
  EXPECT_TRUE(is_length(1));
  EXPECT_FALSE(is_length(0));
  EXPECT_FALSE(is_length(14));
  EXPECT_EQ(good_length(0), 2U);
  EXPECT_EQ(good_length(7), 8U);
  EXPECT_EQ(good_length(1025), 1080U);  // 1026 = 2 27 19, 1050 = 2 3 25 7, 1078 = 2 49 11
  EXPECT_EQ(good_length(2048), 2048U);
  EXPECT_THROW(Plan<float>(14, Sign::kPlus), Error);
}

}  // namespace
}  // namespace loom::fft
