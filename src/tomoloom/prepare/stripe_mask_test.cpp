// SPDX-License-Identifier: BSD-3-Clause
// The mask of stripes against its rules, one value at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/prepare/mirrored_window.hpp"
#include "tomoloom/prepare/stripe_search.hpp"

namespace tomoloom {
namespace {

using Flags = std::vector<int>;

Flags mask_of(const std::vector<float>& weights, const StackShape& s,
              const StripeMaskChoice& choice, Executor& executor = serial_executor()) {
  const auto mask = std::make_unique<bool[]>(s.size());
  stripe_mask(weights, s, choice, {mask.get(), s.size()}, executor);
  return {mask.get(), mask.get() + s.size()};
}

/// Flags along one axis: places `step` apart, `n` of them, around number `at` of flag i.
struct Line {
  const Flags& flags;
  std::size_t i, at, n, step;

  [[nodiscard]] int flag(std::ptrdiff_t offset) const {
    const std::size_t to = MirroredWindow::place(at, offset, n);
    return flags[i + to * step - at * step];
  }
  [[nodiscard]] int count(std::ptrdiff_t reach) const {
    int sum = 0;
    for (std::ptrdiff_t d = -reach; d <= reach; ++d) sum += flag(d);
    return sum;
  }
  [[nodiscard]] bool closed(std::ptrdiff_t reach) const {
    bool before = false, after = false;
    for (std::ptrdiff_t d = 0; d <= reach; ++d) {
      before = before || flag(-d) != 0;
      after = after || flag(d) != 0;
    }
    return before && after;
  }
};

Flags plain_mask(const std::vector<float>& weights, const StackShape& s,
                 const StripeMaskChoice& choice) {
  Flags flags;
  for (const float w : weights) flags.push_back(w <= static_cast<float>(choice.threshold) ? 1 : 0);
  enum class Axis { kOfAngles, kOfRows, kOfColumns };
  const auto line = [&](const Flags& of, std::size_t i, Axis axis) {
    const std::size_t plane = s.rows * s.columns;
    if (axis == Axis::kOfAngles) return Line{of, i, i / plane, s.angles, plane};
    if (axis == Axis::kOfRows) return Line{of, i, i % plane / s.columns, s.rows, s.columns};
    return Line{of, i, i % s.columns, s.columns, 1};
  };
  const auto keep = [&](const auto& stays) {
    const Flags old = flags;
    for (std::size_t i = 0; i < old.size(); ++i) flags[i] = old[i] != 0 && stays(old, i) ? 1 : 0;
  };
  const auto share = [&](std::size_t n) {
    return static_cast<int>(choice.sensitivity * 0.01 * static_cast<double>(n) + 1e-9);
  };
  const auto half = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n / 2); };
  if (choice.min_depth > 0) {
    keep([&](const Flags& old, std::size_t i) {
      return line(old, i, Axis::kOfRows).count(half(choice.min_depth)) <= share(choice.min_depth);
    });
  }
  const std::ptrdiff_t length = half(choice.min_length);
  keep([&](const Flags& old, std::size_t i) {
    return line(old, i, Axis::kOfAngles).count(length) >= share(choice.min_length);
  });
  keep([&](const Flags& old, std::size_t i) {
    return line(old, i, Axis::kOfAngles).count(length) >= length;
  });
  for (std::size_t round = 0; round < choice.min_width; ++round) {
    const Flags old = flags;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (line(old, i, Axis::kOfColumns).closed(half(choice.min_width)) ||
          line(old, i, Axis::kOfAngles).closed(static_cast<std::ptrdiff_t>(2 * choice.min_width))) {
        flags[i] = 1;
      }
    }
  }
  return flags;
}

/// Long lines of small weights here and there, and noise.
std::vector<float> striped_weights(const StackShape& s, std::uint64_t seed) {
  const CounterRng random(seed, 0), chosen(seed, 1);
  std::vector<float> out(s.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t column = i % (s.rows * s.columns), angle = i / (s.rows * s.columns);
    const auto [rare, begin] = chosen.uniform2(column);
    const double from = 0.6 * begin * static_cast<double>(s.angles);
    const bool stripe = rare < 0.15 && static_cast<double>(angle) >= from;
    out[i] = static_cast<float>(random.uniform(i) * (stripe ? 0.65 : 4.0));
  }
  return out;
}

