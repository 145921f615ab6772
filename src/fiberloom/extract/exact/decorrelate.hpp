// SPDX-License-Identifier: BSD-3-Clause
// Square root of a fibre's marginal precision: flux, ivar and resolution (BS10 eq. 10-16).
#pragma once

#include "fiberloom/extract/exact/parts.hpp"
#include "fiberloom/extract/exact/recipe.hpp"
#include "fiberloom/extract/exact/workspace.hpp"
#include "loom/base/log.hpp"
#include "loom/linalg/banded.hpp"

namespace fiberloom::exact {

/// What a root may cost and must reach.
struct RootTask {
  int band = 8;                  ///< of S
  int least_band = 8;            ///< the root may be taken with a narrower band, down to this one
  double decay = 0.6;            ///< factor by which couplings fall from bin to bin
  int nd = 5;                    ///< entries of Q wanted on each side of the diagonal
  double root_tolerance = 1e-7;  ///< error of the rational root, in units of a bin's sigma
  double tolerance = 1e-4;       ///< the same for what bands cut off, beside 10 eps kappa
  bool widest =
      false;  ///< no wider band is to be had: take the root whatever it costs in accuracy, of S
              ///< plus a multiple of the identity where S is not positive definite
  /// Bins that ask for a wider band may be left out, for who looks at them alone.
  bool may_leave = false;
  const Observer* observer = nullptr;  ///< asked for a stop between steps; may be null
};

/// Where S had to be made positive definite, bins are given up unless what was added to their
/// element of the diagonal is below this part of it.
inline constexpr double kMostShift = 0.1;

struct RootReport {
  bool lost = false;         ///< there is no root: the fibre has no result
  double low = 1, high = 1;  ///< bounds on the spectrum of S; low = 0: not positive definite
  int poles = 0;             ///< 0: given up, only the numbers below are known
  int band = 0;              ///< band that the root was taken with
  double error = 0;          ///< relative error of the rational root
  double signal =
      0;  ///< largest sqrt(S_jj) |x_j|, about the largest signal-to-noise ratio of a bin
  double truncation = 0;  ///< error of a bin, in sigma, from what the band of S cuts off
  double shift = 0;       ///< added to the diagonal of S, which was not positive definite
  /// What bands may cut off.
  [[nodiscard]] double allowed(const RootTask& task) const {
    return allowed_sigma(task.tolerance, high, low);
  }
  /// Bins whose band is too narrow, if they may be left out: these have no result, and those beside
  /// them a wrong one, as far as couplings reach.
  BinRanges left;
  double left_truncation = 0;  ///< of these
  /// Of the rational root, in sigma of the brightest bin.
  [[nodiscard]] double root_error() const { return root_sigma(error, signal); }
};

struct RootBuffers {
  WorkArena& arena;
  // work
  GrowBuffer<double> l{arena}, inv_d{arena}, v1{arena}, vx{arena}, ones{arena}, x{arena},
      shifted{arena}, narrow{arena}, weight{arena};
  // results: [rows][nd + 1], [rows], [rows] lanes
  GrowBuffer<double> q{arena}, q1{arena}, qx{arena};
  /// [rows] lanes: 1 where the shift of S drowns a bin; empty where nothing was added
  GrowBuffer<unsigned char> drowned{arena};
  [[nodiscard]] bool is_drowned(std::size_t at) const {
    return drowned.size() > 0 && drowned[at] != 0;
  }
};

/// Q = S^(1/2) for all windows of a fibre: its entries within nd of the diagonal, Q 1 and Q x. `x`
/// is the fibre's deconvolved flux by bin. Gives up (no poles) when the band of S cuts off more
/// than the tolerance and a wider one may be had; truncation then says by how much, infinite when S
/// is not even positive definite. Where nothing helps the fibre is lost, never an exception.
RootReport square_root(const Windows& windows, const RootTask& task, const double* s,
                       const double* x, const BandedKernels& banded, RootBuffers& buffers);

/// The bounds alone: as square_root(), with band 0 where it gives up, and without poles.
RootReport root_bounds(const Windows& windows, const RootTask& task, const double* s,
                       const double* x, const BandedKernels& banded, RootBuffers& buffers);

}  // namespace fiberloom::exact
