// SPDX-License-Identifier: BSD-3-Clause
// From windows and guarded bins to the rows of the result.
#pragma once

#include "fiberloom/extract/exact/bundle.hpp"

namespace fiberloom::exact {

/// Writes flux, ivar, xflux and resolution of a fibre (result row `row`) from work.root; returns
/// the number of its bins without information.
std::size_t scatter_fiber(const FrameContext& frame, const Windows& windows,
                          const BundleWorkspace& work, int fiber, std::size_t row,
                          ExtractResult& result);

/// Of one bin: Q 1, Q x, and Q(j, j + d) for 0 <= d <= nd at equal steps.
struct RootBin {
  double q1, qx;
  const double* q;
  bool drowned;
};

/// The root of one fibre by bin, gathered from several passes.
class FiberRoot {
 public:
  explicit FiberRoot(int nd) : nd_(nd) {}
  [[nodiscard]] bool empty() const { return q1_.empty(); }
  /// Bins of the windows' core. The first call takes all bins.
  void take(const Windows& windows, const RootBuffers& root, BinRange bins);
  /// As seam_difference(): of bin j here and in these windows, whose core it may just miss.
  [[nodiscard]] double difference(const Windows& windows, const RootBuffers& root, int j) const;
  [[nodiscard]] RootBin bin(int j) const {
    const auto at = static_cast<std::size_t>(j);
    return {q1_[at], qx_[at], q_.data() + at * static_cast<std::size_t>(nd_ + 1),
            drowned_[at] != 0};
  }

 private:
  int nd_;
  std::vector<double> q1_, qx_, q_;
  std::vector<unsigned char> drowned_;
};

/// The same of a fibre that was gathered.
std::size_t scatter_fiber(const FrameContext& frame, const FiberRoot& root,
                          const BundleWorkspace& work, int fiber, std::size_t row,
                          ExtractResult& result);

/// Writes chi2pix and pixmask_fraction of the bundle's requested fibres.
void scatter_diagnostics(const FrameContext& frame, const BundleGeometry& geometry,
                         const BundleWorkspace& work, ExtractResult& result);

/// Writes xflux of the bundle's requested fibres; 0 where a bin has next to no light on good
/// pixels.
void scatter_fluxes(const FrameContext& frame, const BundleGeometry& geometry,
                    const BundleWorkspace& work, ExtractResult& result);

/// Largest difference of neighbouring windows at the bins beside their common border, where each
/// has the other's answer in its skirt: in units of sigma for Q x, relative times Q x for Q 1.
[[nodiscard]] double seam_difference(const Windows& windows, int nd, const RootBuffers& root);

}  // namespace fiberloom::exact
