// SPDX-License-Identifier: BSD-3-Clause
// What the engines compute, written down plainly and slowly in double: the oracles of the tests.
#pragma once

#include <span>
#include <vector>

#include "tomoloom/reconstruct/filter.hpp"
#include "tomoloom/reconstruct/geometry.hpp"
#include "tomoloom/reconstruct/grid_plan.hpp"

namespace tomoloom {

/// Filtered back projection of one slice without any grid: each projection is padded to twice its
/// length and filtered, its trigonometric interpolation is taken at every pixel, angles are
/// weighted by what they stand for. Equation by equation what plan_exact() approximates. O(angles
/// columns^2 padded).
[[nodiscard]] std::vector<double> back_project_exactly(const Geometry& geometry,
                                                       const FilterChoice& filter,
                                                       std::span<const float> sinogram);

/// The sums of a GridPlan, without transforms that are fast: the grid as it says, then the double
/// sum for each pixel. O(grid^2 image).
[[nodiscard]] std::vector<double> grid_plainly(const GridPlan& plan,
                                               std::span<const float> sinogram);

}  // namespace tomoloom
