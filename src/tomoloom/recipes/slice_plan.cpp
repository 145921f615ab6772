// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/slice_plan.hpp"

#include <utility>

namespace tomoloom {
namespace {

RayMethod ray_method(Method method) {
  switch (method) {
    case Method::kExact:
    case Method::kGridrec:
      break;  // stand on no rays
    case Method::kFbp:
      return RayMethod::kFbp;
    case Method::kSirt:
      return RayMethod::kSirt;
    case Method::kCgls:
      return RayMethod::kCgls;
    case Method::kMlem:
      return RayMethod::kMlem;
    case Method::kOsem:
      return RayMethod::kOsem;
    case Method::kTv:
      return RayMethod::kTv;
    case Method::kTikh:
      return RayMethod::kTikh;
    case Method::kGrad:
      return RayMethod::kGrad;
    case Method::kPmlQuad:
      return RayMethod::kPmlQuad;
    case Method::kPmlHybrid:
      return RayMethod::kPmlHybrid;
    case Method::kOspmlQuad:
      return RayMethod::kOspmlQuad;
    case Method::kOspmlHybrid:
      return RayMethod::kOspmlHybrid;
    case Method::kBart:
      return RayMethod::kBart;
  }
  return RayMethod::kFbp;
}

}  // namespace

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
               .weight = job.reg_par,
               .edge = job.reg_edge};
  if (job.method == Method::kExact) {
    plan.grid = plan_exact(plan.geometry, job.filter);
  } else if (job.method == Method::kGridrec) {
    plan.grid = plan_gridrec(plan.geometry, job.filter);
  } else {
    plan.rays.method = ray_method(job.method);
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
