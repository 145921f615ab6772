// SPDX-License-Identifier: BSD-3-Clause
// The gridding loops of one ISA level (compiled once for each).
#include "loom/simd/pack.hpp"
#include "tomoloom/reconstruct/grid_lane.hpp"

namespace tomoloom::FIBERLOOM_ISA_NS {

extern const GridKernels kGrid;
const GridKernels kGrid = lane::GridTable<FloatPack>::table();

}  // namespace tomoloom::FIBERLOOM_ISA_NS
