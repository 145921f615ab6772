// SPDX-License-Identifier: BSD-3-Clause
// Model image and goodness of fit of a solved bundle.
#pragma once

#include "fiberloom/extract/exact/normal_equations.hpp"

namespace fiberloom::exact {

struct DiagnosticWork {
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
