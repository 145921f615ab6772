// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/rings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tomoloom/prepare/stripe_kernels.hpp"

namespace tomoloom {
namespace {

/// Circles of radius -margin ... radii - 1 + margin (those below 0 go on beyond the middle), each
/// of as many turns as the outermost has pixels, in whole packs.
struct Polar {
  std::size_t radii = 0, margin = 0, turns = 0;
  std::vector<float> values;
  Polar(std::size_t n, std::size_t width)
      : radii(n / 2 + 1),
        margin(width),
        turns(
            (static_cast<std::size_t>(std::numbers::pi * static_cast<double>(n)) / kRankLanes + 1) *
            kRankLanes),
        values((radii + 2 * margin) * turns) {}
  [[nodiscard]] float* circle(std::size_t r) { return &values[(r + margin) * turns]; }
};

/// The value between the four pixels around a place; those beyond an edge are those at the edge.
float between(std::span<const float> slice, std::size_t n, double row, double column) {
  const double last = static_cast<double>(n) - 1;
  row = std::clamp(row, 0.0, last);
  column = std::clamp(column, 0.0, last);
  const auto r = std::min(static_cast<std::size_t>(row), n - 2);
  const auto c = std::min(static_cast<std::size_t>(column), n - 2);
  const auto down = static_cast<float>(row - static_cast<double>(r));
  const auto right = static_cast<float>(column - static_cast<double>(c));
  const float* const at = &slice[r * n + c];
  const float above = at[0] + right * (at[1] - at[0]);
  const float below = at[n] + right * (at[n + 1] - at[n]);
  return above + down * (below - above);
}

Polar to_polar(std::span<const float> slice, std::size_t n, double middle_row, double middle_column,
               std::size_t width) {
  Polar polar(n, width);
  for (std::size_t t = 0; t < polar.turns; ++t) {
    const double turn =
        2 * std::numbers::pi * static_cast<double>(t) / static_cast<double>(polar.turns);
    const double down = std::sin(turn), right = std::cos(turn);
    for (std::size_t i = 0; i < polar.radii + 2 * width; ++i) {
      const double radius = static_cast<double>(i) - static_cast<double>(width);
      polar.values[i * polar.turns + t] =
          between(slice, n, middle_row + radius * down, middle_column + radius * right);
    }
  }
  return polar;
}

/// Takes the running median along the radius away.
void take_median(Polar& polar) {
  const StripeKernels& kernels = stripe_kernels();
  const std::size_t size = 2 * polar.margin + 1;
  std::vector<float> smooth(polar.values.size()), window(size * kRankLanes);
  for (std::size_t t = 0; t < polar.turns; t += kRankLanes) {
    kernels.running_medians(&polar.values[t], polar.radii + 2 * polar.margin, polar.turns, size,
                            window.data(), &smooth[t]);
  }
  for (std::size_t i = 0; i < smooth.size(); ++i) polar.values[i] -= smooth[i];
}

/// Averages along each circle over `reach` turns to either side. What is beyond the threshold is
/// the body's and does not count; where less than half counts there is no ring.
void average_along(Polar& polar, std::size_t reach, double threshold) {
  const auto most = static_cast<float>(threshold);
  const std::size_t turns = polar.turns;
  std::vector<double> sum(3 * turns + 1, 0), count(3 * turns + 1, 0);
  for (std::size_t r = 0; r < polar.radii; ++r) {
    float* const circle = polar.circle(r);
    for (std::size_t i = 0; i < 3 * turns; ++i) {
      const float value = circle[i % turns];
      const bool counts = threshold <= 0 || std::abs(value) <= most;
      sum[i + 1] = sum[i] + (counts ? static_cast<double>(value) : 0);
      count[i + 1] = count[i] + (counts ? 1 : 0);
    }
    for (std::size_t t = 0; t < turns; ++t) {
      const std::size_t end = turns + t + reach + 1, first = turns + t - reach;
      const double counted = count[end] - count[first];
      const bool enough = 2 * counted >= static_cast<double>(end - first);
      circle[t] = enough ? static_cast<float>((sum[end] - sum[first]) / counted) : 0;
    }
  }
}

}  // namespace

void remove_rings(std::span<float> slice, std::size_t n, double middle_row, double middle_column,
                  const RingChoice& choice) {
  if (choice.width == 0 || n < 8) return;
  Polar rings = to_polar(slice, n, middle_row, middle_column, choice.width);
  take_median(rings);
  const auto turns = static_cast<double>(rings.turns);
  average_along(rings, static_cast<std::size_t>(turns * std::min(choice.arc_deg, 180.0) / 360),
                choice.threshold);
  const auto last = static_cast<double>(rings.radii - 1);
  for (std::size_t row = 0; row < n; ++row) {
    const double down = static_cast<double>(row) - middle_row;
    for (std::size_t column = 0; column < n; ++column) {
      const double right = static_cast<double>(column) - middle_column;
      const double radius = std::hypot(down, right);
      if (radius > last) continue;
      const double turn = std::atan2(down, right) / (2 * std::numbers::pi) * turns;
      const double at = turn < 0 ? turn + turns : turn;
      const auto r = std::min(static_cast<std::size_t>(radius), rings.radii - 2);
      const auto t = static_cast<std::size_t>(at) % rings.turns;
      const std::size_t next = (t + 1) % rings.turns;
      const auto out = static_cast<float>(radius - static_cast<double>(r));
      const auto on = static_cast<float>(at - std::floor(at));
      const float* const inner = rings.circle(r);
      const float* const outer = rings.circle(r + 1);
      const float near = inner[t] + on * (inner[next] - inner[t]);
      const float far = outer[t] + on * (outer[next] - outer[t]);
      slice[row * n + column] -= near + out * (far - near);
    }
  }
}

std::size_t remove_rings_bytes(std::size_t n, const RingChoice& choice) noexcept {
  if (choice.width == 0) return 0;
  const std::size_t turns = 4 * n + kRankLanes;
  return 2 * (n / 2 + 1 + 2 * choice.width) * turns * sizeof(float) + 6 * turns * sizeof(double) +
         (2 * choice.width + 1) * kRankLanes * sizeof(float);
}

}  // namespace tomoloom
