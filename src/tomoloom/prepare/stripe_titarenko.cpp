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

/// Of some angles: the mean of each column, and how far the sums of lines are apart.
struct MeanLine {
  std::vector<double> mean;
  double spread = 0;
};
MeanLine mean_line(const Sinogram& s, std::size_t first, std::size_t end) {
  MeanLine out{.mean = std::vector<double>(s.columns, 0)};
  double low = INFINITY, high = -INFINITY;
  for (std::size_t a = first; a < end; ++a) {
    const double sum =
        stripe_kernels().add_line(&s.values[a * s.columns], s.columns, out.mean.data());
    low = std::min(low, sum);
    high = std::max(high, sum);
  }
  for (double& m : out.mean) m /= static_cast<double>(end - first);
  out.spread = high - low;
  return out;
}

/// What is added to each column.
std::vector<double> correction(const MeanLine& line, std::span<const double> h) {
  const std::size_t n = line.mean.size();
  if (!(line.spread > 0)) return std::vector<double>(n, 0);  // infinitely regularised
  std::vector<std::vector<double>> band = normal_band(h, n);
  std::vector<double> right = times(band, line.mean);
  for (double& r : right) r = -r;
  for (double& d : band[0]) d += 1 / (2 * line.spread);
  return solve(std::move(band), std::move(right));
}

}  // namespace

void titarenko(Sinogram& s, double alpha, std::size_t blocks) {
  constexpr double kFirst[] = {1, -1}, kSecond[] = {-1, 2, -1};
  const std::size_t step =
      blocks == 0 ? s.angles : std::max<std::size_t>(1, s.angles / std::min(blocks, s.angles));
  std::vector<float> least(s.columns, INFINITY);
  for (std::size_t first = 0; first < s.angles;) {
    // what is left over belongs to the last block
    const std::size_t end = first + 2 * step > s.angles ? s.angles : first + step;
    const MeanLine line = mean_line(s, first, end);
    const auto q1 = correction(line, kFirst), q2 = correction(line, kSecond);
    for (std::size_t a = first; a < end; ++a) {
      stripe_kernels().corrected_product(&s.at(a, 0), q1.data(), q2.data(), s.columns,
                                         least.data());
    }
    first = end;
  }
  const float lift =
      static_cast<float>(alpha) * std::fabs(*std::min_element(least.begin(), least.end()));
  for (float& v : s.values) v = std::sqrt(std::max(0.0F, v + lift));
}

}  // namespace tomoloom
