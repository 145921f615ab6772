// SPDX-License-Identifier: BSD-3-Clause
// What a PSF, a grid and the bundles come to on a device, before anything of a frame: it takes the
// host as long as all else of a frame, and the frames of a camera share it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "fiberloom/extract/exact/geometry.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::exact::gpu {

/// Live bins of a fibre, and whether they are in one piece whose rows go one way: what the kernels
/// search in.
struct FiberExtent {
  int first = 0, last = 0, direction = 1;
  bool plain = true;
  int bends = 0;  ///< most columns between spots that share rows
};

struct CameraBundle {
  BundleGeometry geometry;  ///< without its traces
  BinRange lit{0, 0};       ///< model_bins()
  BinRange fit{0, 0};       ///< fit_rows()
  std::vector<FiberExtent> extents;
  std::vector<int> x0, y0;          ///< [nfiber][nbin]
  std::vector<unsigned char> live;  ///< the same
};
using CameraGeometry = std::vector<CameraBundle>;

/// What it follows from.
struct CameraKey {
  SpotPlan plan;
  std::vector<BundleRange> bundles;
  int guard = 0;
  double coupling_floor = 0;
  Isa isa = Isa::kGeneric;
  [[nodiscard]] bool operator==(const CameraKey&) const = default;
};

[[nodiscard]] CameraGeometry make_camera_geometry(const CameraKey& key, Executor& executor);

/// Those that were used last. Thread-safe; two frames that want the same at the same time may both
/// make it.
class GeometryStore {
 public:
  /// A spectrograph's cameras. Each takes 9 bytes a bin and its PSF.
  static constexpr std::size_t kMost = 32, kCameraBytes = std::size_t{14} << 20;
  /// The same whether it was there or is made.
  [[nodiscard]] std::shared_ptr<const CameraGeometry> get(const CameraKey& key, Executor& executor);
  [[nodiscard]] std::size_t count() const;

 private:
  struct Kept {
    CameraKey key;
    std::shared_ptr<const CameraGeometry> geometry;
  };
  [[nodiscard]] std::shared_ptr<const CameraGeometry> find(const CameraKey& key);
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Kept>> kept_;  ///< the last one was used last
};

}  // namespace fiberloom::exact::gpu
