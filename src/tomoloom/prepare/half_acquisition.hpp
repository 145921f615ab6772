// SPDX-License-Identifier: BSD-3-Clause
// Scans over a whole turn with the axis near one end of the detector: each projection sees half of
// a body that is nearly twice as wide, and the one half a turn later the other half.
#pragma once

#include <cstddef>
#include <vector>

#include "loom/base/large_vector.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Lines of `columns` pixels become lines of `width` with the axis in the middle, `left` columns
/// added before the first. What a direct method makes of both views of a line is their mean, so
/// what only one sees counts twice; where both see, the weights of pixel x and of its mirror add up
/// to 2 and change smoothly: 1 + sin(pi t / 2h) at t pixels from the axis, h those to the nearer
/// end.
struct HalfAcquisition {
  std::size_t columns = 0, left = 0, width = 0;
  double centre = 0;          ///< of the wide line
  std::vector<float> weight;  ///< [columns]
};
/// `centre` within the line, or at an end of it.
[[nodiscard]] HalfAcquisition half_acquisition(std::size_t columns, double centre);

/// Lines [..][columns] -> [..][width], in place. O(lines width).
void widen(const HalfAcquisition& half, LargeVector<float>& lines);

}  // namespace tomoloom
