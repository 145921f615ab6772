// SPDX-License-Identifier: BSD-3-Clause
// The scan's kernels of one ISA level (compiled once for each).
#include "fiberloom/redshift/scan_lane.hpp"
#include "loom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

extern const redshift::ScanKernels kScan;
const redshift::ScanKernels kScan = redshift::lane::ScanTable<Pack, FloatPack>::table();

}  // namespace fiberloom::FIBERLOOM_ISA_NS
