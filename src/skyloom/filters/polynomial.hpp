// SPDX-License-Identifier: BSD-3-Clause
// Polynomials of time, taken out of a detector's samples by least squares. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// Polynomials to this order: the sums of products of neighbouring orders stay in the cache, and
/// more would leave little of a scan.
inline constexpr std::size_t kMostPolynomial = 30;

/// Subtracts from all of a stretch of samples the Legendre polynomials of orders 0 to `order` that
/// fit those whose flag is 0; x goes from -1 to 1 over the stretch (the middle of sample i lies at
/// (2 i + 1) / n - 1). Values beyond 1e30 or not finite take no part. True where it did; false,
/// with nothing changed, where the good samples do not determine the coefficients: fewer than
/// order + 1, or so placed that a coefficient follows from the others to 1e-10. To some eps of the
/// largest value: fitted twice. O(n order^2).
[[nodiscard]] bool subtract_polynomial(std::size_t order, std::span<double> values,
                                       std::span<const std::uint8_t> flags);

}  // namespace skyloom
