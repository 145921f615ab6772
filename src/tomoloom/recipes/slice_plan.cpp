// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/slice_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "loom/base/error.hpp"
#include "tomoloom/recipes/on_card.hpp"

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
    case Method::kArt:
      return RayMethod::kArt;
  }
  return RayMethod::kFbp;
}

/// Null for the CPU: also where a card was found by itself and has too little memory.
std::unique_ptr<DeviceSlices> open_card(const GridPlan& plan, Backend backend,
                                        const Observer& observer) {
  auto devices = open_devices(backend, observer);
  if (devices.empty()) return nullptr;
  const std::string name = devices.front()->info().name;
  auto card = open_on_card(way_out_of(backend), "slices are made on the CPU", observer, [&] {
    return std::make_unique<DeviceSlices>(plan, std::move(devices.front()));
  });
  if (card) observer.info("slices are made on " + name);
  return card;
}

/// Whether slices that rays cross are solved well: likelihoods were tried and came out worse than
/// without the tilt, gridrec's numbers are TomoPy's, and ART goes slice by slice.
bool knows_tilt(Method method) {
  switch (method) {
    case Method::kExact:
    case Method::kFbp:
    case Method::kSirt:
    case Method::kBart:
    case Method::kCgls:
    case Method::kTikh:
    case Method::kGrad:
    case Method::kTv:
      return true;
    default:
      return false;
  }
}

/// What iterates may grow beyond any number, by steps or penalties that are too large. Throws
/// kUnsupported.
void require_numbers(const VolumeView& slices, std::size_t count, std::size_t image) {
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t row = 0; row < image; ++row) {
      const float* const line = slices.data + s * slices.slice_stride + row * slices.row_stride;
      if (std::all_of(line, line + image, [](float value) { return std::isfinite(value); })) {
        continue;
      }
      throw Error(Status::kUnsupported,
                  "--reg-par: iterations have grown beyond any number: expected less (of --method "
                  "grad 0, which finds its steps)");
    }
  }
}

}  // namespace

void check_method(const ReconJob& job) {
  const bool fft = job.gram == Gram::kFft;
  if (job.tilt_deg != 0 &&
      (!knows_tilt(job.method) || fft || job.acquisition == Acquisition::kHalf)) {
    throw Error(Status::kUnsupported,
                "--tilt: goes with --method exact, fbp, sirt, bart, cgls, tikh, grad or tv, and "
                "without --gram fft and --acquisition half");
  }
  if (fft && !takes_convolution(ray_method(job.method))) {
    throw Error(Status::kUnsupported,
                "--gram fft: goes with --method sirt, cgls, tikh, grad or tv");
  }
}

bool SlicePlan::by_planes() const noexcept {
  return geometry.tilt != 0 && rays.method == RayMethod::kFbp;
}

std::uint64_t SlicePlan::group_bytes() const noexcept {
  if (by_planes()) return TiltedEngine::group_bytes(geometry);
  if (grid) return grid->table_bytes() + grid->group_bytes();
  return seen ? ConvolvedEngine::group_bytes(*seen, rays.method)
              : RayEngine<float>::group_bytes(geometry, rays);
}

std::uint64_t SlicePlan::thread_bytes() const noexcept {
  if (by_planes()) return TiltedEngine::thread_bytes(geometry);
  if (grid) return DirectEngine::thread_bytes(*grid);
  return seen ? ConvolvedEngine::thread_bytes(*seen, geometry)
              : RayEngine<float>::thread_bytes(geometry);
}

bool on_card(Backend backend) noexcept {
  return backend == Backend::kCuda || backend == Backend::kEmulate ||
         (backend == Backend::kAuto && cuda_device_count() > 0);
}

SlicePlan plan_slices(const ReconJob& job, Geometry geometry, Executor& executor) {
  check_method(job);
  geometry.tilt = job.tilt_deg * std::numbers::pi / 180;
  SlicePlan plan{.geometry = std::move(geometry), .grid = {}};
  plan.rays = {.iterations = job.iterations,
               .filter = job.filter,
               .blocks = job.blocks,
               .order = job.block_order,
               .weight = job.reg_par,
               .edge = job.reg_edge,
               .gram = job.gram};
  if (job.method == Method::kExact && job.tilt_deg == 0) {
    plan.grid = plan_exact(plan.geometry, job.filter, {}, executor);
  } else if (job.method == Method::kGridrec) {
    plan.grid = plan_gridrec(plan.geometry, job.filter, executor);
  } else {
    plan.rays.method = ray_method(job.method);
  }
  if (job.gram == Gram::kFft) plan.seen = plan_seen(plan.geometry, executor);
  return plan;
}

SliceEngine::SliceEngine(const SlicePlan& plan, Backend backend, const Observer& observer)
    : image_(plan.image()) {
  if (!plan.grid && (backend == Backend::kCuda || backend == Backend::kEmulate)) {
    throw Error(Status::kUnsupported,
                "--backend: --method exact and gridrec go to a card, no other, and without --tilt");
  }
  if (plan.grid) device_ = open_card(*plan.grid, backend, observer);
  if (device_) {
    made_on_ = backend == Backend::kEmulate ? backend : Backend::kCuda;
    return;
  }
  if (plan.grid) {
    direct_ = std::make_unique<DirectEngine>(*plan.grid);
  } else if (plan.by_planes()) {
    tilted_ = std::make_unique<TiltedEngine>(plan.geometry, plan.rays.filter);
  } else if (plan.seen) {
    convolved_ = std::make_unique<ConvolvedEngine>(*plan.seen, plan.geometry, plan.rays);
  } else {
    rays_ = std::make_unique<RayEngine<float>>(plan.geometry, plan.rays);
  }
}

void SliceEngine::reconstruct(const StackView& projections, const VolumeView& slices,
                              Executor& executor, const std::function<void(std::size_t)>& before) {
  if (device_) return device_->reconstruct(projections, slices, executor);
  if (direct_) return direct_->reconstruct(projections, slices, executor);
  if (tilted_) return tilted_->reconstruct(projections, slices, executor);
  if (convolved_) {
    convolved_->reconstruct(projections, slices, executor, before);
  } else {
    rays_->reconstruct(projections, slices, executor, before);
  }
  require_numbers(slices, projections.slices, image_);
}

}  // namespace tomoloom
