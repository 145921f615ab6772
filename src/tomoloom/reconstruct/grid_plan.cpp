// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/grid_plan.hpp"

namespace tomoloom {

std::size_t GridPlan::table_bytes() const noexcept {
  return corner.size() * sizeof(std::int32_t) +
         (weight.size() + coef.size() + scale_u.size() + scale_v.size()) * sizeof(float) +
         slope.size() * sizeof(double);
}

std::size_t GridPlan::group_bytes() const noexcept {
  const std::size_t element = kSlicesPerGroup * sizeof(float);
  return (angles * 2 * radii + grid * image) * element;
}

GridPlan sized_plan(std::size_t angles, std::size_t columns, std::size_t padded, std::size_t grid,
                    int width) {
  GridPlan plan;
  plan.angles = angles;
  plan.columns = plan.image = columns;
  plan.padded = padded;
  plan.radii = padded / 2;
  plan.grid = grid;
  plan.width = width;
  const std::size_t points = angles * plan.radii;
  plan.slope.resize(angles);
  plan.corner.resize(2 * points);
  plan.weight.resize(2 * static_cast<std::size_t>(width) * points);
  plan.coef.resize(2 * points);
  plan.scale_u.resize(columns);
  plan.scale_v.resize(columns);
  return plan;
}

}  // namespace tomoloom
