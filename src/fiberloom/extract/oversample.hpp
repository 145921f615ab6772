// SPDX-License-Identifier: BSD-3-Clause
// A solution on finer bins than those of the result (docs/fiberloom/algorithm.md, "Light between
// the centres of bins"). Knows no engine: what to solve, and what becomes of it.
#pragma once

#include "fiberloom/extract/extract.hpp"

namespace fiberloom {

/// Options of the solution: each bin cut into `oversample` equal ones, and as many diagonals as the
/// result needs of them. `oversample` of it is 1.
[[nodiscard]] ExtractOptions finer_options(const ExtractOptions& options);

/// How many diagonals that is.
[[nodiscard]] int finer_diagonals(const ExtractOptions& options);

/// The result on the bins of `options` from that on finer_options(). Errors of the fine fluxes are
/// uncorrelated, so the weighted means of disjoint groups of them are, too:
///   flux_J = sum_j ivar_j flux_j / ivar_J,  ivar_J = sum_j ivar_j  over the bins j of J.
/// fine_resolution has E[flux_J] = sum_k C[J,k] truth_k with the truth per Angstrom of fine bins k,
/// resolution the same of light that is even within each bin.
[[nodiscard]] ExtractResult coarser_result(ExtractResult fine, const ExtractOptions& options);

/// Middles of the fine bins.
[[nodiscard]] std::vector<double> finer_grid(const std::vector<double>& wave_aa, int oversample);

}  // namespace fiberloom
