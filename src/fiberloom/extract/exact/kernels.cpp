// SPDX-License-Identifier: BSD-3-Clause
// Picks the pixel kernels of a level.
#include "fiberloom/extract/exact/kernels.hpp"

#include "loom/simd/isa_tables.hpp"

namespace fiberloom {

LOOM_ISA_TABLES(exact::PixelKernels, kPixel, exact::pixel_kernels)

}  // namespace fiberloom
