// SPDX-License-Identifier: BSD-3-Clause
// Picks the kernel table of a level.
#include "fiberloom/redshift/scan_kernels.hpp"

#include "fiberloom/redshift/scan_lane.hpp"
#include "loom/simd/isa_tables.hpp"

namespace fiberloom {

LOOM_ISA_TABLES(redshift::ScanKernels, kScan, redshift::scan_kernels)

namespace redshift {

const ScanKernels& scan_kernels_reference() {
  static constexpr ScanKernels table = lane::ScanTable<ScalarLane, FloatLane>::table();
  return table;
}

}  // namespace redshift
}  // namespace fiberloom
