// SPDX-License-Identifier: BSD-3-Clause
// Picks the kernel table of a level.
#include "fiberloom/redshift/scan_kernels.hpp"

#include "fiberloom/redshift/scan_lane.hpp"

namespace fiberloom {

namespace isa_generic {
extern const redshift::ScanKernels kScan;
}
#if defined(__x86_64__)
namespace isa_v2 {
extern const redshift::ScanKernels kScan;
}
namespace isa_v3 {
extern const redshift::ScanKernels kScan;
}
namespace isa_v4 {
extern const redshift::ScanKernels kScan;
}
#endif

namespace redshift {

const ScanKernels& scan_kernels(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::kV2:
      return isa_v2::kScan;
    case Isa::kV3:
      return isa_v3::kScan;
    case Isa::kV4:
      return isa_v4::kScan;
#endif
    default:
      return isa_generic::kScan;
  }
}

const ScanKernels& scan_kernels_reference() {
  static constexpr ScanKernels table = lane::ScanTable<ScalarLane>::table();
  return table;
}

}  // namespace redshift
}  // namespace fiberloom
