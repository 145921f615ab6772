// SPDX-License-Identifier: BSD-3-Clause
// Picks the kernel table of a level.
#include "loom/linalg/banded.hpp"

#include <string>

#include "loom/base/error.hpp"

namespace loom {

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
    case Isa::kV2:
      return isa_v2::kBanded;
    case Isa::kV3:
      return isa_v3::kBanded;
    case Isa::kV4:
      return isa_v4::kBanded;
#endif
    default:
      return isa_generic::kBanded;
  }
}

namespace {

template <std::size_t N>
int round_up(const std::array<int, N>& ladder, int value, const char* what) {
  for (const int step : ladder) {
    if (value <= step) return step;
  }
  throw Error(Status::kNumerical, std::string(what) + " of " + std::to_string(value) +
                                      " needed, at most " + std::to_string(ladder.back()) +
                                      " supported");
}

}  // namespace

int round_up_band(int band) { return round_up(kBands, band, "half-bandwidth"); }
int round_up_coupling(int half_width) {
  return round_up(kCouplings, half_width, "coupling half-width");
}

}  // namespace loom
