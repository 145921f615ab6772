// SPDX-License-Identifier: BSD-3-Clause
// The banded kernels one lane at a time.
#include "fiberloom/linalg/banded_table.hpp"

namespace fiberloom {

const BandedKernels& banded_kernels_reference() {
  static constexpr BandedKernels table = lane::BandedTable<ScalarLane>::table();
  return table;
}

}  // namespace fiberloom
