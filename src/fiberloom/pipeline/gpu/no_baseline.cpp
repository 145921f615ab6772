// SPDX-License-Identifier: BSD-3-Clause
// Stands in for baseline_cusolver.cu where CUDA is not compiled in.
#include "fiberloom/pipeline/gpu/gpu_bench.hpp"

namespace fiberloom {

GpuBaseline time_dense_baseline(int) {
  GpuBaseline b;
  b.note = why_no_cuda();
  return b;
}

}  // namespace fiberloom
