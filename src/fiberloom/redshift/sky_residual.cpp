// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/sky_residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fiberloom::redshift {
namespace {

/// The variance between the lines is its lower quartile over so many pixels on either side. Bands
/// of oxygen are 115 pixels wide (8600-8700 Angstrom): a median of 101 took them for continuum.
constexpr long kUsualHalf = 150;
constexpr double kUsualShare = 0.25;
constexpr long kLeastPixels = 200;    ///< a shorter spectrum cannot tell a sky from chance
constexpr long kEvery = 10;           ///< a quantile is slow, and changes slowly
constexpr long kSmoothHalf = 12;      ///< what is wider than these pixels is the object's
constexpr long kNoiseHalf = 100;      ///< pixels that say how rough the object is there
constexpr double kGaussian = 0.6745;  ///< median of |noise| / sigma
constexpr double kSoft = 2.5;         ///< sigma beyond which a pixel counts less and less
/// Sigma above which narrow light is the object's: its own noise makes it stand out in the
/// variance, and a share of that is no residual of the sky.
constexpr double kOwnLight = 10;
constexpr int kRounds = 8;
/// This share of the pixels with twice the usual variance makes a sky. Where a bright object's own
/// light is most of the variance there are fewer, and what stands out there is the object's.
constexpr double kLeastShare = 0.01;
/// Less above the usual variance may be the object's own light: it is not as narrow and bright.
constexpr double kLeastExcess = 1.5;

/// The value that `share` of the 2 half + 1 pixels around lie below, of those that `counts` takes;
/// one every kEvery. 0 where none is taken. What is near stays sorted while it moves on.
template <class Counts>
std::vector<double> running_quantile(std::span<const double> values, long half, double share,
                                     const Counts& counts) {
  const auto n = static_cast<long>(values.size());
  std::vector<double> out(values.size()), near;
  long first = 0, last = 0;  // pixels of `near`
  for (long i = 0; i < n; i += kEvery) {
    const long low = std::max(i - half, 0L), high = std::min(i + half + 1, n);
    for (; first < low; ++first) {
      const auto at = static_cast<std::size_t>(first);
      if (counts(at)) near.erase(std::lower_bound(near.begin(), near.end(), values[at]));
    }
    for (; last < high; ++last) {
      const auto at = static_cast<std::size_t>(last);
      if (counts(at))
        near.insert(std::upper_bound(near.begin(), near.end(), values[at]), values[at]);
    }
    const auto at = static_cast<std::size_t>(share * static_cast<double>(near.size()));
    std::fill(out.begin() + i, out.begin() + std::min(i + kEvery, n), near.empty() ? 0 : near[at]);
  }
  return out;
}

/// Minus its weighted mean over 2 kSmoothHalf + 1 pixels.
std::vector<double> narrow_part(std::span<const double> values, const Block& b) {
  const std::size_t n = b.pixels;
  std::vector<double> weight(n + 1, 0.0), sum(n + 1, 0.0), out(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    weight[i + 1] = weight[i] + b.weight[i];
    sum[i + 1] = sum[i] + b.weight[i] * values[i];
  }
  constexpr auto kHalf = static_cast<std::size_t>(kSmoothHalf);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t low = i - std::min(i, kHalf), high = std::min(i + kHalf + 1, n);
    const double all = weight[high] - weight[low];
    if (b.weight[i] > 0 && all > 0) out[i] = values[i] - (sum[high] - sum[low]) / all;
  }
  return out;
}

/// Weights that know how rough the object is near by.
std::vector<double> rough_weights(std::span<const double> flux, const Block& b) {
  std::vector<double> pull(b.pixels);
  for (std::size_t i = 0; i < b.pixels; ++i) pull[i] = std::abs(flux[i]) * std::sqrt(b.weight[i]);
  std::vector<double> out =
      running_quantile(pull, kNoiseHalf, 0.5, [&](std::size_t i) { return b.weight[i] > 0; });
  for (std::size_t i = 0; i < b.pixels; ++i) {
    const double scale = std::max(out[i] / kGaussian, 1.0);
    out[i] = b.weight[i] / (scale * scale);
  }
  return out;
}

}  // namespace

std::vector<double> usual_variance(const Block& b) {
  std::vector<double> variance(b.pixels, 0.0);
  for (std::size_t i = 0; i < b.pixels; ++i) {
    if (b.weight[i] > 0) variance[i] = 1 / b.weight[i];
  }
  return running_quantile(variance, kUsualHalf, kUsualShare,
                          [&](std::size_t i) { return variance[i] > 0; });
}

std::vector<std::vector<double>> sky_shapes(const Block& b, std::span<const double> usual) {
  std::vector<double> lines(b.pixels, 0.0), slope(b.pixels, 0.0);
  std::size_t above = 0;
  if (b.pixels < kLeastPixels) return {};
  for (std::size_t i = 0; i < b.pixels; ++i) {
    if (!(b.weight[i] > 0) || !(usual[i] > 0)) continue;
    const double variance = 1 / b.weight[i];
    if (variance > kLeastExcess * usual[i]) lines[i] = (variance - usual[i]) / std::sqrt(usual[i]);
    above += variance > 2 * usual[i];
  }
  if (static_cast<double>(above) < kLeastShare * static_cast<double>(b.pixels)) return {};
  for (std::size_t i = 1; i + 1 < b.pixels; ++i) slope[i] = 0.5 * (lines[i + 1] - lines[i - 1]);
  return {std::move(lines), std::move(slope)};
}

void subtract_sky_residual(Block& b, std::span<const std::vector<double>> shapes) {
  if (shapes.empty()) return;
  const std::vector<double> flux = narrow_part({b.flux.data(), b.pixels}, b);
  const std::vector<double> s = narrow_part(shapes[0], b), t = narrow_part(shapes[1], b);
  const std::vector<double> weight = rough_weights(flux, b);
  std::array<double, 2> a{};
  std::vector<double> share(b.pixels, 1.0);
  const auto weigh = [&] {
    for (std::size_t i = 0; i < b.pixels; ++i) {
      const double rest = (flux[i] - a[0] * s[i] - a[1] * t[i]) / kSoft;
      const double one = 1 + rest * rest * weight[i];
      share[i] = 1 / (one * one);
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    weigh();  // of nothing at first: bright lines of the object have no say even then
    double ss = 0, st = 0, tt = 0, sf = 0, tf = 0;
    for (std::size_t i = 0; i < b.pixels; ++i) {
      const double w = weight[i] * share[i];
      ss += w * s[i] * s[i];
      st += w * s[i] * t[i];
      tt += w * t[i] * t[i];
      sf += w * s[i] * flux[i];
      tf += w * t[i] * flux[i];
    }
    const double determinant = ss * tt - st * st;
    if (!(determinant > 1e-9 * ss * tt)) return;
    a = {(sf * tt - tf * st) / determinant, (tf * ss - sf * st) / determinant};
  }
  for (std::size_t i = 0; i < b.pixels; ++i) {
    const double rest = flux[i] - a[0] * s[i] - a[1] * t[i];
    if (!(b.weight[i] > 0) || rest * rest * weight[i] > kOwnLight * kOwnLight) continue;
    b.flux[i] -= a[0] * shapes[0][i] + a[1] * shapes[1][i];
  }
}

}  // namespace fiberloom::redshift
