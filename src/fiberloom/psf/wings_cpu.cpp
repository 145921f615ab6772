// SPDX-License-Identifier: BSD-3-Clause
// Gaussians by recurrence, from the middle outward: exp(-rate (d + 1)^2) follows from
// exp(-rate d^2) by two multiplications. Their error grows to some 1e-4 where hardly anything is
// left.
#include <algorithm>
#include <cmath>

#include "fiberloom/psf/wings_kernels.hpp"
#include "loom/base/math_lane.hpp"
#include "loom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

namespace {

/// exp(-rate (offset + d)^2) for d = 0, 1, ...
struct Steps {
  FloatPack value, ratio, q;
  void next() {
    value *= ratio;
    ratio *= q;
  }
};
FL_INLINE Steps steps_of(FloatPack rate, FloatPack offset) {
  return {lane_math::exp(-(rate * offset * offset)),
          lane_math::exp(-(rate * fma(FloatPack(2.0), offset, FloatPack(1.0)))),
          lane_math::exp(FloatPack(-2.0) * rate)};
}

/// To one side: steps of rows from the bin's, which is first = 0, on.
FL_INLINE void walk_rows(const WingRows& to, const WingBin& bin, Steps steps, int first, int step,
                         int k) {
  const auto last = [&](int reach) {  // on the CCD
    return std::min(reach, step > 0 ? to.rows - 1 - bin.row : bin.row);
  };
  const int start = std::max(first, step > 0 ? -bin.row : bin.row - to.rows + 1);
  int d = 0;
  for (; d < start; ++d) steps.next();
  for (; d <= last(to.half); ++d, steps.next()) {
    const int row = bin.row + step * d;
    const bool same = to.nearest[row] == bin.column;
    if (!same) to.other[row] = bin.column;
    float* at = (same ? to.near : to.beside) + static_cast<long>(row) * kWingTerms + k;
    (FloatPack::load(at) + steps.value).store(at);
  }
  for (; d <= to.half; ++d) steps.next();
  float* at = to.far + (bin.row + static_cast<long>(step) * d) * kWingTerms + k;
  for (; d <= last(to.reach); ++d, steps.next(), at += step * kWingTerms)
    (FloatPack::load(at) + steps.value).store(at);
}

void spread_along_rows(const WingRows& to, const WingBin& bin) {
  for (int k = 0; k < kWingTerms; k += FloatPack::width) {
    const FloatPack rate = FloatPack::load(bin.rate + k), light = FloatPack::load(bin.light + k);
    const FloatPack offset(static_cast<double>(bin.offset));
    Steps up = steps_of(rate, offset), down = steps_of(rate, -offset);
    up.value *= light;
    down.value *= light;
    walk_rows(to, bin, up, 0, 1, k);
    walk_rows(to, bin, down, 1, -1, k);
  }
}

/// Beyond this exponent nothing is left in float32.
constexpr float kNothingLeft = 16.0F;

/// Light of one term in the rows of a pack.
struct TermLight {
  FloatPack near, far, beside;
};
/// Columns of a pack of rows: sums, and 1 where a stamp does not reach.
struct ColumnScratch {
  float *sum, *outside, *outside_other;
};

/// To one side: columns at + step d for d from first on, below `count`, as far as the term reaches;
/// stamps lie within `stamp` columns.
FL_INLINE void walk_columns(const ColumnScratch& to, const TermLight& light, Steps steps, int at,
                            int step, int first, int reach, int count, int stamp) {
  constexpr int w = FloatPack::width;
  const int last = std::min(reach, step > 0 ? count - 1 - at : at);
  const int start = std::max(first, step > 0 ? -at : at - count + 1);
  int d = 0;
  for (; d < start; ++d) steps.next();
  for (; d <= std::min(last, stamp); ++d, steps.next()) {
    const int i = (at + step * d) * w;
    const FloatPack all = fma(FloatPack::load(to.outside + i), light.near,
                              fma(FloatPack::load(to.outside_other + i), light.beside, light.far));
    fma(all, steps.value, FloatPack::load(to.sum + i)).store(to.sum + i);
  }
  const FloatPack all = light.near + light.far + light.beside;
  float* sum = to.sum + (at + static_cast<long>(step) * d) * w;
  for (; d <= last; ++d, steps.next(), sum += step * w)
    fma(all, steps.value, FloatPack::load(sum)).store(sum);
}

void spread_along_columns(const WingColumns& c, float* scratch) {
  constexpr int w = FloatPack::width;
  const int middle = c.middle - c.low, count = c.high - c.low;
  const auto size = static_cast<std::size_t>(count) * w;
  float* within = scratch + 3 * size;
  const ColumnScratch to{scratch, scratch + size, scratch + 2 * size};
  for (int lane = 0; lane < kFloatLanes; lane += w) {
    const FloatPack offset = FloatPack::load(c.offset + lane), one(1.0), zero(0.0);
    const FloatPack nearest = FloatPack::load(c.nearest + lane);
    const FloatPack other = FloatPack::load(c.other + lane);
    for (int i = 0; i < count; ++i) {
      const FloatPack column(static_cast<double>(i - middle)), stamp(c.half + 0.5);
      const FloatPack away = abs(column - nearest);
      select_positive(away - stamp, one, zero).store(to.outside + i * w);
      select_positive(abs(column - other) - stamp, one, zero).store(to.outside_other + i * w);
      select_positive(FloatPack(c.reach + 0.5) - away, one, zero).store(within + i * w);
      zero.store(to.sum + i * w);
    }
    for (int k = 0; k < c.terms; ++k) {
      const auto at = [&](const float* light) {
        return FloatPack::load(light + k * kFloatLanes + lane);
      };
      const TermLight light{at(c.near), at(c.far), at(c.beside)};
      const FloatPack rate(static_cast<double>(c.rate[k]));
      const float farthest = std::sqrt(kNothingLeft / std::max(c.rate[k], 1e-9F));
      const int reach = static_cast<int>(farthest) + c.slant + 1;
      const int stamp = c.half + c.slant;
      walk_columns(to, light, steps_of(rate, offset), middle, 1, 0, reach, count, stamp);
      walk_columns(to, light, steps_of(rate, -offset), middle, -1, 1, reach, count, stamp);
    }
    for (int i = 0; i < count; ++i) {
      float* out = c.to + (c.low + i) * c.pitch + lane;
      fma(FloatPack::load(within + i * w), FloatPack::load(to.sum + i * w), FloatPack::load(out))
          .store(out);
    }
  }
}

}  // namespace

extern const WingKernels kWings;
const WingKernels kWings{spread_along_rows, spread_along_columns};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
