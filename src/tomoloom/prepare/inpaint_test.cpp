// SPDX-License-Identifier: BSD-3-Clause
// What is made up for missing values: against the rules, one pixel at a time, and against the
// truth.
#include "tomoloom/prepare/inpaint.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"

namespace tomoloom {
namespace {

struct Gap {
  InpaintShape shape;
  std::vector<float> values;
  std::unique_ptr<bool[]> mask;
  [[nodiscard]] std::span<const bool> marked() const { return {mask.get(), values.size()}; }
};

/// A smooth volume between 1 and 3, noise in it, and a mask of a slab and of some single pixels.
Gap make_gap(const InpaintShape& shape, double noise) {
  const CounterRng random(7, 0);
  Gap gap{shape, std::vector<float>(shape.size()), std::make_unique<bool[]>(shape.size())};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t z = i / (shape.rows * shape.columns), y = i / shape.columns % shape.rows,
                      x = i % shape.columns;
    const auto part = [](std::size_t at, std::size_t n) {
      return static_cast<double>(at) / static_cast<double>(n);
    };
    const double smooth =
        2 + 0.6 * part(x, shape.columns) - 0.3 * part(y, shape.rows) + 0.2 * part(z, shape.planes);
    const auto [u, v] = random.uniform2(i);
    gap.values[i] = static_cast<float>(smooth + noise * (u - 0.5));
    gap.mask[i] = (x >= 8 && x < 13) || v < 0.02;
  }
  return gap;
}

std::vector<float> inpainted(const Gap& gap, const InpaintChoice& choice, Isa isa = active_isa(),
                             Executor& executor = serial_executor()) {
  std::vector<float> out = gap.values;
  inpaint(out, gap.marked(), gap.shape, choice, executor, isa);
  return out;
}

/// Values (not 0) around a pixel, columns outermost.
std::vector<std::pair<double, double>> window(const std::vector<double>& from,
                                              const InpaintShape& shape, std::size_t at,
                                              std::ptrdiff_t reach) {
  const std::size_t plane = shape.rows * shape.columns;
  const auto z = static_cast<std::ptrdiff_t>(at / plane),
             y = static_cast<std::ptrdiff_t>(at % plane / shape.columns),
             x = static_cast<std::ptrdiff_t>(at % shape.columns);
  const std::ptrdiff_t deep = shape.planes > 1 ? reach : 0;
  const double side = 2 * static_cast<double>(reach) + 1;
  std::vector<std::pair<double, double>> out;  // value, weight
  for (std::ptrdiff_t i = -reach; i <= reach; ++i) {
    for (std::ptrdiff_t j = -reach; j <= reach; ++j) {
      for (std::ptrdiff_t k = -deep; k <= deep; ++k) {
        if (x + i < 0 || x + i >= static_cast<std::ptrdiff_t>(shape.columns) || y + j < 0 ||
            y + j >= static_cast<std::ptrdiff_t>(shape.rows) || z + k < 0 ||
            z + k >= static_cast<std::ptrdiff_t>(shape.planes)) {
          continue;
        }
        const double value = from[((z + k) * shape.rows + (y + j)) * shape.columns + (x + i)];
        const double d2 = static_cast<double>(i * i + j * j + k * k);
        const double size = std::pow(side, shape.planes > 1 ? 3 : 2);
        if (value != 0) out.emplace_back(value, std::exp(-d2 / (2 * size)));
      }
    }
  }
  return out;
}

double value_of(const std::vector<std::pair<double, double>>& found, Inpaint kind, bool volume) {
  if (kind == Inpaint::kMean) {
    double values = 0, weights = 0;
    for (const auto& [v, w] : found) {
      values += w * v;
      weights += w;
    }
    return values / weights;
  }
  std::vector<double> sorted;
  for (const auto& [v, w] : found) sorted.push_back(v);
  // of planes the last value is not sorted in
  std::sort(sorted.begin(), volume ? sorted.end() : sorted.end() - 1);
  return sorted[sorted.size() / 2];
}

/// kMean and kMedian as inpaint() says them.
std::vector<double> plainly_inpainted(const Gap& gap, const InpaintChoice& choice) {
  const bool volume = gap.shape.planes > 1;
  std::vector<double> values(gap.values.begin(), gap.values.end());
  std::vector<bool> open(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    open[i] = gap.mask[i];
    if (open[i]) values[i] = 0;
  }
  const auto round = [&](const std::vector<bool>& which) {
    const std::vector<double> old = values;
    bool any = false;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (!which[i] || window(old, gap.shape, i, 1).empty()) continue;
      values[i] = value_of(window(old, gap.shape, i, static_cast<std::ptrdiff_t>(choice.reach)),
                           choice.kind, volume);
      open[i] = false;
      any = true;
    }
    return any;
  };
  while (round(open)) {
  }
  for (std::size_t pass = 0; pass < choice.passes; ++pass) {
    round(std::vector<bool>(gap.mask.get(), gap.mask.get() + values.size()));
  }
  return values;
}

