// SPDX-License-Identifier: BSD-3-Clause
// ScalarLane: the lane type of one problem at a time, for the references on the CPU; WarpLane: the
// same for GPU threads, whose neighbours' elements lie 32 apart instead of 8. Both offer what
// simd/pack.hpp's Pack offers, so that a *_lane.hpp text serves all of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__CUDACC__) || defined(__HIP__)
#define FL_LANE_HD __host__ __device__
#define FL_UNROLL _Pragma("unroll 16")
#define FL_UNROLL_ALL _Pragma("unroll")
#define FL_UNROLL_FEW _Pragma("unroll 4")
#define FL_NO_UNROLL _Pragma("unroll 1")
#else
#define FL_LANE_HD
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FL_UNROLL  // instrumented straight-line code takes minutes to compile
#else
#define FL_UNROLL _Pragma("GCC unroll 17")  // bands up to 16 become straight-line code
#define FL_STRAIGHT_LINES
#endif
#define FL_UNROLL_ALL FL_UNROLL
#define FL_UNROLL_FEW
#define FL_NO_UNROLL
#endif

namespace loom {

template <int Stride, class R = double>
struct StridedLane {
  using Real = R;
  static constexpr int width = 1, stride = Stride;
  R v;

  StridedLane() = default;
  FL_LANE_HD StridedLane(double s) : v(static_cast<R>(s)) {}
  FL_LANE_HD static StridedLane load(const R* p) { return {*p}; }
  FL_LANE_HD void store(R* p) const { *p = v; }

  FL_LANE_HD friend StridedLane operator+(StridedLane a, StridedLane b) { return {a.v + b.v}; }
  FL_LANE_HD friend StridedLane operator-(StridedLane a, StridedLane b) { return {a.v - b.v}; }
  FL_LANE_HD friend StridedLane operator*(StridedLane a, StridedLane b) { return {a.v * b.v}; }
  FL_LANE_HD friend StridedLane operator/(StridedLane a, StridedLane b) { return {a.v / b.v}; }
  FL_LANE_HD StridedLane operator-() const { return {-v}; }
  FL_LANE_HD StridedLane& operator+=(StridedLane b) {
    v += b.v;
    return *this;
  }
  FL_LANE_HD StridedLane& operator-=(StridedLane b) {
    v -= b.v;
    return *this;
  }
  FL_LANE_HD StridedLane& operator*=(StridedLane b) {
    v *= b.v;
    return *this;
  }

  FL_LANE_HD friend StridedLane fma(StridedLane a, StridedLane b, StridedLane c) {
    return {a.v * b.v + c.v};
  }
  FL_LANE_HD friend StridedLane fnma(StridedLane a, StridedLane b, StridedLane c) {
    return {c.v - a.v * b.v};
  }
  FL_LANE_HD friend StridedLane max(StridedLane a, StridedLane b) {
    return {a.v > b.v ? a.v : b.v};
  }
  FL_LANE_HD friend StridedLane min(StridedLane a, StridedLane b) {
    return {a.v < b.v ? a.v : b.v};
  }
  FL_LANE_HD friend StridedLane abs(StridedLane a) { return {a.v < 0 ? -a.v : a.v}; }
  FL_LANE_HD friend StridedLane select_positive(StridedLane c, StridedLane a, StridedLane b) {
    return c.v > 0 ? a : b;
  }
  FL_LANE_HD friend StridedLane round_even(StridedLane a) { return {::rint(a.v)}; }
  FL_LANE_HD friend StridedLane floor(StridedLane a) { return {::floor(a.v)}; }
  FL_LANE_HD friend StridedLane sqrt(StridedLane a) { return {::sqrt(a.v)}; }
  FL_LANE_HD friend StridedLane pow2(StridedLane n) {
    const std::uint64_t bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(n.v) + 1023)
                               << 52;
    double r;
    std::memcpy(&r, &bits, sizeof r);
    return {r};
  }
  FL_LANE_HD friend bool all_below(StridedLane a, double limit) { return a.v < limit; }
  FL_LANE_HD friend double lane_value(StridedLane a, int) { return a.v; }
};

using ScalarLane = StridedLane<8>;
using WarpLane = StridedLane<32>;
/// In single precision; who uses it does not ask how far elements are apart.
using FloatLane = StridedLane<1, float>;

}  // namespace loom
