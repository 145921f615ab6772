// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/long_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace loom::fft {
namespace {

using Numbers = std::vector<std::complex<double>>;

Numbers random_numbers(std::size_t n) {
  const CounterRng random(3, n);
  Numbers out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto two = random.normal2(i);
    out[i] = {two[0], two[1]};
  }
  return out;
}

Numbers transformed(const Numbers& x, Sign sign, Isa isa) {
  const LongPlan plan(x.size(), sign, isa);
  std::vector<double> data(2 * x.size()), work(plan.work_size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    data[LongPlan::place(i)] = x[i].real();
    data[LongPlan::place(i) + kLanes] = x[i].imag();
  }
  plan.run(data.data(), work.data());
  std::vector<double> real(x.size()), imaginary(x.size());
  plan.take(data.data(), LongPlan::Part::kReal, 0, real);
  plan.take(data.data(), LongPlan::Part::kImaginary, 0, imaginary);
  Numbers out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = {real[i], imaginary[i]};
  return out;
}

/// The short transform of the same numbers, which has a test of its own.
Numbers batched(const Numbers& x, Sign sign) {
  const Plan<double> plan(x.size(), sign);
  std::vector<double> data(x.size() * kElement<double>, 0.0), work(plan.work_size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    data[i * kElement<double>] = x[i].real();
    data[i * kElement<double> + kLanes] = x[i].imag();
  }
  const double* const result = plan.run(data.data(), 1, x.size(), work.data());
  Numbers out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = {result[i * kElement<double>], result[i * kElement<double> + kLanes]};
  }
  return out;
}

TEST(LongPlan, AgreesWithTheShortTransformOnEveryLevel) {
  for (const std::size_t n : {64U, 128U, 256U, 4096U, 32768U}) {
    const Numbers x = random_numbers(n);
    for (const Sign sign : {Sign::kMinus, Sign::kPlus}) {
      const Numbers expected = batched(x, sign);
      const double scale = std::sqrt(static_cast<double>(n));
      for (const Isa isa : available_isas()) {
        const Numbers found = transformed(x, sign, isa);
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i) {
          worst = std::max(worst, std::abs(found[i] - expected[i]) / scale);
        }
        EXPECT_LT(worst, 1e-14) << n << " " << isa_name(isa);
      }
    }
  }
}

TEST(LongPlan, BothWaysIsTheIdentity) {
  constexpr std::size_t kLength = std::size_t{1} << 17;
  const Numbers x = random_numbers(kLength);
  const Numbers back =
      transformed(transformed(x, Sign::kMinus, active_isa()), Sign::kPlus, active_isa());
  for (std::size_t i = 0; i < kLength; i += 97) {
    EXPECT_LT(std::abs(back[i] / static_cast<double>(kLength) - x[i]), 1e-14);
  }
}

TEST(LongPlan, AnyStretchOfTheResultCanBeTaken) {
  constexpr std::size_t kLength = 2048;
  const LongPlan plan(kLength, Sign::kPlus);
  std::vector<double> data(2 * kLength), work(plan.work_size()), whole(kLength);
  const CounterRng random(5, 7);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = random.normal2(i)[0];
  plan.run(data.data(), work.data());
  plan.take(data.data(), LongPlan::Part::kImaginary, 0, whole);
  for (const std::size_t first : {0U, 1U, 31U, 500U, 2047U}) {
    for (const std::size_t n : {0U, 1U, 7U, 8U, 300U, 1548U}) {
      if (first + n > kLength) continue;
      std::vector<double> part(n);
      plan.take(data.data(), LongPlan::Part::kImaginary, first, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<long>(first)))
          << first << " " << n;
    }
  }
}

TEST(LongPlan, RefusesOtherLengths) {
  for (const std::size_t n : {0U, 32U, 96U, 1000U}) {
    EXPECT_FALSE(LongPlan::is_length(n));
    EXPECT_THROW(LongPlan(n, Sign::kPlus), Error);
  }
}

}  // namespace
}  // namespace loom::fft
