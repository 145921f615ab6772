// SPDX-License-Identifier: BSD-3-Clause
// The model image of a bundle while its weights are refined: light is added only where the solution
// has changed.
#pragma once

#include "fiberloom/extract/exact/diagnostics.hpp"
#include "fiberloom/extract/exact/refine.hpp"

namespace fiberloom::exact {

/// A change of a bin's flux that no pixel sees as so much of its sigma waits for more.
inline constexpr double kUnseenSigma = 1e-2;

class LiveModel {
 public:
  /// `n`: assembled with the first weights, priors included; work.first_phi belongs to it.
  LiveModel(const SpotPlan& plan, const BundleGeometry& geometry, FloatSpotKernel spots,
            const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
            RefineWork& work);

  /// Brings work.model up to A x, within kUnseenSigma of a pixel's sigma a bin, and work.stale up
  /// to the rows in which it has changed. Guard bins count. Bins that were unconstrained from the
  /// start shine on pixels that have weight at the start alone. False: bins have become
  /// unconstrained since, and work.model is void.
  [[nodiscard]] bool follow(const double* x);

 private:
  [[nodiscard]] bool follows() const;
  void add_tile(int fiber, int tile, const double* x);
  void add_where_weighed(const float* spot, float light, int row, int column);
  [[nodiscard]] double& lit(int fiber, int j) {
    return work_.lit[static_cast<std::size_t>(fiber * n_.nbin + j)];
  }

  const SpotPlan& plan_;
  const BundleGeometry& g_;
  FloatSpotKernel spots_;
  const PixelKernels& kernels_;
  const Strip& strip_;
  const NormalEquations& n_;
  RefineWork& work_;
  FloatStrip layout_;
  bool first_ = true, follows_ = true;
  std::vector<double> inverse_sigma_;  ///< [fiber][bin], with the first weights
  GrowBuffer<float> spot_;             ///< of a tile
};

}  // namespace fiberloom::exact
