// SPDX-License-Identifier: BSD-3-Clause
// FloatLane: one single-precision problem at a time, for GPU threads and their emulation. Offers
// what transforms and gridding ask of simd/pack.hpp's FloatPack.
#pragma once

#include "loom/base/scalar_lane.hpp"

namespace loom {

struct FloatLane {
  using Real = float;
  static constexpr int width = 1;
  float v;

  FloatLane() = default;
  FL_LANE_HD FloatLane(double s) : v(static_cast<float>(s)) {}
  FL_LANE_HD FloatLane(float s) : v(s) {}
  FL_LANE_HD static FloatLane load(const float* p) { return {*p}; }
  FL_LANE_HD void store(float* p) const { *p = v; }

  FL_LANE_HD friend FloatLane operator+(FloatLane a, FloatLane b) { return {a.v + b.v}; }
  FL_LANE_HD friend FloatLane operator-(FloatLane a, FloatLane b) { return {a.v - b.v}; }
  FL_LANE_HD friend FloatLane operator*(FloatLane a, FloatLane b) { return {a.v * b.v}; }
  FL_LANE_HD FloatLane operator-() const { return {-v}; }
  FL_LANE_HD friend FloatLane fma(FloatLane a, FloatLane b, FloatLane c) {
    return {a.v * b.v + c.v};
  }
  FL_LANE_HD friend FloatLane fnma(FloatLane a, FloatLane b, FloatLane c) {
    return {c.v - a.v * b.v};
  }
};

}  // namespace loom
