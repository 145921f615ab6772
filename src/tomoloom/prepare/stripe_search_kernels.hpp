// SPDX-License-Identifier: BSD-3-Clause
// The loops of stripe_weights() of an ISA level. For stripe_search.cpp and stripe_search_cpu.cpp.
#pragma once

#include <cstddef>

#include "loom/simd/isa.hpp"
#include "tomoloom/prepare/mirrored_window.hpp"
#include "tomoloom/prepare/stripe_kernels.hpp"

namespace tomoloom {

struct StripeSearchKernels {
  /// sums[x] += |line[x + 2] - line[x]|, at the end of the line |line[x - 2] - line[x]|.
  void (*add_slopes)(const float* line, std::size_t n, float* sums);
  /// sums[x] += line[x].
  void (*add_values)(const float* line, std::size_t n, float* sums);
  /// How unlike sums over (2 radius + 1)^2 places along a stripe and those over 3 radius places
  /// across it are: stripe_weights()' ratio. `across` has sums over three rows, of each column.
  void (*ratios)(const float* along, const float* across, std::size_t n, std::size_t radius,
                 float* out);
  /// Of kRankLanes lines, point (i, lane) at in + i * step + lane, the value of `rank` in each
  /// window; the first `count` of them to out + i * out_step. `window` holds walk.size *
  /// kRankLanes.
  void (*ranks)(const float* in, std::size_t step, const WindowWalk& walk, std::size_t rank,
                std::size_t count, float* window, float* out, std::size_t out_step);
};

[[nodiscard]] const StripeSearchKernels& stripe_search_kernels(Isa isa);

}  // namespace tomoloom
