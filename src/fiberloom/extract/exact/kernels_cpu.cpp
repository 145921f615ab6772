// SPDX-License-Identifier: BSD-3-Clause
// The pixel kernels of one ISA level (compiled once for each).
#include "fiberloom/extract/exact/kernels_lane.hpp"
#include "loom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

extern const exact::PixelKernels kPixel;
const exact::PixelKernels kPixel = lane::pixel_table<Pack, FloatPack>();

}  // namespace fiberloom::FIBERLOOM_ISA_NS
