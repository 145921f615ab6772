// SPDX-License-Identifier: BSD-3-Clause
// The destriped map of an offset system: offsets by conjugate gradients, with or without a prior.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "skyloom/mapping/offset_system.hpp"
#include "skyloom/mapping/solve.hpp"

namespace skyloom {

/// The inverse covariance of each stream's offsets: lags 0, 1 ... of a symmetric filter; empty:
/// nothing is known of that stream's.
using OffsetPrior = std::vector<std::vector<double>>;

/// Of the offsets' equations: the diagonal of M^T N^-1 M and the prior, or with a prior a band of
/// it. Tried and lost: a second level in which offsets of a stream that follow one another move
/// together (docs/skyloom/algorithm.md).
enum class Preconditioner { kBanded, kDiagonal };

/// A a elsewhere than on the CPU: as OffsetSystem::apply().
using OffsetVerb = std::function<void(std::span<const double> a, std::span<double> out)>;

/// Who takes the steps instead of the CPU; empty: nobody.
struct Elsewhere {
  OffsetVerb apply;
  /// All of an iteration, with the diagonal of A as its preconditioner: used where there is no
  /// prior.
  SolverVectors* vectors = nullptr;
};

/// Offsets of all baselines; left-out ones are 0, without a prior their weighted mean is. Solves (A
/// + C_a^-1) a = b: `prior` has a filter for each stream, or there is none.
[[nodiscard]] Solution destripe(const OffsetSystem& system, const OffsetPrior& prior,
                                const SolveLimits& limits, Executor& executor,
                                const Observer& observer = {}, SolverMemory* memory = nullptr,
                                Preconditioner preconditioner = Preconditioner::kBanded,
                                const Elsewhere& elsewhere = {});

}  // namespace skyloom
