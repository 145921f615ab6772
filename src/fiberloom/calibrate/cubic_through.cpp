// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/cubic_through.hpp"

#include <algorithm>
#include <utility>

namespace fiberloom::calibrate {

/// One tridiagonal elimination. With kOneCubic the outer second derivatives follow from the next
/// two: m_0 = (1 + r) m_1 - r m_2 with r = h_0 / h_1.
CubicThrough::CubicThrough(std::vector<double> x, std::vector<double> y, Ends ends)
    : x_(std::move(x)), y_(std::move(y)), second_(x_.size(), 0.0) {
  const std::size_t n = x_.size();
  const bool bent = ends == Ends::kOneCubic;
  const auto h = [&](std::size_t i) { return x_[i + 1] - x_[i]; };
  const double first = bent ? h(0) / h(1) : 0, last = bent ? h(n - 2) / h(n - 3) : 0;
  std::vector<double> upper(n, 0.0), right(n, 0.0);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double low = h(i - 1), high = h(i);
    const double slope = (y_[i + 1] - y_[i]) / high - (y_[i] - y_[i - 1]) / low;
    double before = low / 6, own = (low + high) / 3, behind = high / 6;
    if (bent && i == 1) own += before * (1 + first), behind -= before * first, before = 0;
    if (bent && i + 2 == n) own += high / 6 * (1 + last), before -= high / 6 * last, behind = 0;
    const double pivot = own - before * upper[i - 1];
    upper[i] = behind / pivot;
    right[i] = (slope - before * right[i - 1]) / pivot;
  }
  for (std::size_t i = n - 1; i-- > 1;) second_[i] = right[i] - upper[i] * second_[i + 1];
  if (!bent) return;
  second_[0] = (1 + first) * second_[1] - first * second_[2];
  second_[n - 1] = (1 + last) * second_[n - 2] - last * second_[n - 3];
}

double CubicThrough::operator()(double at) const {
  const auto above = std::upper_bound(x_.begin() + 1, x_.end() - 1, at);
  return within(static_cast<std::size_t>(above - x_.begin()), at);
}

std::vector<double> CubicThrough::along(std::span<const double> at) const {
  std::vector<double> out;
  out.reserve(at.size());
  std::size_t k = 1;
  for (const double x : at) {
    while (k + 1 < x_.size() && x_[k] <= x) ++k;
    out.push_back(within(k, x));
  }
  return out;
}

double CubicThrough::within(std::size_t k, double at) const {
  const double h = x_[k] - x_[k - 1], a = (x_[k] - at) / h, b = (at - x_[k - 1]) / h;
  return a * y_[k - 1] + b * y_[k] +
         ((a * a * a - a) * second_[k - 1] + (b * b * b - b) * second_[k]) * h * h / 6;
}

}  // namespace fiberloom::calibrate