constexpr InpaintShape kPlane{.planes = 1, .rows = 19, .columns = 24};
constexpr InpaintShape kVolume{.planes = 6, .rows = 11, .columns = 21};

TEST(Inpaint, FollowsItsRulesOnEveryLevel) {
  for (const InpaintShape& shape : {kPlane, kVolume}) {
    const Gap gap = make_gap(shape, 0.5);
    for (const Inpaint kind : {Inpaint::kMean, Inpaint::kMedian}) {
      for (const std::size_t reach : {1, 2, 4, 9}) {
        const InpaintChoice choice{.kind = kind, .reach = reach, .passes = reach % 3};
        const std::vector<double> expected = plainly_inpainted(gap, choice);
        for (const Isa isa : available_isas()) {
          const std::vector<float> found = inpainted(gap, choice, isa);
          for (std::size_t i = 0; i < found.size(); ++i) {
            // means of a few hundred values in single precision, one of another for each round
            ASSERT_NEAR(found[i], expected[i], 20 * std::numeric_limits<float>::epsilon() * 3)
                << isa_name(isa) << ", reach " << reach << ", value " << i;
          }
        }
      }
    }
  }
}

TEST(Inpaint, LeavesWhatIsNotMarked) {
  Gap gap = make_gap(kVolume, 0.5);
  gap.values[3] = 0;
  gap.values[5] = std::numeric_limits<float>::quiet_NaN();
  gap.values[100] = std::numeric_limits<float>::infinity();
  gap.mask[3] = gap.mask[5] = gap.mask[100] = false;
  gap.mask[4] = true;
  for (const Inpaint kind : {Inpaint::kMean, Inpaint::kMedian, Inpaint::kRandom}) {
    const std::vector<float> found = inpainted(gap, {.kind = kind, .reach = 3});
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (gap.mask[i]) {
        ASSERT_TRUE(std::isfinite(found[i]) && found[i] > 1) << i;
      } else if (i == 5) {
        ASSERT_TRUE(std::isnan(found[i]));
      } else {
        ASSERT_EQ(found[i], gap.values[i]) << i;
      }
    }
  }
}

TEST(Inpaint, GivesWhatIsSmoothBackNearlyAsItWas) {
  for (const InpaintShape& shape : {kPlane, kVolume}) {
    const Gap gap = make_gap(shape, 0);
    for (const Inpaint kind : {Inpaint::kMean, Inpaint::kMedian, Inpaint::kRandom}) {
      const std::vector<float> found = inpainted(gap, {.kind = kind, .reach = 2});
      double squares = 0, count = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!gap.mask[i]) continue;
        squares += std::pow(static_cast<double>(found[i] - gap.values[i]), 2);
        ++count;
      }
      // as much as values change over two pixels, where the rim is three away
      EXPECT_LT(std::sqrt(squares / count), 0.06) << static_cast<int>(kind);
    }
  }
}

