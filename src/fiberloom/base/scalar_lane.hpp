// SPDX-License-Identifier: BSD-3-Clause
// ScalarLane: the lane type of one problem at a time. The references use it on the CPU, CUDA
// threads on a GPU; it offers what simd/pack.hpp's Pack offers, so that a *_lane.hpp text serves
// both.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define FL_LANE_HD __host__ __device__
#define FL_UNROLL _Pragma("unroll")
#else
#define FL_LANE_HD
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FL_UNROLL  // instrumented straight-line code takes minutes to compile
#else
#define FL_UNROLL _Pragma("GCC unroll 16")  // bands up to 16 become straight-line code
#endif
#endif

namespace fiberloom {

struct ScalarLane {
  static constexpr int width = 1;
  double v;

  ScalarLane() = default;
  FL_LANE_HD ScalarLane(double s) : v(s) {}
  FL_LANE_HD static ScalarLane load(const double* p) { return {*p}; }
  FL_LANE_HD void store(double* p) const { *p = v; }

  FL_LANE_HD friend ScalarLane operator+(ScalarLane a, ScalarLane b) { return {a.v + b.v}; }
  FL_LANE_HD friend ScalarLane operator-(ScalarLane a, ScalarLane b) { return {a.v - b.v}; }
  FL_LANE_HD friend ScalarLane operator*(ScalarLane a, ScalarLane b) { return {a.v * b.v}; }
  FL_LANE_HD friend ScalarLane operator/(ScalarLane a, ScalarLane b) { return {a.v / b.v}; }
  FL_LANE_HD ScalarLane operator-() const { return {-v}; }
  FL_LANE_HD ScalarLane& operator+=(ScalarLane b) {
    v += b.v;
    return *this;
  }
  FL_LANE_HD ScalarLane& operator-=(ScalarLane b) {
    v -= b.v;
    return *this;
  }
  FL_LANE_HD ScalarLane& operator*=(ScalarLane b) {
    v *= b.v;
    return *this;
  }
};

FL_LANE_HD inline ScalarLane fma(ScalarLane a, ScalarLane b, ScalarLane c) {
  return {a.v * b.v + c.v};
}
FL_LANE_HD inline ScalarLane fnma(ScalarLane a, ScalarLane b, ScalarLane c) {
  return {c.v - a.v * b.v};
}
FL_LANE_HD inline ScalarLane max(ScalarLane a, ScalarLane b) { return {a.v > b.v ? a.v : b.v}; }
FL_LANE_HD inline ScalarLane min(ScalarLane a, ScalarLane b) { return {a.v < b.v ? a.v : b.v}; }
FL_LANE_HD inline ScalarLane abs(ScalarLane a) { return {a.v < 0 ? -a.v : a.v}; }
FL_LANE_HD inline ScalarLane select_positive(ScalarLane c, ScalarLane a, ScalarLane b) {
  return c.v > 0 ? a : b;
}
FL_LANE_HD inline ScalarLane round_even(ScalarLane a) { return {::rint(a.v)}; }
FL_LANE_HD inline ScalarLane floor(ScalarLane a) { return {::floor(a.v)}; }
FL_LANE_HD inline ScalarLane sqrt(ScalarLane a) { return {::sqrt(a.v)}; }
FL_LANE_HD inline ScalarLane pow2(ScalarLane n) {
  const std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(n.v) + 1023)
                             << 52;
  double r;
  std::memcpy(&r, &bits, sizeof r);
  return {r};
}
FL_LANE_HD inline bool all_below(ScalarLane a, double limit) { return a.v < limit; }
FL_LANE_HD inline double lane_value(ScalarLane a, int) { return a.v; }

}  // namespace fiberloom
