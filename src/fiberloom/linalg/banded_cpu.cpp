// SPDX-License-Identifier: BSD-3-Clause
// The banded kernels of one ISA level (compiled once for each).
#include "fiberloom/linalg/banded_table.hpp"
#include "fiberloom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

extern const BandedKernels kBanded;
const BandedKernels kBanded = lane::BandedTable<Pack>::table();

}  // namespace fiberloom::FIBERLOOM_ISA_NS
