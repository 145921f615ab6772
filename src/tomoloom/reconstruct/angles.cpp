// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/angles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

namespace tomoloom {
namespace {

constexpr double kWedge = 4;  ///< gaps so many times the usual one are no part of the scan
constexpr std::size_t kGapsOfAWedge = 16;  ///< one of so many gaps may be a wedge, or two in all

/// In [0, pi). Angles that a turn apart should be equal but are not to the last digits must not
/// come to lie at both ends.
double folded(double theta) {
  double t = std::fmod(theta, std::numbers::pi);
  if (t < 0) t += std::numbers::pi;
  return t > std::numbers::pi - 1e-9 ? 0 : t;
}

/// Gaps of `least` and more are wedges; `usual` stands in their place.
struct Wedges {
  double least = INFINITY, usual = 0;
};

/// The usual gap is the one that half of what is no wedge lies in gaps up to. By their number alone
/// it would be next to nothing where a scan comes by the same lines again (of several turns, by
/// what an encoder says), and all that it measured a wedge.
Wedges find_wedges(std::vector<double> gaps) {
  std::sort(gaps.begin(), gaps.end());
  std::vector<double> together(gaps.size());
  std::partial_sum(gaps.begin(), gaps.end(), together.begin());
  const std::size_t m = gaps.size();
  const std::size_t most = std::min(std::max<std::size_t>(2, m / kGapsOfAWedge), (m - 1) / 2);
  for (std::size_t wedges = most; wedges > 0; --wedges) {
    const auto end = together.end() - static_cast<std::ptrdiff_t>(wedges);
    const auto half = std::lower_bound(together.begin(), end, *(end - 1) / 2);
    const double usual = gaps[static_cast<std::size_t>(half - together.begin())];
    if (gaps[m - wedges] > kWedge * usual) return {.least = gaps[m - wedges], .usual = usual};
  }
  return {};
}

}  // namespace

std::vector<double> angle_weights(std::span<const double> theta) {
  const std::size_t n = theta.size();
  std::vector<double> at(n), weights(n, std::numbers::pi);
  if (n < 2) return weights;
  std::transform(theta.begin(), theta.end(), at.begin(), folded);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return at[a] < at[b]; });
  // runs of the same line: they share what one of them would have
  constexpr double kSame = 1e-9;
  std::vector<double> lines;
  std::vector<std::size_t> line_of(n), count;
  for (const std::size_t i : order) {
    if (lines.empty() || at[i] - lines.back() > kSame) {
      lines.push_back(at[i]);
      count.push_back(0);
    }
    line_of[i] = lines.size() - 1;
    ++count.back();
  }
  const std::size_t m = lines.size();
  if (m == 1) return std::vector<double>(n, std::numbers::pi / static_cast<double>(n));
  std::vector<double> gap(m);  // from line k to the next one
  for (std::size_t k = 0; k + 1 < m; ++k) gap[k] = lines[k + 1] - lines[k];
  gap[m - 1] = lines[0] + std::numbers::pi - lines[m - 1];
  const Wedges wedges = find_wedges(gap);
  for (double& g : gap) {
    if (g >= wedges.least) g = wedges.usual;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t k = line_of[i];
    weights[i] = (gap[k] + gap[(k + m - 1) % m]) / 2 / static_cast<double>(count[k]);
  }
  return weights;
}

std::vector<double> angle_shares(const Geometry& geometry) {
  if (geometry.weight.empty()) return angle_weights(geometry.theta);
  std::vector<double> theta;
  std::vector<std::size_t> there;
  for (std::size_t a = 0; a < geometry.theta.size(); ++a) {
    if (geometry.weight[a] <= 0) continue;
    theta.push_back(geometry.theta[a]);
    there.push_back(a);
  }
  const std::vector<double> own = angle_weights(theta);
  double plain = 0, weighed = 0;
  for (std::size_t i = 0; i < there.size(); ++i) {
    plain += own[i];
    weighed += own[i] * geometry.weight[there[i]];
  }
  std::vector<double> shares(geometry.theta.size(), 0);
  for (std::size_t i = 0; i < there.size(); ++i) {
    shares[there[i]] = own[i] * geometry.weight[there[i]] * plain / weighed;
  }
  return shares;
}

}  // namespace tomoloom
