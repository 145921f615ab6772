// SPDX-License-Identifier: BSD-3-Clause
// Model image and goodness of fit of a solved bundle.
#pragma once

#include "fiberloom/extract/exact/normal_equations.hpp"

namespace fiberloom::exact {

struct DiagnosticWork {
  GrowBuffer<double> model, chi2;  ///< strips of the bundle, as Strip
  GrowBuffer<double> chi2pix;      ///< [nfiber][nbin_padded]
  GrowBuffer<float> spots;  ///< of the tiles that wait for their rows, as float32: half the cache
  GrowBuffer<double> tile;
  [[nodiscard]] const double* chi2pix_of(int fiber, int nbin_padded) const {
    return chi2pix.data() + static_cast<long>(fiber) * nbin_padded;
  }
};

/// m = A x (work.model; unconstrained bins only on good pixels) and chi2pix = A^T chi2 / A^T [w >
/// 0], 0 where no pixel is good. Spots are computed again: cheaper than keeping them. chi2pix
/// weighs with them in float32 (relative error 6e-8; docs/algorithm.md). `x`: fibre f's flux at x +
/// f pitch + margin of n.
void diagnose(const SpotPlan& plan, const BundleGeometry& geometry, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
              const double* x, double psferr, DiagnosticWork& work);

}  // namespace fiberloom::exact
