// SPDX-License-Identifier: BSD-3-Clause
// What banded recurrences are written with: elements of a lane, a ring of the rows before, loops
// that become straight lines.
#pragma once

#include <type_traits>
#include <utility>

#include "loom/base/scalar_lane.hpp"

namespace loom::lane {

/// Doubles between neighbouring elements of one lane: 8 on a CPU, 32 for the threads of a GPU warp.
template <class V>
inline constexpr int lane_stride = 8;
template <int Stride>
inline constexpr int lane_stride<StridedLane<Stride>> = Stride;

template <class V>
FL_LANE_HD inline V at(const double* p, int index) {
  return V::load(p + static_cast<long>(index) * lane_stride<V>);
}
template <class V>
FL_LANE_HD inline void put(double* p, int index, V value) {
  value.store(p + static_cast<long>(index) * lane_stride<V>);
}

/// The last `Keep` rows of `Size` elements that a recurrence looks back at, zeros at first. A power
/// of two of them, so that finding one costs no division.
template <class V, int Keep, int Size>
class Ring {
 public:
  FL_LANE_HD Ring() {
    for (V& v : rows_) v = V(0.0);
  }
  FL_LANE_HD V* row(int index) { return rows_ + (index & (kRows - 1)) * Size; }

 private:
  static constexpr int kRows = Keep <= 8 ? 8 : Keep <= 16 ? 16 : Keep <= 32 ? 32 : 64;
  V rows_[kRows * Size];
};

#if defined(FL_STRAIGHT_LINES)  // else the loops stay: the operations are the same
inline constexpr int kMostStraight = 32;
#else
inline constexpr int kMostStraight = 0;
#endif

/// std::integral_constant, which a GPU may not call.
template <int N>
struct Constant {
  static constexpr int value = N;
  [[gnu::always_inline]] FL_LANE_HD constexpr operator int() const { return N; }
};

template <int A, int B>
[[gnu::always_inline]] FL_LANE_HD constexpr Constant<A - B> less(Constant<A>, Constant<B>) {
  return {};
}
[[gnu::always_inline]] FL_LANE_HD constexpr int less(int a, int b) { return a - b; }

template <int First, int... I, class Body>
[[gnu::always_inline]] FL_LANE_HD inline void count_down(std::integer_sequence<int, I...>,
                                                         Body& body) {
  (body(Constant<First - I>{}), ...);
}

/// body(k) for k = first ... last. Where first is a constant up to MostStraight there is no loop,
/// and each k is a constant too: pragmas do not unroll loops within loops reliably.
template <int Last, int MostStraight = kMostStraight, class First, class Body>
[[gnu::always_inline]] FL_LANE_HD inline void downwards(First first, Body body) {
  if constexpr (std::is_same_v<First, int>) {
    for (int k = first; k >= Last; --k) body(k);
  } else if constexpr (First::value > MostStraight) {
    FL_UNROLL
    for (int k = first; k >= Last; --k) body(k);
  } else {
    count_down<First::value>(std::make_integer_sequence<int, First::value - Last + 1>{}, body);
  }
}

}  // namespace loom::lane
