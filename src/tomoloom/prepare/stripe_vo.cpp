// SPDX-License-Identifier: BSD-3-Clause
// Vo, Atwood & Drakopoulos 2018, as TomoPy has them: stripes are told by the order of values, not
// by their size.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {
namespace {

/// Order of the values of each column, and the values in it: [rank][column].
struct Sorted {
  std::vector<std::uint32_t> order;
  std::vector<float> values;
};

Sorted sort_columns(const Sinogram& s) {
  Sorted out{std::vector<std::uint32_t>(s.values.size()), std::vector<float>(s.values.size())};
  std::vector<std::pair<float, std::uint32_t>> column(s.angles);
  for (std::size_t x = 0; x < s.columns; ++x) {
    for (std::size_t a = 0; a < s.angles; ++a) {
      column[a] = {s.at(a, x), static_cast<std::uint32_t>(a)};
    }
    std::sort(column.begin(), column.end());
    for (std::size_t r = 0; r < s.angles; ++r) {
      out.values[r * s.columns + x] = column[r].first;
      out.order[r * s.columns + x] = column[r].second;
    }
  }
  return out;
}

/// Each rank's row smoothed by a running median.
void smooth_ranks(const Sinogram& s, std::size_t size, std::vector<float>& values) {
  std::vector<float> row(s.columns);
  for (std::size_t r = 0; r < s.angles; ++r) {
    const std::span<float> own(&values[r * s.columns], s.columns);
    running_median(own, size, row);
    std::copy(row.begin(), row.end(), own.begin());
  }
}

/// A column's values go back to where those of its order stood.
void unsort_column(const Sorted& sorted, std::size_t x, Sinogram& s) {
  for (std::size_t r = 0; r < s.angles; ++r) {
    s.at(sorted.order[r * s.columns + x], x) = sorted.values[r * s.columns + x];
  }
}

/// Vo's algorithm 4: columns whose factor leaves the straight line that most of the sorted factors
/// follow, and their neighbours.
std::vector<bool> stripes_of(const std::vector<double>& factors, double snr) {
  const std::size_t n = factors.size(), drop = n / 4;
  std::vector<double> sorted = factors;
  std::sort(sorted.rbegin(), sorted.rend());
  double sx = 0, sy = 0, sxx = 0, sxy = 0, m = 0;
  for (std::size_t i = drop; i + drop + 1 < n; ++i) {
    const auto x = static_cast<double>(i);
    sx += x;
    sy += sorted[i];
    sxx += x * x;
    sxy += x * sorted[i];
    ++m;
  }
  const double slope = (m * sxy - sx * sy) / (m * sxx - sx * sx), top = (sy - slope * sx) / m;
  const double bottom = top + slope * static_cast<double>(n - 1);
  const double noise = std::max(1e-6, std::abs(bottom - top));
  std::vector<bool> found(n, false), wide(n, false);
  const bool above = std::abs(sorted.front() - top) / noise >= snr;
  const bool below = std::abs(sorted.back() - bottom) / noise >= snr;
  for (std::size_t x = 0; x < n; ++x) {
    found[x] = (above && factors[x] > top + noise * snr * 0.5) ||
               (below && factors[x] <= bottom - noise * snr * 0.5);
  }
  for (std::size_t x = 0; x < n; ++x) {
    wide[x] = found[x] || (x > 0 && found[x - 1]) || (x + 1 < n && found[x + 1]);
  }
  return wide;
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size(), 1);
  for (std::size_t x = 0; x < a.size(); ++x) {
    if (b[x] != 0) out[x] = a[x] / b[x];
  }
  return out;
}

/// Mean over the ranks that count, of each column.
std::vector<double> mean_of_ranks(const Sinogram& s, const std::vector<float>& values,
                                  double drop_ratio) {
  const auto drop = static_cast<std::size_t>(0.5 * std::clamp(drop_ratio, 0.0, 0.8) *
                                             static_cast<double>(s.angles));
  std::vector<double> mean(s.columns, 0);
  for (std::size_t r = drop; r + drop < s.angles; ++r) {
    for (std::size_t x = 0; x < s.columns; ++x) {
      mean[x] += static_cast<double>(values[r * s.columns + x]);
    }
  }
  for (double& m : mean) m /= static_cast<double>(s.angles - 2 * drop);
  return mean;
}

/// Divides each column by its factor, where that can be done.
void divide(Sinogram& s, const std::vector<double>& factors) {
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    const auto factor = static_cast<float>(factors[i % s.columns]);
    if (factor != 0) s.values[i] /= factor;
  }
}

