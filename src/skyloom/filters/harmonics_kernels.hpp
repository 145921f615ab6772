// SPDX-License-Identifier: BSD-3-Clause
// The loops over a block of samples of an ISA level. For harmonics.cpp and harmonics_cpu.cpp.
#pragma once

#include <cstddef>

#include "loom/simd/isa.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

inline constexpr std::size_t kTemplateBlock = 128;  ///< samples at hand, in the first cache

/// Templates at the samples of a block, [template][kTemplateBlock]: polynomials of time, cosine and
/// sine of each harmonic, the latter times time. Samples from `n` on are 0.
struct TemplateBlock {
  std::size_t n = 0;
  double first_time = 0, time_step = 0;             ///< time goes from -1 to 1
  const double *cosine = nullptr, *sine = nullptr;  ///< of the angle, n of each
  std::size_t trends = 0, harmonics = 0;
  bool drift = false;
  double* rows = nullptr;
};

struct HarmonicKernels {
  void (*make)(const TemplateBlock& block);
  /// sums[k] += row k times values, for `columns` rows.
  void (*add_products)(const double* rows, std::size_t columns, const double* values, double* sums);
  /// out = sum over k of x[k] row k.
  void (*mix)(const double* rows, std::size_t columns, const double* x, double* out);
};

[[nodiscard]] const HarmonicKernels& harmonic_kernels(Isa isa);

}  // namespace skyloom
