// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "loom/fft/fft.hpp"
#include "tomoloom/reconstruct/centre.hpp"
#include "tomoloom/reconstruct/centre_search.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kPairElement = fft::kElement<double>;
using Number = std::complex<double>;

struct Pair {
  std::size_t first, second;
  double off;  ///< radians from half a turn
};

/// The best partner of each projection; the best pairs first, those as good in their order.
std::vector<Pair> pairs_of(std::span<const double> theta) {
  const auto turn = [](double t) {
    t = std::fmod(t, 2 * std::numbers::pi);
    return t < 0 ? t + 2 * std::numbers::pi : t;
  };
  std::vector<std::size_t> order(theta.size());
  for (std::size_t a = 0; a < order.size(); ++a) order[a] = a;
  const auto before = [&](std::size_t a, std::size_t b) { return turn(theta[a]) < turn(theta[b]); };
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < theta.size(); ++a) {
    const double want = turn(theta[a] + std::numbers::pi);
    const auto at = std::lower_bound(order.begin(), order.end(), want,
                                     [&](std::size_t b, double t) { return turn(theta[b]) < t; });
    const std::size_t i = static_cast<std::size_t>(at - order.begin()), n = order.size();
    Pair best{a, a, std::numbers::pi};
    for (const std::size_t b : {order[i % n], order[(i + n - 1) % n]}) {
      const double off =
          std::abs(std::remainder(theta[b] - theta[a] - std::numbers::pi, 2 * std::numbers::pi));
      if (off < best.off) best = {a, b, off};
    }
    if (best.first < best.second && best.off <= kPairDegrees * std::numbers::pi / 180)
      pairs.push_back(best);
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.off < b.off - 1e-9; });
  if (pairs.size() > kCentrePairs) pairs.resize(kCentrePairs);
  return pairs;
}

/// Frequencies 0 ... padded/2 - 1 of all rows of a projection, what is linear between the ends of
/// each row taken away: [frequency] elements.
std::vector<double> spectrum_of(const StackView& rows, std::size_t angle, std::size_t columns,
                                const fft::Plan<double>& plan) {
  std::vector<double> line(columns * kPairElement, 0), work(plan.work_size());
  for (std::size_t r = 0; r < std::min(rows.slices, kCentreRows); ++r) {
    const float* const from = rows.data + angle * rows.angle_stride + r * rows.slice_stride;
    const auto first = static_cast<double>(from[0]);
    const double step =
        (static_cast<double>(from[columns - 1]) - first) / static_cast<double>(columns - 1);
    for (std::size_t x = 0; x < columns; ++x) {
      line[x * kPairElement + r] =
          static_cast<double>(from[x]) - first - step * static_cast<double>(x);
    }
  }
  const double* const out = plan.run(line.data(), 1, columns, work.data());
  return {out, out + plan.length() / 2 * kPairElement};
}

}  // namespace

std::optional<double> find_centre_of_pairs(const StackView& rows, std::size_t columns,
                                           std::span<const double> theta, double low, double high) {
  const std::vector<Pair> pairs = pairs_of(theta);
  if (pairs.empty()) return std::nullopt;
  const std::size_t padded = fft::good_length(2 * columns);
  const fft::Plan<double> plan(padded, fft::Sign::kMinus);
  // F(k) of the one times G(k) of the other is |F|^2 exp(-4 pi i k c / P)
  std::vector<Number> product(padded / 2 - 1, 0);
  for (const Pair& pair : pairs) {
    const auto f = spectrum_of(rows, pair.first, columns, plan);
    const auto g = spectrum_of(rows, pair.second, columns, plan);
    for (std::size_t k = 0; k < product.size(); ++k) {
      const double* const a = &f[(k + 1) * kPairElement];
      const double* const b = &g[(k + 1) * kPairElement];
      for (std::size_t r = 0; r < kCentreRows; ++r) {
        product[k] += Number(a[r], a[kCentreRows + r]) * Number(b[r], b[kCentreRows + r]);
      }
    }
  }
  // Every frequency counts by its phase alone, but where there is little more than noise: what half
  // of the frequencies have.
  std::vector<double> sizes;
  for (const Number& each : product) sizes.push_back(std::abs(each));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double noise = *middle;
  for (Number& each : product) {
    const double size = std::abs(each) + noise;
    each = size > 0 ? -std::conj(each) / size : 0;
  }
  return least_energy(product, padded, low, high);
}

}  // namespace tomoloom
