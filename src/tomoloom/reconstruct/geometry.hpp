// SPDX-License-Identifier: BSD-3-Clause
// What a parallel-beam scan looks like from above. Knows no files.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// Pixel x of a projection (0, 1, ..., columns - 1 are the pixels' middles) sees, at angle theta,
/// the line u cos(theta) + v sin(theta) = x - centre. Of a reconstructed slice u grows with the
/// column and v falls with the row. Lengths are in pixels of the detector.
struct Geometry {
  std::size_t columns = 0;
  std::vector<double> theta;        ///< radians, in any order
  double centre = 0;                ///< where the rotation axis is projected to
  std::vector<double> weight = {};  ///< of each angle beside the others; empty: all alike
  double tilt = 0;  ///< radians, of the axis along the beam: TiltedEngine's, RayPair's
};

/// Rows on either side of a slice that the axis' tilt brings into it.
[[nodiscard]] inline std::size_t rows_beside(const Geometry& geometry) noexcept {
  if (geometry.tilt == 0) return 0;
  const double corner = static_cast<double>(geometry.columns) * std::sqrt(0.5);
  return static_cast<std::size_t>(std::ceil(corner * std::abs(std::sin(geometry.tilt)))) + 2;
}

/// Numbers side by side: slices of one group, whose projections are spread and transformed as one.
inline constexpr std::size_t kSlicesPerGroup = 32;

/// Projections of a group of slices: value (angle, slice, x), x contiguous, all of them finite.
struct StackView {
  const float* data = nullptr;
  std::size_t slices = 0, angle_stride = 0, slice_stride = 0;
  std::size_t before = 0, after = 0;  ///< rows that there are beside them, for a tilted axis
};

/// Slices: value (slice, row, column), column contiguous.
struct VolumeView {
  float* data = nullptr;
  std::size_t slice_stride = 0, row_stride = 0;
};

}  // namespace tomoloom
