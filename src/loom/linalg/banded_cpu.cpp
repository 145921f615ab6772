// SPDX-License-Identifier: BSD-3-Clause
// The banded kernels of one ISA level (compiled once for each).
#include "loom/linalg/banded_table.hpp"
#include "loom/simd/pack.hpp"

namespace loom::FIBERLOOM_ISA_NS {

extern const BandedKernels kBanded;
const BandedKernels kBanded = lane::BandedTable<Pack>::table();

}  // namespace loom::FIBERLOOM_ISA_NS
