// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace loom {
namespace {

/// Rows p and q of both matrices turn; A's columns follow, so that A(p, q) becomes 0.
void rotate(Array2D<double>& a, Array2D<double>& v, std::size_t p, std::size_t q) {
  const double theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1.0));
  const double c = 1 / std::hypot(t, 1.0), s = t * c;
  const auto turn = [c, s](double& x, double& y) {
    const double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  };
  const std::size_t n = a.rows();
  for (std::size_t k = 0; k < n; ++k) turn(a(p, k), a(q, k));
  for (std::size_t k = 0; k < n; ++k) turn(a(k, p), a(k, q));
  for (std::size_t k = 0; k < n; ++k) turn(v(p, k), v(q, k));
}

}  // namespace

SymmetricEigen symmetric_eigen(Array2D<double> a) {
  const std::size_t n = a.rows();
  Array2D<double> v(n, n, 0.0);
  double whole = 0;
  for (std::size_t i = 0; i < n; ++i) {
    v(i, i) = 1;
    for (std::size_t j = 0; j < n; ++j) whole += a(i, j) * a(i, j);
  }
  constexpr int kMostSweeps = 60;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) off += a(p, q) * a(p, q);
    }
    if (!(off > 1e-27 * whole)) break;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        if (a(p, q) * a(p, q) > 1e-32 * whole) rotate(a, v, p, q);
      }
    }
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return a(x, x) > a(y, y); });
  SymmetricEigen out{{}, Array2D<double>(n, n)};
  for (std::size_t k = 0; k < n; ++k) {
    const double* from = v.row(order[k]);
    const double* largest = std::max_element(
        from, from + n, [](double x, double y) { return std::abs(x) < std::abs(y); });
    const double sign = *largest < 0 ? -1 : 1;
    for (std::size_t j = 0; j < n; ++j) out.vectors(k, j) = sign * from[j];
    out.values.push_back(a(order[k], order[k]));
  }
  return out;
}

}  // namespace loom
