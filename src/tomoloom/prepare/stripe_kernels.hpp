// SPDX-License-Identifier: BSD-3-Clause
// The loops of stripe removal of an ISA level. For stripe*.cpp alone.
#pragma once

#include <cstddef>

#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Lines whose medians run side by side, and that a line of ranks is a multiple of.
inline constexpr std::size_t kRankLanes = 16;
/// Taps of the wavelet's filters.
inline constexpr std::size_t kTaps = 10;
/// Numbers that multiply() packs for each of its `k`.
inline constexpr std::size_t kPanel = 32;

/// C = A B in single precision, by lines `*_step` apart: A [m][k], B [k][n], C [m][n].
struct Product {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  std::size_t a_step = 0, b_step = 0, c_step = 0;
  std::size_t m = 0, k = 0, n = 0;
};

/// A polynomial fitted over a window to each column of [angle][column], as moments of the window.
struct ColumnFit {
  const float* in = nullptr;
  float* out = nullptr;
  std::size_t angles = 0, columns = 0, half = 0;
  std::size_t terms = 0;          ///< degree + 1, at most kMostTerms
  const double* basis = nullptr;  ///< [angles + 2 half][terms], from angle -half on
  const double* value = nullptr;  ///< [angles][terms]: what the moments of an angle count
};
inline constexpr std::size_t kMostTerms = 21;

struct StripeKernels {
  /// Running medians of kRankLanes lines: point (i, lane) at in + i * step + lane; as
  /// running_median() each. `window` holds size * kRankLanes numbers.
  void (*running_medians)(const float* in, std::size_t n, std::size_t step, std::size_t size,
                          float* window, float* out);
  /// `panel` holds k * kPanel numbers.
  void (*multiply)(const Product& product, float* panel);
  void (*fit)(const ColumnFit& fit);
  /// out[x] = sum over kTaps lines of tap * line[x], with two sets of taps.
  void (*filter_pair)(const float* const* lines, const float* first_taps, const float* second_taps,
                      std::size_t n, float* first, float* second);
  /// values[x] = (values[x] + first[x]) (values[x] + second[x]), sums and factors rounded once;
  /// least[x] the least of them so far.
  void (*corrected_product)(float* values, const double* first, const double* second, std::size_t n,
                            float* least);
  /// sums[x] += values[x]; returns the sum of the line.
  double (*add_line)(const float* values, std::size_t n, double* sums);
};

[[nodiscard]] const StripeKernels& stripe_kernels(Isa isa = active_isa());

}  // namespace tomoloom