TEST(StripeMask, FollowsItsRules) {
  const StackShape shape{.angles = 40, .rows = 12, .columns = 50};
  const std::vector<float> weights = striped_weights(shape, 1);
  for (const StripeMaskChoice choice :
       {StripeMaskChoice{0.6, 20, 10, 5, 85}, StripeMaskChoice{0.6, 10, 0, 5, 85},
        StripeMaskChoice{0.5, 7, 3, 2, 60}, StripeMaskChoice{0.6, 39, 11, 9, 100},
        StripeMaskChoice{0.7, 1, 1, 1, 10}, StripeMaskChoice{0.6, 5, 4, 49, 30}}) {
    const Flags expected = plain_mask(weights, shape, choice);
    const Flags found = mask_of(weights, shape, choice);
    ASSERT_EQ(found, expected) << "length " << choice.min_length << ", depth " << choice.min_depth
                               << ", width " << choice.min_width;
  }
}

TEST(StripeMask, OfSmallStacksFollowsItsRules) {
  for (const StackShape shape : {StackShape{2, 1, 2}, StackShape{3, 2, 3}, StackShape{5, 1, 30},
                                 StackShape{30, 1, 4}, StackShape{4, 9, 3}}) {
    const std::vector<float> weights = striped_weights(shape, 2);
    const StripeMaskChoice choice{.threshold = 0.6,
                                  .min_length = shape.angles - 1,
                                  .min_depth = shape.rows - 1,
                                  .min_width = shape.columns - 1,
                                  .sensitivity = 50};
    EXPECT_EQ(mask_of(weights, shape, choice), plain_mask(weights, shape, choice))
        << shape.angles << " x " << shape.rows << " x " << shape.columns;
  }
}

TEST(StripeMask, HasTheStripeAndNothingElse) {
  const StackShape shape{.angles = 60, .rows = 15, .columns = 40};
  std::vector<float> weights(shape.size(), 0.9F);
  for (std::size_t a = 0; a < shape.angles; ++a) {
    for (const std::size_t x : {20, 23}) {  // both edges of a stripe
      weights[(a * shape.rows + 7) * shape.columns + x] = 0.1F;
    }
    for (std::size_t r = 0; r < shape.rows; ++r) {  // the body's edge: in all rows
      weights[(a * shape.rows + r) * shape.columns + 5] = 0.1F;
    }
  }
  weights[(30 * shape.rows + 2) * shape.columns + 33] = 0.1F;  // too short
  const Flags found = mask_of(weights, shape, {});
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t x = i % shape.columns, r = i / shape.columns % shape.rows;
    EXPECT_EQ(found[i], r == 7 && x >= 20 && x <= 23 ? 1 : 0) << "row " << r << ", column " << x;
  }
}

TEST(StripeMask, OfWeightsThatAreNoNumbersIsEmpty) {
  const StackShape shape{.angles = 6, .rows = 3, .columns = 8};
  const std::vector<float> none(shape.size(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(mask_of(none, shape, {0.6, 3, 2, 3, 85}), Flags(shape.size(), 0));
}

TEST(StripeMask, IsTheSameForAnyNumberOfThreads) {
  const StackShape shape{.angles = 30, .rows = 11, .columns = 30};
  const std::vector<float> weights = striped_weights(shape, 3);
  const StripeMaskChoice choice{.threshold = 0.6, .min_length = 10, .min_depth = 5, .min_width = 4};
  const Flags one = mask_of(weights, shape, choice);
  EXPECT_NE(std::count(one.begin(), one.end(), 1), 0);
  for (const std::size_t threads : {2, 5}) {
    EXPECT_EQ(mask_of(weights, shape, choice, *make_executor(threads)), one);
  }
}

}  // namespace
}  // namespace tomoloom
