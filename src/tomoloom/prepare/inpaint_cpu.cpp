// SPDX-License-Identifier: BSD-3-Clause
// Weighted sums of inpaint() of one ISA level (compiled once for each).
#include "loom/simd/pack.hpp"
#include "tomoloom/prepare/inpaint_lane.hpp"

namespace tomoloom::FIBERLOOM_ISA_NS {

extern const InpaintKernels kInpaint;
const InpaintKernels kInpaint = lane::InpaintTable<FloatPack>::table();

}  // namespace tomoloom::FIBERLOOM_ISA_NS
