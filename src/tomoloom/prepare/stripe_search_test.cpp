// SPDX-License-Identifier: BSD-3-Clause
// Weights of stripes against the plain sums and sorted windows that they are.
#include "tomoloom/prepare/stripe_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/prepare/mirrored_window.hpp"

namespace tomoloom {
namespace {

std::vector<float> noise(std::size_t n, std::uint64_t seed) {
  const CounterRng random(seed, 0);
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(random.uniform(i));
  return out;
}

std::size_t place(std::size_t at, std::ptrdiff_t offset, std::size_t n) {
  return MirroredWindow::place(at, offset, n);
}

/// As stripe_weights() says it, in double, one value at a time.
std::vector<double> plain_weights(const std::vector<float>& p, const StackShape& s,
                                  const StripeSearch& search) {
  const auto index = [&](std::size_t a, std::size_t r, std::size_t x) {
    return (a * s.rows + r) * s.columns + x;
  };
  const auto slope = [&](std::size_t a, std::size_t r, std::size_t x) {
    if (x + 2 >= s.columns && x < 2) return 0.0;
    const std::size_t other = x + 2 < s.columns ? x + 2 : x - 2;
    return std::abs(static_cast<double>(p[index(a, r, other)]) -
                    static_cast<double>(p[index(a, r, x)]));
  };
  const auto ratio = [](double a, double b) {
    return std::max(a, b) > 0 ? std::min(a, b) / std::max(a, b) : 0;
  };
  const auto reach = static_cast<std::ptrdiff_t>(search.radius);
  std::vector<double> ratios(s.size()), out(s.size());
  for (std::size_t a = 0; a < s.angles; ++a) {
    for (std::size_t r = 0; r < s.rows; ++r) {
      for (std::size_t x = 0; x < s.columns; ++x) {
        double along = 0, before = 0, after = 0;
        for (std::ptrdiff_t i = -reach; i <= reach; ++i) {
          for (std::ptrdiff_t j = -reach; j <= reach; ++j) {
            along += slope(place(a, i, s.angles), place(r, j, s.rows), x);
          }
        }
        for (std::ptrdiff_t j = -1; j <= 1; ++j) {
          for (std::ptrdiff_t m = 1; m <= reach; ++m) {
            before += slope(a, place(r, j, s.rows), place(x, -m, s.columns));
            after += slope(a, place(r, j, s.rows), place(x, m, s.columns));
          }
        }
        along /= std::pow(2 * static_cast<double>(reach) + 1, 2);
        before /= 3 * static_cast<double>(reach);
        after /= 3 * static_cast<double>(reach);
        ratios[index(a, r, x)] = std::min(ratio(along, before), ratio(along, after));
      }
    }
  }
  const auto size = static_cast<std::ptrdiff_t>(search.size);
  for (std::size_t a = 0; a < s.angles; ++a) {
    for (std::size_t k = 0; k < s.rows * s.columns; ++k) {
      std::vector<double> window;
      for (std::ptrdiff_t i = -size; i <= size; ++i) {
        window.push_back(ratios[place(a, i, s.angles) * s.rows * s.columns + k]);
      }
      std::sort(window.begin(), window.end());
      out[a * s.rows * s.columns + k] = window[search.size - 1];
    }
  }
  return out;
}

std::vector<float> weights_of(const std::vector<float>& p, const StackShape& s,
                              const StripeSearch& search, Isa isa = active_isa(),
                              Executor& executor = serial_executor()) {
  std::vector<float> out(s.size());
  stripe_weights(p, s, search, out, executor, isa);
  return out;
}

TEST(MirroredWindow, LosesAndGainsWhatTheNextWindowHas) {
  for (const std::size_t n : {1, 2, 5, 12, 30}) {
    for (const std::size_t reach : {0, 1, 3, 6, 40}) {
      const MirroredWindow window(n, reach);
      std::map<std::size_t, int> own;
      for (const std::uint32_t at : window.first()) ++own[at];
      for (std::size_t i = 0; i < n; ++i) {
        for (const WindowExchange& e : window.to(i)) {
          ++own[e.come];
          if (--own[e.gone] == 0) own.erase(e.gone);
        }
        std::map<std::size_t, int> expected;
        const auto half = static_cast<std::ptrdiff_t>(reach);
        for (std::ptrdiff_t d = -half; d <= half; ++d) ++expected[place(i, d, n)];
        ASSERT_EQ(own, expected) << n << " places, reach " << reach << ", place " << i;
      }
    }
  }
}

TEST(StripeWeights, AreThePlainSumsAndRanksOnEveryLevel) {
  const StackShape shape{.angles = 23, .rows = 6, .columns = 45};
  const std::vector<float> p = noise(shape.size(), 1);
  for (const StripeSearch search :
       {StripeSearch{1, 1}, StripeSearch{5, 2}, StripeSearch{11, 3}, StripeSearch{4, 7}}) {
    const std::vector<double> expected = plain_weights(p, shape, search);
    for (const Isa isa : available_isas()) {
      const std::vector<float> found = weights_of(p, shape, search, isa);
      for (std::size_t i = 0; i < found.size(); ++i) {
        // a sum of k terms in single precision, a ratio of two of them
        const double bound = std::numeric_limits<float>::epsilon() *
                             static_cast<double>(4 * search.radius * search.radius + 20);
        ASSERT_NEAR(found[i] / expected[i], 1, bound)
            << isa_name(isa) << ", size " << search.size << ", radius " << search.radius;
      }
    }
  }
}

TEST(StripeWeights, AreThereOfStacksThatAreSmallerThanTheWindows) {
  for (const StackShape shape : {StackShape{2, 1, 1}, StackShape{3, 1, 2}, StackShape{8, 2, 5},
                                 StackShape{2, 40, 3}, StackShape{5, 1, 17}}) {
    const StripeSearch search{.size = shape.angles / 2, .radius = 6};
    const std::vector<float> p = noise(shape.size(), 2);
    const std::vector<double> expected = plain_weights(p, shape, search);
    const std::vector<float> found = weights_of(p, shape, search);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], expected[i], 2e-5)
          << shape.angles << " x " << shape.rows << " x " << shape.columns;
    }
  }
}

