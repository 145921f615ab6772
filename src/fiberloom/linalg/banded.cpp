// SPDX-License-Identifier: BSD-3-Clause
// Picks the kernel table of a level.
#include "fiberloom/linalg/banded.hpp"

#include <string>

#include "fiberloom/base/error.hpp"

namespace fiberloom {

namespace isa_generic {
extern const BandedKernels kBanded;
}
#if defined(__x86_64__)
namespace isa_v2 {
extern const BandedKernels kBanded;
}
namespace isa_v3 {
extern const BandedKernels kBanded;
}
namespace isa_v4 {
extern const BandedKernels kBanded;
}
#endif

const BandedKernels& banded_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kV2: return isa_v2::kBanded;
    case Isa::kV3: return isa_v3::kBanded;
    case Isa::kV4: return isa_v4::kBanded;
#endif
    default: return isa_generic::kBanded;
  }
}

int round_up_band(int band) {
  for (const int b : kBands) {
    if (band <= b) return b;
  }
  throw Error(Status::kNumerical, "half-bandwidth " + std::to_string(band) + " needed, at most " +
                                      std::to_string(kBands.back()) + " supported");
}

}  // namespace fiberloom
