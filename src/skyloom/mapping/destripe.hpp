// SPDX-License-Identifier: BSD-3-Clause
// The destriped map of an offset system: offsets by conjugate gradients with the diagonal as
// preconditioner.
#pragma once

#include "skyloom/mapping/offset_system.hpp"
#include "skyloom/mapping/solve.hpp"

namespace skyloom {

/// Offsets of all baselines; left-out ones are 0.
[[nodiscard]] Solution destripe(const OffsetSystem& system, const SolveLimits& limits,
                                Executor& executor, const Observer& observer = {});

}  // namespace skyloom
