// SPDX-License-Identifier: BSD-3-Clause
// Legendre polynomials, as filters fit them.
#pragma once

#include <cstddef>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// The polynomials at x, orders 0 to n - 1, n >= 1.
inline void legendre(double x, std::size_t n, double* out) noexcept {
  out[0] = 1;
  if (n > 1) out[1] = x;
  for (std::size_t k = 2; k < n; ++k) {
    const auto order = static_cast<double>(k);
    out[k] = ((2 * order - 1) * x * out[k - 1] - (order - 1) * out[k - 2]) / order;
  }
}

}  // namespace skyloom
