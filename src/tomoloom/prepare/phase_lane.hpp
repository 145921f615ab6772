// SPDX-License-Identifier: BSD-3-Clause
// What phase retrieval does with a frequency. Seen by host code and by .cu.
#pragma once

#include "loom/base/scalar_lane.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom::lane {

/// The filter of a frequency and its opposite, even so that two images may share a transform; of
/// numbers of PhaseAxis, those along the row with alpha added.
FL_LANE_HD static inline float phase_weight(float row_plus, float row_minus, float column_plus,
                                            float column_minus, float scale) {
  return scale * (1 / (row_plus + column_plus) + 1 / (row_minus + column_minus));
}

}  // namespace tomoloom::lane
