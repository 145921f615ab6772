// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/centre_entropy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/reconstruct/shift_rows.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kBars = 64;
/// Steps of the search, each around the best of the one before.
constexpr std::array kEntropySteps{2.0, 0.25, 0.05};

/// One row's slices with the axis elsewhere.
class Trials {
 public:
  Trials(const StackView& rows, std::size_t columns, std::span<const double> theta, double middle)
      : rows_(rows),
        columns_(columns),
        angles_(theta.size()),
        middle_(middle),
        plan_(plan_exact(
            {.columns = columns, .theta = {theta.begin(), theta.end()}, .centre = middle}, {})),
        engine_(plan_) {}

  /// Entropy of each; the histogram's range comes from the first trials.
  std::vector<double> entropies(std::span<const double> axes, Executor& executor) {
    const std::size_t count = axes.size(), n = columns_;
    std::vector<float> moved(angles_ * count * n), slices(count * n * n);
    std::vector<double> shift, out(count);
    for (const double axis : axes) shift.push_back(middle_ - axis);
    for (std::size_t a = 0; a < angles_; ++a) {
      for (std::size_t s = 0; s < count; ++s) {
        std::copy_n(rows_.data + a * rows_.angle_stride, n, moved.data() + (a * count + s) * n);
      }
    }
    shift_rows(moved, n, shift, executor);
    engine_.reconstruct(
        {.data = moved.data(), .slices = count, .angle_stride = count * n, .slice_stride = n},
        {.data = slices.data(), .slice_stride = n * n, .row_stride = n}, executor);
    if (!(low_ < high_)) find_range(slices);
    executor.run(count, [&](std::size_t s) {
      out[s] = entropy({slices.data() + s * n * n, n * n});
    });
    return out;
  }

 private:
  /// Calls each(value) within the circle.
  template <class Each>
  void within(std::span<const float> slice, const Each& each) const {
    const double half = (static_cast<double>(columns_) - 1) / 2, most = half * half;
    for (std::size_t r = 0; r < columns_; ++r) {
      const double v = static_cast<double>(r) - half;
      for (std::size_t c = 0; c < columns_; ++c) {
        const double u = static_cast<double>(c) - half;
        if (u * u + v * v <= most) each(static_cast<double>(slice[r * columns_ + c]));
      }
    }
  }
  void find_range(std::span<const float> slices) {
    low_ = std::numeric_limits<double>::infinity();
    high_ = -low_;
    for (std::size_t at = 0; at < slices.size(); at += columns_ * columns_) {
      within(slices.subspan(at, columns_ * columns_), [&](double value) {
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
      });
    }
  }
  [[nodiscard]] double entropy(std::span<const float> slice) const {
    std::array<double, kBars> bars{};
    double all = 0;
    const double scale = high_ > low_ ? kBars / (high_ - low_) : 0;
    within(slice, [&](double value) {
      const double at = std::clamp((value - low_) * scale, 0.0, kBars - 1.0);
      ++bars[static_cast<std::size_t>(at)];
      ++all;
    });
    double sum = 0;
    for (const double bar : bars) {
      if (bar > 0) sum -= bar / all * std::log2(bar / all);
    }
    return sum;
  }

  StackView rows_;
  std::size_t columns_, angles_;
  double middle_;
  GridPlan plan_;
  DirectEngine engine_;
  double low_ = 0, high_ = 0;
};

}  // namespace

double find_centre_by_entropy(const StackView& rows, std::size_t columns,
                              std::span<const double> theta, double low, double high,
                              Executor& executor, const std::function<void()>& before) {
  Trials trials(rows, columns, theta, (low + high) / 2);
  double best = (low + high) / 2, from = low, to = high;
  for (const double step : kEntropySteps) {
    // from the middle outward: the histogram's range comes from likely axes
    std::vector<double> axes{best};
    for (double away = step; best - away >= from || best + away <= to; away += step) {
      if (best - away >= from) axes.push_back(best - away);
      if (best + away <= to) axes.push_back(best + away);
    }
    double least = std::numeric_limits<double>::infinity(), found = best;
    for (std::size_t i = 0; i < axes.size(); i += kSlicesPerGroup) {
      if (before) before();
      const std::span<const double> group =
          std::span<const double>(axes).subspan(i, std::min(kSlicesPerGroup, axes.size() - i));
      const std::vector<double> entropies = trials.entropies(group, executor);
      const auto at = std::min_element(entropies.begin(), entropies.end());
      if (*at >= least) continue;
      least = *at;
      found = group[static_cast<std::size_t>(at - entropies.begin())];
    }
    best = found;
    from = std::max(low, best - step);
    to = std::min(high, best + step);
  }
  return best;
}

}  // namespace tomoloom
