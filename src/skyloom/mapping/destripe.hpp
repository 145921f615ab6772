// SPDX-License-Identifier: BSD-3-Clause
// The destriped map of an offset system: offsets by conjugate gradients, with or without a prior.
#pragma once

#include <vector>

#include "skyloom/mapping/offset_system.hpp"
#include "skyloom/mapping/solve.hpp"

namespace skyloom {

/// The inverse covariance of each stream's offsets: lags 0, 1 ... of a symmetric filter; empty:
/// nothing is known of that stream's.
using OffsetPrior = std::vector<std::vector<double>>;

/// Offsets of all baselines; left-out ones are 0, without a prior their weighted mean is. Solves (A
/// + C_a^-1) a = b: `prior` has a filter for each stream, or there is none. The preconditioner is
/// the diagonal of M^T N^-1 M, with a prior that and a band of the filter.
[[nodiscard]] Solution destripe(const OffsetSystem& system, const OffsetPrior& prior,
                                const SolveLimits& limits, Executor& executor,
                                const Observer& observer = {}, SolverMemory* memory = nullptr);

}  // namespace skyloom
