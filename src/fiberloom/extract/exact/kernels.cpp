// SPDX-License-Identifier: BSD-3-Clause
// Picks the pixel kernels of a level.
#include "fiberloom/extract/exact/kernels.hpp"

namespace fiberloom {

namespace isa_generic {
extern const exact::PixelKernels kPixel;
}
#if defined(__x86_64__)
namespace isa_v2 {
extern const exact::PixelKernels kPixel;
}
namespace isa_v3 {
extern const exact::PixelKernels kPixel;
}
namespace isa_v4 {
extern const exact::PixelKernels kPixel;
}
#endif

const exact::PixelKernels& exact::pixel_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kV2:
      return isa_v2::kPixel;
    case Isa::kV3:
      return isa_v3::kPixel;
    case Isa::kV4:
      return isa_v4::kPixel;
#endif
    default:
      return isa_generic::kPixel;
  }
}

}  // namespace fiberloom