TEST(Inpaint, DrawsValuesThatAreThereEachAsOften) {
  // one pixel that sees as many of 1 as of 3, and some of 0: none
  constexpr std::size_t kSide = 61;
  const InpaintShape shape{.planes = 1, .rows = kSide, .columns = kSide};
  std::size_t counts[3] = {};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::vector<float> values(shape.size(), 0);
    const auto mask = std::make_unique<bool[]>(shape.size());
    const std::size_t middle = shape.size() / 2;
    mask[middle] = true;
    for (std::size_t d = 1; d <= 12; ++d) {
      values[middle - d] = 1;
      values[middle + d] = 3;
    }
    // smoothing makes the mean of 1, what was drawn and 3 of it
    inpaint(values, {mask.get(), shape.size()}, shape,
            {.kind = Inpaint::kRandom, .reach = 30, .passes = 0, .seed = seed}, serial_executor());
    const double drawn = 3 * static_cast<double>(values[middle]) - 4;
    ASSERT_NEAR(drawn, std::round(drawn), 1e-5);
    ASSERT_TRUE(drawn > 0.5 && drawn < 3.5) << drawn;
    ++counts[static_cast<std::size_t>(std::round(drawn)) - 1];
  }
  EXPECT_NEAR(static_cast<double>(counts[0]), 100, 35);  // four standard deviations
  EXPECT_NEAR(static_cast<double>(counts[1]), 200, 40);
  EXPECT_NEAR(static_cast<double>(counts[2]), 100, 35);
}

TEST(Inpaint, IsTheSameForAnyNumberOfThreadsAndAnotherForAnotherSeed) {
  const Gap gap = make_gap({.planes = 8, .rows = 40, .columns = 30}, 0.5);
  for (const Inpaint kind : {Inpaint::kMean, Inpaint::kMedian, Inpaint::kRandom}) {
    const std::vector<float> one = inpainted(gap, {.kind = kind, .reach = 3});
    for (const std::size_t threads : {2, 5}) {
      EXPECT_EQ(inpainted(gap, {.kind = kind, .reach = 3}, active_isa(), *make_executor(threads)),
                one);
    }
  }
  const InpaintChoice first{.kind = Inpaint::kRandom, .reach = 3, .seed = 1};
  InpaintChoice second = first;
  second.seed = 2;
  EXPECT_NE(inpainted(gap, first), inpainted(gap, second));
}

TEST(InpaintPlanes, AreEachAPlaneByItself) {
  const Gap gap = make_gap(kVolume, 0.5);
  const InpaintChoice choice{.kind = Inpaint::kMedian, .reach = 2};
  std::vector<float> all = gap.values;
  inpaint_planes(all, gap.marked(), gap.shape, choice, *make_executor(3));
  const InpaintShape shape{.planes = 1, .rows = gap.shape.rows, .columns = gap.shape.columns};
  for (std::size_t p = 0; p < gap.shape.planes; ++p) {
    const auto begin = gap.values.begin() + static_cast<std::ptrdiff_t>(p * shape.size());
    std::vector<float> plane(begin, begin + static_cast<std::ptrdiff_t>(shape.size()));
    inpaint(plane, gap.marked().subspan(p * shape.size(), shape.size()), shape, choice,
            serial_executor());
    EXPECT_TRUE(std::equal(plane.begin(), plane.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(p * shape.size())));
  }
}

TEST(Inpaint, OfWhatHasNothingAroundItIsZero) {
  const InpaintShape shape{.planes = 2, .rows = 3, .columns = 4};
  std::vector<float> values(shape.size(), 5);
  const auto mask = std::make_unique<bool[]>(shape.size());
  std::fill_n(mask.get(), shape.size(), true);
  inpaint(values, {mask.get(), shape.size()}, shape, {}, serial_executor());
  EXPECT_EQ(values, std::vector<float>(shape.size(), 0));
}

}  // namespace
}  // namespace tomoloom
