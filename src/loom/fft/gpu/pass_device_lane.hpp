// SPDX-License-Identifier: BSD-3-Clause
// A pass of a batched transform on a device: the CPU's text with a lane of an element a thread, so
// that neighbouring threads have neighbouring numbers. Seen by host code and by .cu: plain data
// only.
#pragma once

#include "loom/base/scalar_lane.hpp"
#include "loom/fft/fft_lane.hpp"

namespace loom::gpu {

/// Of an element: real parts, then as many imaginary parts.
inline constexpr long kFftLanes = 16, kFftElement = 2 * kFftLanes;

/// A pass of the transforms of `lines` problems of elements. Threads: lines x groups x stride x
/// kFftLanes.
struct PassArgs {
  long groups = 0, stride = 0;
  const float* twiddles = nullptr;  ///< of the pass
  const float* in = nullptr;
  long in_line = 0;  ///< numbers from a line to the next
  long step = 1;     ///< elements of a line are so many elements apart
  long count = 0;    ///< of them; those behind are 0
  float* out = nullptr;
  long out_line = 0;
};
template <int R, int Sign>
struct PassKernel {
  using Args = PassArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lane = thread % kFftLanes, rest = thread / kFftLanes;
    const long q = rest % a.stride, g = rest / a.stride % a.groups;
    const long line = rest / a.stride / a.groups;
    lane::butterfly<FloatLane, R, Sign>(
        static_cast<std::size_t>(a.groups), static_cast<std::size_t>(a.stride),
        static_cast<std::size_t>(g), static_cast<std::size_t>(q), a.twiddles + g * 2 * (R - 1),
        a.in + line * a.in_line + lane, static_cast<std::size_t>(a.step),
        static_cast<std::size_t>(a.count), a.out + line * a.out_line + lane);
  }
};

}  // namespace loom::gpu
