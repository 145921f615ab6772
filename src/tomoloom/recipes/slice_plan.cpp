// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/slice_plan.hpp"

#include <utility>

namespace tomoloom {

std::uint64_t SlicePlan::group_bytes() const noexcept {
  return grid ? grid->table_bytes() + grid->group_bytes()
              : RayEngine<float>::group_bytes(geometry, rays);
}

std::uint64_t SlicePlan::thread_bytes() const noexcept {
  return grid ? DirectEngine::thread_bytes(*grid) : RayEngine<float>::thread_bytes(geometry);
}

SlicePlan plan_slices(const ReconJob& job, Geometry geometry) {
  SlicePlan plan{.geometry = std::move(geometry), .grid = {}};
  plan.rays = {.iterations = job.iterations,
               .filter = job.filter,
               .blocks = job.blocks,
               .weight = job.reg_par};
  switch (job.method) {
    case Method::kExact:
      plan.grid = plan_exact(plan.geometry, job.filter);
      break;
    case Method::kGridrec:
      plan.grid = plan_gridrec(plan.geometry, job.filter);
      break;
    case Method::kFbp:
      plan.rays.method = RayMethod::kFbp;
      break;
    case Method::kSirt:
      plan.rays.method = RayMethod::kSirt;
      break;
    case Method::kCgls:
      plan.rays.method = RayMethod::kCgls;
      break;
    case Method::kMlem:
      plan.rays.method = RayMethod::kMlem;
      break;
    case Method::kOsem:
      plan.rays.method = RayMethod::kOsem;
      break;
    case Method::kTv:
      plan.rays.method = RayMethod::kTv;
      break;
  }
  return plan;
}

SliceEngine::SliceEngine(const SlicePlan& plan) {
  if (plan.grid) {
    direct_ = std::make_unique<DirectEngine>(*plan.grid);
  } else {
    rays_ = std::make_unique<RayEngine<float>>(plan.geometry, plan.rays);
  }
}

void SliceEngine::reconstruct(const StackView& projections, const VolumeView& slices,
                              Executor& executor, const std::function<void(std::size_t)>& before) {
  if (direct_) return direct_->reconstruct(projections, slices, executor);
  rays_->reconstruct(projections, slices, executor, before);
}

}  // namespace tomoloom
