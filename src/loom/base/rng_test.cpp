// SPDX-License-Identifier: BSD-3-Clause
// Numbers that any thread may draw: equal wherever they are equal by definition, unlike elsewhere.
#include "loom/base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace loom {
namespace {

constexpr std::uint64_t kDraws = 20000;

/// The largest distance of the draws' distribution from `expected`, in units of 1 / sqrt(n).
template <class Expected>
double kolmogorov(std::vector<double> draws, Expected expected) {
  std::sort(draws.begin(), draws.end());
  const auto n = static_cast<double>(draws.size());
  double worst = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double f = expected(draws[i]), below = static_cast<double>(i) / n;
    worst = std::max({worst, std::abs(f - below), std::abs(f - below - 1 / n)});
  }
  return worst * std::sqrt(n);
}

std::vector<double> uniforms(const CounterRng& rng, std::size_t which) {
  std::vector<double> u;
  for (std::uint64_t i = 0; i < kDraws; ++i) u.push_back(rng.uniform2(i)[which]);
  return u;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - 0.5) * (b[i] - 0.5);
  return 12 * sum / static_cast<double>(a.size());
}

TEST(CounterRng, IsAFunctionOfSeedStreamAndIndexAlone) {
  const CounterRng a(5, 9), b(5, 9);
  EXPECT_EQ(a.block(1ULL << 40), b.block(1ULL << 40));
  EXPECT_EQ(a.uniform(3), a.uniform2(3)[0]);
  EXPECT_EQ(a.normal(3), a.normal2(3)[0]);
}

TEST(CounterRng, DiffersInEveryBitOfSeedStreamAndIndex) {
  std::set<std::array<std::uint32_t, 4>> seen{CounterRng(0, 0).block(0)};
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = 1ULL << bit;
    seen.insert(CounterRng(one, 0).block(0));
    seen.insert(CounterRng(0, one).block(0));
    seen.insert(CounterRng(0, 0).block(one));
  }
  EXPECT_EQ(seen.size(), 1U + 3 * 64);
}

TEST(CounterRng, UniformsFillTheOpenIntervalEvenly) {
  constexpr double kOnceInAMillion = 2.6;
  for (const std::size_t which : {0U, 1U}) {
    const std::vector<double> u = uniforms(CounterRng(11, 2), which);
    EXPECT_GT(*std::min_element(u.begin(), u.end()), 0);
    EXPECT_LT(*std::max_element(u.begin(), u.end()), 1);
    EXPECT_LT(kolmogorov(u, [](double x) { return x; }), kOnceInAMillion);
  }
}

TEST(CounterRng, NormalsAreNormal) {
  const CounterRng rng(1, 2);
  std::vector<double> first, second;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    first.push_back(rng.normal2(i)[0]);
    second.push_back(rng.normal2(i)[1]);
  }
  const auto cumulative = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  EXPECT_LT(kolmogorov(first, cumulative), 2.6);
  EXPECT_LT(kolmogorov(second, cumulative), 2.6);
  double product = 0;
  for (std::size_t i = 0; i < first.size(); ++i) product += first[i] * second[i];
  EXPECT_LT(std::abs(product), 5 * std::sqrt(static_cast<double>(kDraws))) << "the two of an index";
}

TEST(CounterRng, NeighboursAreIndependent) {
  const double most = 5 / std::sqrt(static_cast<double>(kDraws));
  const std::vector<double> u = uniforms(CounterRng(4, 4), 0);
  EXPECT_LT(std::abs(correlation(u, uniforms(CounterRng(4, 4), 1))), most) << "of one index";
  EXPECT_LT(std::abs(correlation(u, uniforms(CounterRng(4, 5), 0))), most) << "streams";
  EXPECT_LT(std::abs(correlation(u, uniforms(CounterRng(5, 4), 0))), most) << "seeds";
  std::vector<double> next(u.begin() + 1, u.end());
  next.push_back(u.front());
  EXPECT_LT(std::abs(correlation(u, next)), most) << "indices";
}

}  // namespace
}  // namespace loom
