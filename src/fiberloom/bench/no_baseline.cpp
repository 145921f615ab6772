// SPDX-License-Identifier: BSD-3-Clause
// Stands in for baseline_cusolver.cu where that cannot be compiled, and says why.
#include "fiberloom/bench/gpu_bench.hpp"

namespace fiberloom {

GpuBaseline time_dense_baseline(int) {
  GpuBaseline b;
  b.note = FIBERLOOM_NO_BASELINE;
  return b;
}

}  // namespace fiberloom
