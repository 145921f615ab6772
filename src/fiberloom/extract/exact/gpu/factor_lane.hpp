// SPDX-License-Identifier: BSD-3-Clause
// Factors L D L^T of windows, kept by bin: a skirt before makes windows agree, and what is kept of
// one begins behind it. (Wide bands: wide_kernels_lane.hpp.)
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "loom/linalg/pole_registers_lane.hpp"

namespace fiberloom::exact::gpu {

/// One window of one matrix.
struct FactorTask {
  const double* matrix;  ///< null: nothing to do
  double *l, *inv_d;
  int rows, first;  ///< the first that is kept
};

/// Of::Args, and what Of::task(number, args) says. Threads: windows x matrices.
template <int B, class Of>
struct WindowFactorKernel {
  using Args = typename Of::Args;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const FactorTask t = Of::task(thread, a);
    if (t.matrix == nullptr) return;
    (void)lane::factor_registers<WarpLane, B>(t.rows, t.matrix, WarpLane(0.0), t.l, t.inv_d,
                                              t.first);
  }
};

}  // namespace fiberloom::exact::gpu
