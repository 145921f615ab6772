// SPDX-License-Identifier: BSD-3-Clause
// What a transform's plan hands to the kernels of an ISA level. For fft.cpp and *_cpu.cpp alone.
#pragma once

#include <cstddef>

#include "loom/simd/isa.hpp"

namespace loom::fft {

/// One Stockham pass: `groups` times `stride` butterflies of this radix.
struct Pass {
  int radix = 2;
  std::size_t groups = 0, stride = 1;
  std::size_t twiddles = 0;  ///< where its (cos, sin) begin: radix - 1 pairs a group
};

/// Plain pointers: a container's own functions must not be compiled into an ISA level.
template <class Real>
struct PlanView {
  std::size_t length = 0, pass_count = 0;
  int sign = -1;
  const Pass* passes = nullptr;
  const Real* twiddles = nullptr;
};

/// Transforms `count` elements, `step` elements apart, the rest of the length being zero. Returns
/// where in `work` the result stands.
template <class Real>
using Transform = Real* (*)(const PlanView<Real>& plan, const Real* in, std::size_t step,
                            std::size_t count, Real* work);

struct Kernels {
  Transform<float> floats;
  Transform<double> doubles;
  /// Element `row` of a column's transform times fine[row] coarse[(row c) & mask] (long_plan.hpp).
  void (*turn_rows)(double* elements, std::size_t rows, const double* fine, const double* coarse,
                    std::size_t c, std::size_t mask);
  /// Eight elements: lane l of number i becomes lane i of number l.
  void (*transpose)(const double* from, double* to);
};

[[nodiscard]] const Kernels& kernels(Isa isa);

}  // namespace loom::fft