TEST(StripeWeights, AreSmallAtTheEdgesOfAStripeAndNotElsewhere) {
  const StackShape shape{.angles = 60, .rows = 9, .columns = 64};
  std::vector<float> p = noise(shape.size(), 3);
  for (float& v : p) v = 1 + 0.01F * v;
  for (std::size_t a = 0; a < shape.angles; ++a) {
    for (std::size_t x = 30; x < 34; ++x) p[(a * shape.rows + 4) * shape.columns + x] += 0.5F;
  }
  const std::vector<float> found = weights_of(p, shape, {.size = 10, .radius = 1});
  for (std::size_t a = 0; a < shape.angles; ++a) {
    const float* const line = &found[(a * shape.rows + 4) * shape.columns];
    EXPECT_LT(std::min(line[28], line[29]), 0.15F) << a;
    EXPECT_LT(std::min(line[32], line[33]), 0.15F) << a;
    for (const std::size_t x : {5, 15, 45, 60}) EXPECT_GT(line[x], 0.3F) << a << ", column " << x;
  }
}

TEST(StripeWeights, OfWhatDoesNotVaryAreZero) {
  const StackShape shape{.angles = 8, .rows = 3, .columns = 20};
  const std::vector<float> flat(shape.size(), -2.5F);
  EXPECT_EQ(weights_of(flat, shape, {.size = 3, .radius = 2}),
            std::vector<float>(shape.size(), 0.0F));
}

TEST(StripeWeights, AreTheSameBytesForAnyNumberOfThreads) {
  const StackShape shape{.angles = 20, .rows = 13, .columns = 33};
  const std::vector<float> p = noise(shape.size(), 4);
  const std::vector<float> one = weights_of(p, shape, {.size = 6, .radius = 3});
  for (const std::size_t threads : {2, 5}) {
    EXPECT_EQ(weights_of(p, shape, {.size = 6, .radius = 3}, active_isa(), *make_executor(threads)),
              one);
  }
}

TEST(StripedColumns, AreThoseOffTheLineOfMostSortedFactors) {
  std::vector<double> factors;
  for (std::size_t x = 0; x < 200; ++x) factors.push_back(1 + 0.001 * static_cast<double>(x % 17));
  factors[50] = 3;
  factors[120] = 0.2;
  const std::vector<bool> found = striped_columns(factors, 3);
  for (std::size_t x = 0; x < factors.size(); ++x) EXPECT_EQ(found[x], x == 50 || x == 120) << x;
}

TEST(StripedColumns, AreNoneOfFewFactors) {
  for (std::size_t n = 0; n < 4; ++n) {
    const std::vector<bool> found = striped_columns(std::vector<double>(n, 1), 3);
    EXPECT_EQ(std::count(found.begin(), found.end(), true), 0) << n;
  }
}

}  // namespace
}  // namespace tomoloom
