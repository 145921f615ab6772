// SPDX-License-Identifier: BSD-3-Clause
// Vo, Atwood & Drakopoulos 2018, as TomoPy has them: stripes are told by the order of values, not
// by their size.
#include <algorithm>
#include <cmath>

#include "tomoloom/prepare/stripe_kinds.hpp"
#include "tomoloom/prepare/stripe_search.hpp"

namespace tomoloom {
namespace {

/// Those that algorithm 4 finds, and their neighbours.
std::vector<bool> stripes_of(const std::vector<double>& factors, double snr) {
  const std::size_t n = factors.size();
  const std::vector<bool> found = striped_columns(factors, snr);
  std::vector<bool> wide(n, false);
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
std::vector<double> mean_of_ranks(const Columns& ranks, double drop_ratio) {
  const auto drop = static_cast<std::size_t>(0.5 * std::clamp(drop_ratio, 0.0, 0.8) *
                                             static_cast<double>(ranks.angles));
  std::vector<double> mean(ranks.columns, 0);
  for (std::size_t x = 0; x < ranks.columns; ++x) {
    for (const float v : ranks.column(x).subspan(drop, ranks.angles - 2 * drop)) {
      mean[x] += static_cast<double>(v);
    }
    mean[x] /= static_cast<double>(ranks.angles - 2 * drop);
  }
  return mean;
}

/// Divides each column by its factor, where that can be done.
void divide(Columns& s, const std::vector<double>& factors) {
  for (std::size_t x = 0; x < s.columns; ++x) {
    const auto factor = static_cast<float>(factors[x]);
    if (factor == 0) continue;
    for (float& v : s.column(x)) v /= factor;
  }
}

/// Columns that are found become the line between the good ones beside them; ends stay.
void bridge(Columns& s, std::vector<bool> found) {
  const std::size_t n = s.columns;
  for (const std::size_t x : {std::size_t{0}, std::size_t{1}, n - 2, n - 1}) found[x] = false;
  for (std::size_t x = 0; x < n; ++x) {
    if (!found[x]) continue;
    const std::size_t left = x - 1;  // good, or bridged already as the line from one that is
    std::size_t right = x + 1;
    while (found[right]) ++right;
    const float share = 1 / static_cast<float>(right - left);
    const std::span<const float> before = s.column(left), after = s.column(right);
    const std::span<float> to = s.column(x);
    for (std::size_t a = 0; a < s.angles; ++a) to[a] = before[a] + share * (after[a] - before[a]);
  }
}

/// What fluctuates more, or less, over angles than its neighbours do.
std::vector<double> fluctuation(const Columns& s, std::size_t size) {
  constexpr std::size_t kBefore = 5, kMean = 10;  // a running mean of ten, four of them after
  const std::size_t n = s.angles;
  std::vector<double> line(n + kMean), sum(s.columns, 0);
  for (std::size_t x = 0; x < s.columns; ++x) {
    const std::span<const float> column = s.column(x);
    for (std::size_t i = 0; i < line.size(); ++i) {  // mirrored, the ends repeated
      const std::size_t at = (i + 2 * n * kMean - kBefore) % (2 * n);
      line[i] = static_cast<double>(column[at < n ? at : 2 * n - 1 - at]);
    }
    for (std::size_t a = 0; a < n; ++a) {
      double mean = 0;
      for (std::size_t k = 0; k < kMean; ++k) mean += line[a + k];
      sum[x] += std::abs(line[a + kBefore] - mean / kMean);
    }
  }
  std::vector<float> rough(sum.begin(), sum.end()), around(s.columns);
  running_median(rough, size, around);
  return ratios(sum, std::vector<double>(around.begin(), around.end()));
}

}  // namespace

std::vector<bool> striped_columns(std::span<const double> factors, double snr) {
  const std::size_t n = factors.size(), drop = n / 4;
  std::vector<bool> found(n, false);
  if (n == 0) return found;
  std::vector<double> sorted(factors.begin(), factors.end());
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
  const bool above = std::abs(sorted.front() - top) / noise >= snr;
  const bool below = std::abs(sorted.back() - bottom) / noise >= snr;
  for (std::size_t x = 0; x < n; ++x) {
    found[x] = (above && factors[x] > top + noise * snr * 0.5) ||
               (below && factors[x] <= bottom - noise * snr * 0.5);
  }
  return found;
}

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

void sorting(Columns& s, std::size_t size) {
  Ranks ranks = ranked(s);
  smooth_ranks(size, ranks.values);
  for (std::size_t x = 0; x < s.columns; ++x) restore_column(ranks, x, s);
}

void filtering(Columns& s, double sigma, std::size_t size) {
  // mirrored beyond the ends without the ends themselves
  const std::size_t pad = std::min<std::size_t>(150, s.angles / 10), n = s.angles + 2 * pad;
  std::vector<float> padded(n * s.columns);
  for (std::size_t x = 0; x < s.columns; ++x) {
    const std::span<const float> from = s.column(x);
    float* const to = &padded[x * n];
    std::copy(from.begin(), from.end(), to + pad);
    for (std::size_t i = 0; i < pad; ++i) {
      to[i] = from[pad - i];
      to[pad + s.angles + i] = from[s.angles - 2 - i];
    }
  }
  const std::vector<float> low =
      along_band(gaussian_band(n, sigma, Shift::kSigns), padded, pad, s.angles);
  Columns corrected(s.angles, s.columns);
  for (std::size_t x = 0; x < s.columns; ++x) {
    std::copy_n(&low[x * s.angles], s.angles, corrected.column(x).begin());
  }
  sorting(corrected, size);
  for (std::size_t x = 0; x < s.columns; ++x) {
    const std::span<const float> after = corrected.column(x);
    const std::span<float> to = s.column(x);
    for (std::size_t a = 0; a < s.angles; ++a) to[a] += after[a] - low[x * s.angles + a];
  }
}

void large(Columns& s, double snr, std::size_t size, double drop_ratio) {
  Ranks ranks = ranked(s);
  const std::vector<double> mean = mean_of_ranks(ranks.values, drop_ratio);
  smooth_ranks(size, ranks.values);
  const std::vector<double> factors = ratios(mean, mean_of_ranks(ranks.values, drop_ratio));
  const std::vector<bool> found = stripes_of(factors, snr);
  divide(s, factors);
  for (std::size_t x = 0; x < s.columns; ++x) {
    if (found[x]) restore_column(ranks, x, s);
  }
}

void dead(Columns& s, double snr, std::size_t size) {
  bridge(s, stripes_of(fluctuation(s, size), snr));
  large(s, snr, size, 0.1);
}

void interpolation(Columns& s, double snr, std::size_t size, double drop_ratio) {
  Columns ranks = ranked(s).values;
  const std::vector<double> mean = mean_of_ranks(ranks, drop_ratio);
  smooth_ranks(size, ranks);
  const std::vector<double> factors = ratios(mean, mean_of_ranks(ranks, drop_ratio));
  divide(s, factors);
  bridge(s, stripes_of(factors, snr));
}

}  // namespace tomoloom
