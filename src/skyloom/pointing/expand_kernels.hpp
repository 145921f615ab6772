// SPDX-License-Identifier: BSD-3-Clause
// The loops over samples of an ISA level. For expand.cpp and expand_cpu.cpp.
#pragma once

#include "loom/simd/isa.hpp"
#include "skyloom/pointing/expand_lane.hpp"

namespace skyloom {

struct ExpandKernels {
  void (*expand)(const ExpandView& view);
};

[[nodiscard]] const ExpandKernels& expand_kernels(Isa isa);

}  // namespace skyloom
