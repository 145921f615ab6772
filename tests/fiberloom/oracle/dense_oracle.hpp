// SPDX-License-Identifier: BSD-3-Clause
// The exact answer of a small problem, straight from Bolton & Schlegel (2010) and design section 2,
// in extended precision: no bands, no windows, no rational root, none of the engine's code.
#pragma once

#include <vector>

#include "fiberloom/extract/extract.hpp"

namespace fiberloom::oracle {

/// The bins over which the median diagonal that scales the prior is taken (those with phi > 0.5).
enum class PriorScope { kWithGuards, kGridOnly };

/// `wave` with `below` bins before and `above` bins after it, in the first and last step.
[[nodiscard]] std::vector<double> extended_grid(const std::vector<double>& wave, int below,
                                                int above);

/// Same arguments as the engine under test, plus the number of guard bins at each end of the grid.
/// Every bundle that holds a requested fibre is solved as a whole:
///   N = A^T W A (+ regularize^2 on constrained bins, + 1e-9 x median diagonal on unconstrained
///   ones), x = N^-1 y, S_i = Schur complement of all other fibres = inverse of the block of N^-1,
///   Q = S^(1/2) by eigen-decomposition, s = Q 1, R = Q / s, flux = Q x / s, ivar = s^2;
/// with fiber_correlation also Q_i Z Q_i+1, Z being the block of N^-1 of fibres i and i + 1;
/// with decorrelate_fibers Q = N^(1/2) of all fibres and bins, of which R has the fibre's own
/// block. x enters `flux` as solved, also where a bin is unconstrained; such bins then leave as
/// flux = ivar = xflux = 0 with an identity row of R. chi2pix takes the whole A x (guard bins, all
/// fibres of the bundle); so does the model image, an unconstrained bin on good pixels only.
///
/// Accuracy: long double throughout. Errors are about 10 u kappa(N) in units of sigma, u = 5e-20 on
/// x86-64: 1e-11 at kappa = 1e7, 1e-7 at kappa = 1e11; a double engine cannot see them. The median
/// of an even number of values is the mean of the two in the middle.
/// Cost: nfiber n (5 x 160 unknowns: 0.3 s); memory n x profile.
/// BundleReport: kappa is the largest true condition number of an S_i.
[[nodiscard]] ExtractResult dense_oracle(const CcdFrame& ccd, const PsfModel& psf,
                                         const ExtractOptions& options, int guard_bins,
                                         PriorScope scope = PriorScope::kWithGuards);

}  // namespace fiberloom::oracle
