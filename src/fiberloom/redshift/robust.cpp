// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/robust.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace fiberloom::redshift {
namespace {

/// Surroundings of a spike: so many pixels on either side, but for the nearest.
constexpr long kFar = 7;
/// Of what the narrowest line gives its neighbours, what a spike may have at most.
constexpr double kShare = 0.6;
/// A spike need not be narrow as surely as it is high.
constexpr double kNarrow = 0.6;

/// Pixels [first, first + width) as one spike: its height above the surroundings and what stands
/// beside it, against what R would put there.
bool is_spike(const Block& b, long first, long width, double nsig, std::vector<double>& around) {
  const auto n = static_cast<long>(b.pixels);
  const long low = first - 1, high = first + width;
  const auto reach = static_cast<long>(b.ndiag / 2);  // nearer to the ends rows have lost light
  if (low < reach || high >= n - reach) return false;
  const auto weight = [&](long i) { return b.weight[static_cast<std::size_t>(i)]; };
  const auto flux = [&](long i) { return b.flux[static_cast<std::size_t>(i)]; };
  if (!(weight(low) > 0) || !(weight(high) > 0)) return false;
  around.clear();
  for (long d = 2; d <= kFar; ++d) {
    for (const long i : {first - d, first + width - 1 + d}) {
      if (i >= 0 && i < n && weight(i) > 0) around.push_back(flux(i));
    }
  }
  if (around.size() < 6) return false;
  double mean = 0, variance = 0;
  for (long i = first; i < high; ++i) {
    if (!(weight(i) > 0)) return false;
    mean += flux(i) / static_cast<double>(width);
    variance += 1 / weight(i) / static_cast<double>(width * width);
  }
  const double highest_base = mean - nsig * std::sqrt(variance);
  const auto below =
      std::count_if(around.begin(), around.end(), [&](double f) { return f < highest_base; });
  if (2 * below <= static_cast<long>(around.size())) return false;  // nor is their median
  const double base = median_of(around), height = mean - base;
  // What a line in the middle of the pixel, or between the two, gives its neighbours; of a Gaussian
  // the second is the square of the first.
  const double* row = b.rows.data() + static_cast<std::size_t>(first) * b.ndiag;
  const std::size_t half = b.ndiag / 2;
  const double beside = std::min(row[half - 1], row[half + 1]) / row[half];
  const double share = kShare * (width == 1 ? beside : beside * beside);
  const double found = 0.5 * (flux(low) + flux(high)) - base;
  const double error = 0.25 * (1 / weight(low) + 1 / weight(high)) + share * share * variance;
  return found - share * height < -kNarrow * nsig * std::sqrt(error);
}

}  // namespace

double median_of(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::size_t drop_hot_pixels(Block& block, double nsig) {
  if (block.ndiag < 3 || !(nsig > 0)) return 0;
  std::vector<std::size_t> hot;
  std::vector<double> around;
  for (std::size_t i = 0; i < block.pixels; ++i) {
    if (!(block.weight[i] > 0) || !(block.rows[i * block.ndiag + block.ndiag / 2] > 0)) continue;
    const auto at = static_cast<long>(i);
    if (is_spike(block, at, 1, nsig, around)) {
      hot.push_back(i);
    } else if (is_spike(block, at, 2, nsig, around)) {
      hot.push_back(i);
      hot.push_back(i + 1);
    }
  }
  for (const std::size_t i : hot) block.weight[i] = block.flux[i] = 0;
  return hot.size();
}

void widen_sky_lines(Block& block, std::span<const double> usual, double share) {
  if (!(share > 0)) return;
  for (std::size_t i = 0; i < block.pixels; ++i) {
    const double v = block.weight[i] > 0 ? 1 / block.weight[i] : 0;
    if (!(usual[i] > 0) || !(v > usual[i])) continue;
    const double excess = share * (v / usual[i] - 1);
    block.weight[i] = 1 / (v + usual[i] * excess * excess);
  }
}

}  // namespace fiberloom::redshift
