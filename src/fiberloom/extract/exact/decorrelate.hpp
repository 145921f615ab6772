// SPDX-License-Identifier: BSD-3-Clause
// Square root of a fibre's marginal precision: flux, ivar and resolution (BS10 eq. 10-16).
#pragma once

#include "fiberloom/extract/exact/windows.hpp"
#include "fiberloom/extract/exact/workspace.hpp"
#include "fiberloom/linalg/banded.hpp"

namespace fiberloom::exact {

/// What to do with an S that is not positive definite, which a band too narrow can make it.
enum class Indefinite {
  kReport,  ///< return low = 0 and truncation = infinity: the caller widens the band
  kShift,   ///< add the smallest multiple of the identity that helps, and add its effect to
            ///< `truncation`
};

struct RootReport {
  double low = 1, high = 1;  ///< bounds on the spectrum of S; low = 0: not positive definite
  int poles = 0;
  double error = 0;  ///< relative error of the rational root
  double signal =
      0;  ///< largest sqrt(S_jj) |x_j|, about the largest signal-to-noise ratio of a bin
  double truncation = 0;  ///< error of a bin, in sigma, from what the band of S cuts off
};

struct RootBuffers {
  GrowBuffer<double> l, inv_d, v1, vx, ones, x, shifted;  // work
  GrowBuffer<double> q, q1, qx;  // results: [rows][nd + 1], [rows], [rows] lanes
};

/// Q = S^(1/2) for all windows of a fibre: its entries within `nd` of the diagonal, Q 1 and Q x.
/// `x` is the fibre's deconvolved flux by bin, `decay` the factor by which couplings fall from bin
/// to bin. Throws kNumerical when nothing helps.
RootReport square_root(const Windows& windows, int band, double decay, const double* s,
                       const double* x, int nd, double tolerance_sigma, const BandedKernels& banded,
                       Indefinite indefinite, RootBuffers& buffers);

}  // namespace fiberloom::exact
