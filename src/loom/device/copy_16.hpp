// SPDX-License-Identifier: BSD-3-Clause
// Memory of a card to what the threads of a block share, without a way through registers and, where
// the card can, without a wait. Seen by .cu.
#pragma once

#include "loom/base/scalar_lane.hpp"

#if defined(__CUDACC__)
#include <cuda_pipeline.h>
#endif

namespace loom {

/// 16 bytes, which are there when the phase is over (cuda_launch.cuh: kernels with states). Both
/// pointers are multiples of 16.
FL_LANE_HD inline void copy_16(float* shared, const float* from) {
#if defined(__CUDA_ARCH__)
  __pipeline_memcpy_async(shared, from, 16);
#else
  for (int i = 0; i < 4; ++i) shared[i] = from[i];
#endif
}

#if defined(__CUDACC__) || defined(__HIP__)
__device__ inline void wait_for_copies() {
#if defined(__CUDA_ARCH__)
  __pipeline_commit();
  __pipeline_wait_prior(0);
#endif
}
#endif

}  // namespace loom
