// SPDX-License-Identifier: BSD-3-Clause
// For tests only: dense arithmetic in the plainest way, the other road to what the banded kernels
// give. Small matrices; nothing here is shared with what is tested.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace loom::test {

/// n x n, row after row.
struct Dense {
  std::size_t n = 0;
  std::vector<double> value;

  explicit Dense(std::size_t rows) : n(rows), value(rows * rows, 0.0) {}
  double& operator()(std::size_t r, std::size_t c) { return value[r * n + c]; }
  double operator()(std::size_t r, std::size_t c) const { return value[r * n + c]; }
};

inline Dense identity(std::size_t n) {
  Dense m(n);
  for (std::size_t i = 0; i < n; ++i) m(i, i) = 1.0;
  return m;
}

inline std::vector<double> times(const Dense& m, const std::vector<double>& x) {
  std::vector<double> y(m.n, 0.0);
  for (std::size_t r = 0; r < m.n; ++r) {
    for (std::size_t c = 0; c < m.n; ++c) y[r] += m(r, c) * x[c];
  }
  return y;
}

/// Gauss-Jordan without pivoting: for positive definite matrices.
inline Dense inverse(Dense m) {
  Dense inv = identity(m.n);
  for (std::size_t p = 0; p < m.n; ++p) {
    const double f = 1.0 / m(p, p);
    for (std::size_t c = 0; c < m.n; ++c) m(p, c) *= f, inv(p, c) *= f;
    for (std::size_t r = 0; r < m.n; ++r) {
      const double g = m(r, p);
      if (r == p || g == 0.0) continue;
      for (std::size_t c = 0; c < m.n; ++c) {
        m(r, c) -= g * m(p, c);
        inv(r, c) -= g * inv(p, c);
      }
    }
  }
  return inv;
}

/// Rows and columns [first, first + n).
inline Dense block(const Dense& m, std::size_t first, std::size_t n) {
  Dense part(n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) part(r, c) = m(first + r, first + c);
  }
  return part;
}

/// The square root by the iteration of Denman and Beavers, for condition numbers up to 1e8 or so.
inline Dense root(const Dense& m) {
  Dense y = m, z = identity(m.n);
  for (int step = 0; step < 60; ++step) {
    const Dense y_inverse = inverse(y), z_inverse = inverse(z);
    double change = 0, size = 0;
    for (std::size_t i = 0; i < y.value.size(); ++i) {
      const double next = 0.5 * (y.value[i] + z_inverse.value[i]);
      change = std::fmax(change, std::abs(next - y.value[i]));
      size = std::fmax(size, std::abs(next));
      z.value[i] = 0.5 * (z.value[i] + y_inverse.value[i]);
      y.value[i] = next;
    }
    if (change < 1e-13 * size) break;
  }
  return y;
}

}  // namespace loom::test
