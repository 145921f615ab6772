// SPDX-License-Identifier: BSD-3-Clause
// From spectra to blocks: bad pixels, coadds of exposures, pixels that are lost. Two sets of rules:
// ours, and the peer's to the letter.
#pragma once

#include <span>

#include "fiberloom/redshift/target.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::redshift {

/// What becomes of several exposures on the same wavelengths.
enum class Coadd {
  kNone,     ///< each is a block of its own: a joint fit
  kRows,     ///< f = sum w f / sum w, and row i of R with the weights of pixel i: E[f] = R s holds
  kColumns,  ///< the peer's: column j of R with the weights of pixel j, zero where they vanish
};

/// What sky subtraction left of all lines alike (sky_residual.hpp).
enum class SkyResidual { kKeep, kSubtract };

struct PrepareOptions {
  Coadd coadd = Coadd::kRows;
  /// A pixel whose row of R sums to less is dropped: part of its light comes from where no template
  /// is evaluated. The peer takes 0.99 of columns that bad pixels emptied, and so loses four good
  /// pixels beside each bad one; rows lose theirs at the ends of a grid alone.
  double least_row_sum = 0.9;
  /// A pixel whose ivar is more than so many times the median of its spectrum's is dropped, and
  /// counted: no detector sees such a range, and the fit would be of that pixel alone. 0: none.
  double most_ivar_ratio = 1e9;
  /// A pixel whose flux is more than so many of its errors away from 0 is dropped, and counted: no
  /// detector counts 1e12 electrons, and of 1e4 such pixels chi2, a double, would not be right to 1
  /// any more: redshifts would be told apart by rounding. 0: none.
  double most_snr = 1e6;
  /// A pixel whose row of R sums to more, all of it taken as positive, is dropped, and counted:
  /// rows sum to 1, and the mean of R that the fast scan takes would be that of this spectrum. 0:
  /// none.
  double most_row_sum = 100;
  double negative_nsig = 5;  ///< pixels below -n sigma are dropped; 0: none
  double cosmic_nsig = 0;    ///< kColumns alone: the peer's rejection of cosmic rays; 0: none
  /// Spikes narrower than the resolution are dropped (robust.hpp); 0: none. What has no resolution
  /// has no such pixels.
  double hot_pixel_nsig = 5;
  /// Variance is added on lines of the sky (robust.hpp); 0: none.
  double sky_line_share = 0.15;
  SkyResidual sky_residual = SkyResidual::kKeep;  ///< kSubtract: where sky_line_share is not 0
  bool mask_sky_lines = true;                     ///< 5572-5582 and 9792-9795 Angstrom are dropped
};

/// The rules of redrock 0.22.
[[nodiscard]] inline PrepareOptions redrock_rules() {
  return {.coadd = Coadd::kColumns,
          .least_row_sum = 0.99,
          .most_ivar_ratio = 0,
          .most_snr = 0,
          .most_row_sum = 0,
          .hot_pixel_nsig = 0,
          .sky_line_share = 0};
}

/// Pixels that are not finite, have no positive ivar or a mask bit count as missing: weight 0.
/// A target without a good pixel keeps its blocks. Grids are shared where wavelengths are equal.
/// Throws kWrongShape where sizes disagree, wavelengths do not increase or ndiag is even.
[[nodiscard]] TargetSet prepare(std::span<const TargetView> targets, const PrepareOptions& options,
                                Executor& executor);

}  // namespace fiberloom::redshift
