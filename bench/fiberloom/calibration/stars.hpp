// SPDX-License-Identifier: BSD-3-Clause
// Rules of the standard stars' fit against stars whose model and velocity are known.
#pragma once

#include <cstddef>

#include "loom/base/executor.hpp"

namespace fiberloom::bench {

/// Prints errors of each rule and a verdict. `seeds` x 24 stars, 4 kinds of S/N, with and without
/// spikes.
void judge_star_rules(std::size_t seeds, loom::Executor& executor);

}  // namespace fiberloom::bench
