// SPDX-License-Identifier: BSD-3-Clause
// The banded kernels one lane at a time.
#include "loom/linalg/banded_table.hpp"

namespace loom {

const BandedKernels& banded_kernels_reference() {
  static constexpr BandedKernels table = lane::BandedTable<ScalarLane>::table();
  return table;
}

}  // namespace loom
