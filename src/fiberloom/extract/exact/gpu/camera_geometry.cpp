// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/exact/gpu/camera_geometry.hpp"

#include <algorithm>
#include <cstdlib>

#include "fiberloom/extract/exact/diagnostics.hpp"

namespace fiberloom::exact::gpu {
namespace {

FiberExtent extent_of(const FiberTrace& t, int nbin, int band) {
  FiberExtent e;
  const auto at = [](int j) { return static_cast<std::size_t>(j); };
  while (e.first < nbin && t.live[at(e.first)] == 0) ++e.first;
  e.last = nbin;
  while (e.last > e.first && t.live[at(e.last - 1)] == 0) --e.last;
  if (e.first == e.last) return {};
  e.direction = t.y0[at(e.last - 1)] >= t.y0[at(e.first)] ? 1 : -1;
  for (int j = e.first; j < e.last; ++j) {
    if (t.live[at(j)] == 0) e.plain = false;
    if (j > e.first && e.direction * (t.y0[at(j)] - t.y0[at(j - 1)]) < 0) e.plain = false;
    for (int k = j + 1; k < std::min(e.last, j + band + 1); ++k)
      e.bends = std::max(e.bends, std::abs(t.x0[at(k)] - t.x0[at(j)]));
  }
  return e;
}

CameraBundle make_bundle(const CameraKey& key, BundleRange range, SpotKernel spots) {
  CameraBundle b;
  b.geometry = bundle_geometry(key.plan, range, spots, key.coupling_floor);
  b.lit = model_bins(b.geometry, key.guard);
  b.fit = fit_rows(b.geometry, key.plan, key.guard);
  const int nbin = b.geometry.nbin;
  for (const FiberTrace& t : b.geometry.trace) {
    b.extents.push_back(extent_of(t, nbin, b.geometry.band));
    b.x0.insert(b.x0.end(), t.x0.begin(), t.x0.begin() + nbin);
    b.y0.insert(b.y0.end(), t.y0.begin(), t.y0.begin() + nbin);
    b.live.insert(b.live.end(), t.live.begin(), t.live.begin() + nbin);
  }
  b.geometry.trace = {};
  return b;
}

}  // namespace

CameraGeometry make_camera_geometry(const CameraKey& key, Executor& executor) {
  CameraGeometry camera(key.bundles.size());
  const SpotKernel spots = spot_kernels(key.isa).spots;
  executor.run(camera.size(),
               [&](std::size_t b) { camera[b] = make_bundle(key, key.bundles[b], spots); });
  return camera;
}

std::shared_ptr<const CameraGeometry> GeometryStore::find(const CameraKey& key) {
  std::vector<std::shared_ptr<const Kept>> all;
  {
    const std::lock_guard lock(mutex_);
    all = kept_;
  }
  // megabytes are compared: not while others wait
  const auto found =
      std::find_if(all.rbegin(), all.rend(), [&](const auto& k) { return k->key == key; });
  if (found == all.rend()) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto here = std::find(kept_.begin(), kept_.end(), *found);
  if (here != kept_.end()) std::rotate(here, here + 1, kept_.end());
  return (*found)->geometry;
}

std::shared_ptr<const CameraGeometry> GeometryStore::get(const CameraKey& key, Executor& executor) {
  if (auto found = find(key)) return found;
  auto made = std::make_shared<const Kept>(
      Kept{key, std::make_shared<const CameraGeometry>(make_camera_geometry(key, executor))});
  const std::lock_guard lock(mutex_);
  if (kept_.size() == kMost) kept_.erase(kept_.begin());
  kept_.push_back(made);
  return made->geometry;
}

std::size_t GeometryStore::count() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

}  // namespace fiberloom::exact::gpu
