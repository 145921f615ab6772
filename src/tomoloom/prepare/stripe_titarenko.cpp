// SPDX-License-Identifier: BSD-3-Clause
// Titarenko's removal as TomoPy has it (Miqueles et al. 2014): the correction q of the mean row p
// solves (H^T H + alpha) q = -H^T H p with H a first or second difference; the two corrected
// sinograms are combined by their geometric mean, lifted so that it exists.
#include <algorithm>
#include <cmath>

#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {
namespace {

/// H^T H of a difference with these coefficients, as its upper band [diagonal][row].
std::vector<std::vector<double>> normal_band(std::span<const double> h, std::size_t n) {
  std::vector<std::vector<double>> band(h.size(), std::vector<double>(n, 0));
  for (std::size_t row = 0; row + h.size() <= n; ++row) {
    for (std::size_t i = 0; i < h.size(); ++i) {
      for (std::size_t j = i; j < h.size(); ++j) band[j - i][row + i] += h[i] * h[j];
    }
  }
  return band;
}

std::vector<double> times(const std::vector<std::vector<double>>& band, std::span<const double> x) {
  const std::size_t n = x.size();
  std::vector<double> y(n, 0);
  for (std::size_t d = 0; d < band.size(); ++d) {
    for (std::size_t i = 0; i + d < n; ++i) {
      y[i] += band[d][i] * x[i + d];
      if (d > 0) y[i + d] += band[d][i] * x[i];
    }
  }
  return y;
}

/// Solves by a banded L D L^T; positive definite.
std::vector<double> solve(std::vector<std::vector<double>> band, std::vector<double> x) {
  const std::size_t n = x.size(), w = band.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t d = 1; d < w && i + d < n; ++d) {
      const double factor = band[d][i] / band[0][i];
      for (std::size_t e = d; e < w && i + e < n; ++e) band[e - d][i + d] -= factor * band[e][i];
      x[i + d] -= factor * x[i];
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t d = 1; d < w && i + d < n; ++d) x[i] -= band[d][i] * x[i + d];
    x[i] /= band[0][i];
  }
  return x;
}

/// What is added to each column of angles [first, end).
std::vector<double> correction(const Sinogram& s, std::size_t first, std::size_t end,
                               std::span<const double> h) {
  std::vector<double> mean(s.columns, 0);
  double low = INFINITY, high = -INFINITY;
  for (std::size_t a = first; a < end; ++a) {
    double sum = 0;
    for (std::size_t x = 0; x < s.columns; ++x) {
      mean[x] += static_cast<double>(s.at(a, x));
      sum += static_cast<double>(s.at(a, x));
    }
    low = std::min(low, sum);
    high = std::max(high, sum);
  }
  for (double& m : mean) m /= static_cast<double>(end - first);
  if (!(high > low)) return std::vector<double>(s.columns, 0);  // infinitely regularised
  std::vector<std::vector<double>> band = normal_band(h, s.columns);
  std::vector<double> right = times(band, mean);
  for (double& r : right) r = -r;
  for (double& d : band[0]) d += 1 / (2 * (high - low));
  return solve(std::move(band), std::move(right));
}

}  // namespace

void titarenko(Sinogram& s, double alpha, std::size_t blocks) {
  constexpr double kFirst[] = {1, -1}, kSecond[] = {-1, 2, -1};
  const std::size_t step =
      blocks == 0 ? s.angles : std::max<std::size_t>(1, s.angles / std::min(blocks, s.angles));
  float least = INFINITY;
  for (std::size_t first = 0; first < s.angles;) {
    // what is left over belongs to the last block
    const std::size_t end = first + 2 * step > s.angles ? s.angles : first + step;
    const auto q1 = correction(s, first, end, kFirst), q2 = correction(s, first, end, kSecond);
    for (std::size_t a = first; a < end; ++a) {
      for (std::size_t x = 0; x < s.columns; ++x) {
        const auto value = static_cast<double>(s.at(a, x));
        const float product = static_cast<float>(value + q1[x]) * static_cast<float>(value + q2[x]);
        s.at(a, x) = product;
        least = std::min(least, product);
      }
    }
    first = end;
  }
  const float lift = static_cast<float>(alpha) * std::fabs(least);
  for (float& v : s.values) v = std::sqrt(std::max(0.0F, v + lift));
}

}  // namespace tomoloom
