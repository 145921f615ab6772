// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/destripe.hpp"

namespace skyloom {

Solution destripe(const OffsetSystem& system, const SolveLimits& limits, Executor& executor,
                  const Observer& observer) {
  const std::span<const double> diagonal = system.diagonal();
  return conjugate_gradients(
      {.right_side = system.right_side(),
       .apply = [&](std::span<const double> x,
                    std::span<double> out) { system.apply(x, out, executor); },
       .precondition =
           [&](std::span<const double> r, std::span<double> out) {
             for (std::size_t i = 0; i < out.size(); ++i) {
               out[i] = diagonal[i] > 0 ? r[i] / diagonal[i] : 0;
             }
           }},
      limits, executor, observer);
}

}  // namespace skyloom
