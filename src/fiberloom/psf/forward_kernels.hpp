// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of the forward model, one pair for each ISA level.
#pragma once

#include "fiberloom/foundation.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom {

/// Spots as SpotKernels::spots stores them: rows of `stride` values, a multiple of kLanes.
struct ForwardKernels {
  /// image += electrons * spot
  void (*add)(const double* spot, double electrons, int rows, int stride, double* image,
              long pitch);
  /// sum of spot * image
  double (*dot)(const double* spot, const double* image, int rows, int stride, long pitch);
};
[[nodiscard]] const ForwardKernels& forward_kernels(Isa isa);

}  // namespace fiberloom
