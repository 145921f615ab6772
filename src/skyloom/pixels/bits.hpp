// SPDX-License-Identifier: BSD-3-Clause
// Bits of two numbers in turn: what NESTED pixels are numbered by. Also for kernels.
#pragma once

#include <cstdint>

#include "loom/base/scalar_lane.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

/// Bit i, of the low half, to bit 2 i.
[[gnu::always_inline]] FL_LANE_HD inline std::uint32_t spread_bits(std::uint32_t v) noexcept {
  v &= 0xffffU;
  v = (v ^ (v << 8)) & 0x00ff00ffU;
  v = (v ^ (v << 4)) & 0x0f0f0f0fU;
  v = (v ^ (v << 2)) & 0x33333333U;
  return (v ^ (v << 1)) & 0x55555555U;
}

}  // namespace skyloom
