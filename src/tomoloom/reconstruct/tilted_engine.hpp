// SPDX-License-Identifier: BSD-3-Clause
// Filtered back projection of a scan whose axis is tilted along the beam: rays cross the rows of
// slices.
#pragma once

#include <vector>

#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/fft/fft.hpp"
#include "tomoloom/reconstruct/filter.hpp"
#include "tomoloom/reconstruct/geometry.hpp"
#include "tomoloom/reconstruct/ray_kernels.hpp"

namespace tomoloom {

/// f(u, v, z) = cos(tilt) sum over angles of w q(centre + u cos + v sin, z + (-u sin + v cos)
/// sin(tilt)), z in rows: a slice is the plane across the axis that its row sees on the axis,
/// slices are 1/cos(tilt) pixels apart. q: rows filtered on twice the line, at points a quarter of
/// a pixel apart, linear between those and cubic between rows. Over a whole turn that is the
/// inverse but for the frequencies within tilt of the axis, that no projection sees. Rows beyond
/// those that there are count as the last one. Holds the memory of one group at a time; results do
/// not depend on the executor.
class TiltedEngine {
 public:
  TiltedEngine(const Geometry& geometry, const FilterChoice& filter, Isa isa = active_isa());

  /// Up to kSlicesPerGroup slices, with the rows beside them. O(angles columns^2) for the group.
  void reconstruct(const StackView& projections, const VolumeView& slices, Executor& executor);
  [[nodiscard]] static std::size_t group_bytes(const Geometry& geometry) noexcept;
  [[nodiscard]] static std::size_t thread_bytes(const Geometry& geometry) noexcept;

 private:
  void filter(const StackView& projections, std::size_t angle);

  Geometry geometry_;
  std::size_t beside_;         ///< rows before the first slice's in lines_
  std::size_t rows_;           ///< of lines_: a multiple of a group's
  std::vector<double> share_;  ///< of each angle, with what all frequencies are multiplied by
  fft::Plan<float> forward_, back_;
  const RayKernels<float>& kernels_;
  FilterResponse response_;
  Buffer<float> lines_;  ///< [angle][point][row]
  Buffer<float> slice_;  ///< [row][column] elements
};

}  // namespace tomoloom