/// Columns that are found become the line between the good ones beside them; ends stay.
void bridge(Sinogram& s, std::vector<bool> found) {
  const std::size_t n = s.columns;
  for (const std::size_t x : {std::size_t{0}, std::size_t{1}, n - 2, n - 1}) found[x] = false;
  for (std::size_t x = 0; x < n; ++x) {
    if (!found[x]) continue;
    const std::size_t left = x - 1;  // good, or bridged already as the line from one that is
    std::size_t right = x + 1;
    while (found[right]) ++right;
    const float share = 1 / static_cast<float>(right - left);
    for (std::size_t a = 0; a < s.angles; ++a) {
      s.at(a, x) = s.at(a, left) + share * (s.at(a, right) - s.at(a, left));
    }
  }
}

/// What fluctuates more, or less, over angles than its neighbours do.
std::vector<double> fluctuation(const Sinogram& s, std::size_t size) {
  constexpr std::ptrdiff_t kBefore = 5, kAfter = 4;  // a running mean of ten
  const auto n = static_cast<std::ptrdiff_t>(s.angles);
  std::vector<double> sum(s.columns, 0);
  for (std::ptrdiff_t a = 0; a < n; ++a) {
    std::vector<double> mean(s.columns, 0);
    for (std::ptrdiff_t i = a - kBefore; i <= a + kAfter; ++i) {
      const std::ptrdiff_t period = 2 * n, folded = ((i % period) + period) % period;
      const auto at = static_cast<std::size_t>(folded < n ? folded : period - 1 - folded);
      for (std::size_t x = 0; x < s.columns; ++x) mean[x] += static_cast<double>(s.at(at, x));
    }
    for (std::size_t x = 0; x < s.columns; ++x) {
      const auto value = static_cast<double>(s.at(static_cast<std::size_t>(a), x));
      sum[x] += std::abs(value - mean[x] / (kBefore + kAfter + 1));
    }
  }
  std::vector<float> rough(sum.begin(), sum.end()), around(s.columns);
  running_median(rough, size, around);
  return ratios(sum, std::vector<double>(around.begin(), around.end()));
}

/// Smoothing by a polynomial over `window` points (Savitzky & Golay 1964): its value in the middle
/// as weights of the points, by polynomials orthogonal over them.
std::vector<double> polynomial_weights(std::size_t window, std::size_t order) {
  const double half = (static_cast<double>(window) - 1) / 2;
  std::vector<double> weights(window, 0);
  std::vector<std::vector<double>> basis;
  for (std::size_t k = 0; k <= order; ++k) {
    std::vector<double> p(window);
    for (std::size_t i = 0; i < window; ++i) {
      p[i] =
          std::pow((static_cast<double>(i) - half) / std::max(half, 1.0), static_cast<double>(k));
    }
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& q : basis) {
        const double along = std::inner_product(p.begin(), p.end(), q.begin(), 0.0);
        for (std::size_t i = 0; i < window; ++i) p[i] -= along * q[i];
      }
    }
    const double norm = std::sqrt(std::inner_product(p.begin(), p.end(), p.begin(), 0.0));
    for (double& v : p) v /= norm;
    for (std::size_t i = 0; i < window; ++i) weights[i] += p[window / 2] * p[i];
    basis.push_back(std::move(p));
  }
  return weights;
}

/// Every column fitted along angles, angles mirrored beyond the ends.
std::vector<float> fitted(const Sinogram& s, std::size_t order) {
  const std::size_t window = s.angles - (s.angles % 2 == 0 ? 1 : 0);
  const std::vector<double> weights = polynomial_weights(window, std::min(order, window - 1));
  const auto n = static_cast<std::ptrdiff_t>(s.angles);
  std::vector<float> out(s.values.size(), 0);
  for (std::ptrdiff_t a = 0; a < n; ++a) {
    float* const to = &out[static_cast<std::size_t>(a) * s.columns];
    for (std::size_t k = 0; k < window; ++k) {
      std::ptrdiff_t at =
          a + static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(window / 2);
      if (at < 0) at = -at;
      if (at >= n) at = 2 * n - 2 - at;
      const auto w = static_cast<float>(weights[k]);
      const float* const from = &s.values[static_cast<std::size_t>(at) * s.columns];
      for (std::size_t x = 0; x < s.columns; ++x) to[x] += w * from[x];
    }
  }
  return out;
}

}  // namespace

void running_median(std::span<const float> in, std::size_t size, std::span<float> out) {
  const auto n = static_cast<std::ptrdiff_t>(in.size());
  const auto before = static_cast<std::ptrdiff_t>(size / 2);
  const auto after = static_cast<std::ptrdiff_t>(size) - before - 1;
  const auto value = [&](std::ptrdiff_t i) {
    const std::ptrdiff_t period = 2 * n;
    i = ((i % period) + period) % period;
    return in[static_cast<std::size_t>(i < n ? i : period - 1 - i)];
  };
  std::vector<float> window;
  for (std::ptrdiff_t i = -before; i <= after; ++i) window.push_back(value(i));
  std::sort(window.begin(), window.end());
  for (std::ptrdiff_t x = 0; x < n; ++x) {
    out[static_cast<std::size_t>(x)] = window[size / 2];
    if (x + 1 == n) break;
    const float gone = value(x - before), come = value(x + after + 1);
    window.erase(std::lower_bound(window.begin(), window.end(), gone));
    window.insert(std::upper_bound(window.begin(), window.end(), come), come);
  }
}

