// SPDX-License-Identifier: BSD-3-Clause
// The loops over a stream of an ISA level. For gaussian.cpp and gaussian_cpu.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/simd/isa.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

struct GaussianKernels {
  /// Numbers of counters (c0, c1 + i).
  void (*fill)(std::uint64_t k0, std::uint64_t k1, std::uint64_t c0, std::uint64_t c1,
               std::size_t n, double* out);
};

[[nodiscard]] const GaussianKernels& gaussian_kernels(Isa isa);

/// erfinv(x) / x of w = -log(1 - x^2) at and beyond kInnerLogs.
inline constexpr double kInnerLogs = 6.25;
[[nodiscard]] double outer_inverse_erf_ratio(double w) noexcept;

}  // namespace skyloom
