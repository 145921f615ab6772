// SPDX-License-Identifier: BSD-3-Clause
// Model image and goodness of fit of a solved bundle.
#pragma once

#include "fiberloom/extract/exact/normal_equations.hpp"

namespace fiberloom::exact {

/// How well the model of a bundle fits its pixels, and by which fraction of itself it is off where
/// pixels are bright.
class FitTally {
 public:
  double sums[3] = {};  ///< chi2, pixels, bright pixels: PixelKernels::fit
  /// CCD rows that count: where every fibre has bins that were asked for, since guard bins beyond
  /// have no whole model.
  int first_row = 0, last_row = 0;
  /// A bright pixel that is off by so much of its model, with its bright_noise2().
  void add_bright(double off, double noise2);
  /// Many of them, counted by fit_bin().
  void add_bright(const unsigned* counts, double noise2);
  /// Such that half of the bright pixels are off by more than noise and it together explain; < 0:
  /// too few pixels.
  [[nodiscard]] double psferr() const;

 private:
  unsigned histogram_[kFitBins] = {};
  double noise2_ = 0;
  std::size_t count_ = 0;
};

/// CCD rows where every fibre has bins that were asked for: FitTally.
[[nodiscard]] BinRange fit_rows(const BundleGeometry& geometry, const SpotPlan& plan, int guard);
/// What the report says of it.
void report_fit(const FitTally& fit, std::size_t parameters, BundleReport& report);

/// A strip in float32, wide enough for float32 spots: their frames are columns of it.
struct FloatStrip {
  explicit FloatStrip(const Strip& strip)
      : x0(frame_of(strip.x0, kFloatLanes)),
        y0(strip.y0),
        pitch(frame_of(static_cast<int>(strip.pitch) + strip.x0 - x0 + 2 * kFloatLanes - 1,
                       kFloatLanes)) {}
  int x0, y0;  ///< CCD pixel of its corner
  long pitch;
  /// Place of a stored spot.
  [[nodiscard]] int row_of(const FiberTrace& trace, int j) const {
    return trace.y0[static_cast<std::size_t>(j)] - y0;
  }
  [[nodiscard]] int column_of(const FiberTrace& trace, int j) const {
    return frame_of(trace.x0[static_cast<std::size_t>(j)], kFloatLanes) - x0;
  }
};

struct DiagnosticWork {
  FitTally fit;
  GrowBuffer<float> model;     ///< strip of the bundle; behind the front it holds chi2
  GrowBuffer<double> chi2pix;  ///< [nfiber][nbin_padded]
  GrowBuffer<float> spots;     ///< of the tiles that wait for their rows
  [[nodiscard]] const double* chi2pix_of(int fiber, int nbin_padded) const {
    return chi2pix.data() + static_cast<long>(fiber) * nbin_padded;
  }
};

/// m = A x (unconstrained bins only on good pixels; into `image`, rows x pitch of the strip and
/// zero before, unless it is null) and chi2pix = A^T chi2 / A^T [w > 0], 0 where no pixel is good.
/// Spots are computed again: cheaper than keeping them; in float32 (docs/fiberloom/algorithm.md has
/// the error), since nothing is solved with them. `x`: fibre f's flux at x + f pitch + margin of n.
/// `guard`: bins at both ends that nobody asked for; they count as far as they meet others.
void diagnose(const SpotPlan& plan, const BundleGeometry& geometry, FloatSpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
              const double* x, double psferr, int guard, DiagnosticWork& work,
              Array2D<float>* image);

}  // namespace fiberloom::exact