void sorting(Sinogram& s, std::size_t size) {
  Sorted sorted = sort_columns(s);
  smooth_ranks(s, size, sorted.values);
  for (std::size_t x = 0; x < s.columns; ++x) unsort_column(sorted, x, s);
}

void filtering(Sinogram& s, double sigma, std::size_t size) {
  // mirrored beyond the ends without the ends themselves
  const std::size_t pad = std::min<std::size_t>(150, s.angles / 10), n = s.angles + 2 * pad;
  std::vector<float> padded(n * s.columns);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t from = i < pad              ? pad - i
                             : i < pad + s.angles ? i - pad
                                                  : 2 * s.angles + pad - 2 - i;
    std::copy_n(&s.values[from * s.columns], s.columns, &padded[i * s.columns]);
  }
  const std::vector<float> low =
      through_band(gaussian_band(n, sigma, Shift::kSigns), padded, s.columns);
  Sinogram smooth{s.angles,
                  s.columns,
                  {low.begin() + static_cast<std::ptrdiff_t>(pad * s.columns),
                   low.begin() + static_cast<std::ptrdiff_t>((pad + s.angles) * s.columns)}};
  Sinogram corrected = smooth;
  sorting(corrected, size);
  for (std::size_t i = 0; i < s.values.size(); ++i) {
    s.values[i] += corrected.values[i] - smooth.values[i];
  }
}

void fitting(Sinogram& s, std::size_t order, double sigma_x, double sigma_y) {
  const std::vector<float> fit = fitted(s, order);
  const std::size_t pad = std::min<std::size_t>(150, s.angles / 10);
  const std::size_t width = s.columns + 2 * pad, height = s.angles + 2 * pad;
  std::vector<float> padded(width * height);
  const auto column = [&](std::size_t x) { return std::clamp(x, pad, pad + s.columns - 1) - pad; };
  std::vector<double> mean(s.columns, 0);
  for (std::size_t i = 0; i < fit.size(); ++i) {
    mean[i % s.columns] += static_cast<double>(fit[i]) / static_cast<double>(s.angles);
  }
  for (std::size_t y = 0; y < height; ++y) {
    const bool inside = y >= pad && y < pad + s.angles;
    for (std::size_t x = 0; x < width; ++x) {
      padded[y * width + x] =
          inside ? fit[(y - pad) * s.columns + column(x)] : static_cast<float>(mean[column(x)]);
    }
  }
  const std::vector<float> low =
      through_bands(gaussian_band(height, sigma_y, Shift::kSigns),
                    gaussian_band(width, sigma_x, Shift::kSigns), padded);
  double of_fit = 0, of_low = 0;
  for (std::size_t a = 0; a < s.angles; ++a) {
    for (std::size_t x = 0; x < s.columns; ++x) {
      of_fit += static_cast<double>(fit[a * s.columns + x]);
      of_low += static_cast<double>(low[(a + pad) * width + x + pad]);
    }
  }
  if (of_low == 0) return;
  const auto scale = static_cast<float>(of_fit / of_low);
  for (std::size_t a = 0; a < s.angles; ++a) {
    for (std::size_t x = 0; x < s.columns; ++x) {
      const float by = fit[a * s.columns + x];
      if (by != 0) s.at(a, x) = s.at(a, x) / by * scale * low[(a + pad) * width + x + pad];
    }
  }
}

void large(Sinogram& s, double snr, std::size_t size, double drop_ratio) {
  Sorted sorted = sort_columns(s);
  const std::vector<double> mean = mean_of_ranks(s, sorted.values, drop_ratio);
  smooth_ranks(s, size, sorted.values);
  const std::vector<double> factors = ratios(mean, mean_of_ranks(s, sorted.values, drop_ratio));
  const std::vector<bool> found = stripes_of(factors, snr);
  divide(s, factors);
  for (std::size_t x = 0; x < s.columns; ++x) {
    if (found[x]) unsort_column(sorted, x, s);
  }
}

void dead(Sinogram& s, double snr, std::size_t size) {
  bridge(s, stripes_of(fluctuation(s, size), snr));
  large(s, snr, size, 0.1);
}

void interpolation(Sinogram& s, double snr, std::size_t size, double drop_ratio) {
  Sorted sorted = sort_columns(s);
  const std::vector<double> mean = mean_of_ranks(s, sorted.values, drop_ratio);
  smooth_ranks(s, size, sorted.values);
  const std::vector<double> factors = ratios(mean, mean_of_ranks(s, sorted.values, drop_ratio));
  divide(s, factors);
  bridge(s, stripes_of(factors, snr));
}

}  // namespace tomoloom
