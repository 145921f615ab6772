// SPDX-License-Identifier: BSD-3-Clause
// What kernels of spots of one ISA level have in common: tails, and the way from packs of bins to
// one spot after the other. For these alone: all of it belongs to the file that includes it.
#pragma once

#include <utility>

#include "fiberloom/psf/spot_plan.hpp"
#include "fiberloom/psf/spots_lane.hpp"
#include "loom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

/// Of Gauss-Hermite cores in pairs (two_core_cpu.cpp).
extern const SpotKernels kTwoCoreSpots;

namespace {

using lane::kMaxDegree;
using lane::kMaxStampX;
using lane::kMaxStampY;

template <class P>
struct Scratch {
  P x[(kMaxDegree + 1) * kMaxStampX], y[(kMaxDegree + 1) * kMaxStampY];
  P coef[(kMaxDegree + 1) * (kMaxDegree + 1)];
  P tail[kMaxStampX * kMaxStampY], value[kMaxStampX * kMaxStampY];
};

/// The series of a fibre from bin j on.
lane::SpotSeries<double> double_series(const SpotPlan& plan, int fiber, int j) {
  return {plan.coef.data() + plan.coef_of(fiber),       plan.domain.data(), plan.used.data(),
          plan.basis.data() + plan.basis_of(fiber) + j, plan.ncoef,         plan.nwave_padded};
}

lane::SpotSeries<float> float_series(const SpotPlan& plan, int fiber, int j) {
  return {
      plan.float_coef.data() + plan.coef_of(fiber),       plan.domain.data(), plan.used.data(),
      plan.float_basis.data() + plan.basis_of(fiber) + j, plan.ncoef,         plan.nwave_padded};
}

/// Packs begin at columns that are multiples of as many.
template <class P>
inline constexpr int kAligned = sizeof(typename P::Real) == sizeof(double) ? kLanes : kFloatLanes;

/// Tails at pixel centres; amp r2 / (core^2 + r2)^power.
template <class P>
void add_tails(const SpotPlan& plan, const lane::SpotSeries<typename P::Real>& series,
               const int* x0, const int* y0, const double* x, const double* y, Scratch<P>& s) {
  const int base = plan.tail_series();
  P parameter[5];
  for (int i = 0; i < 5; ++i) parameter[i] = lane::legendre<P>(series, base + i);
  P x_offset, y_offset;  // pixel 0 minus the centre
  for (int i = 0; i < P::width; ++i) {
    x_offset.v[i] = static_cast<typename P::Real>(x0[i] - x[i]);
    y_offset.v[i] = static_cast<typename P::Real>(y0[i] - y[i]);
  }
  const P core2 = parameter[1] * parameter[1], power = fma(parameter[4], P(0.5), P(1.0));
  const P off_two = abs(power - P(2.0));
  const bool square = all_below(off_two, 1e-30);  // as specex has it, and cheap; a float holds it
  for (int r = 0; r < plan.ny; ++r) {
    for (int p = 0; p < plan.nx; ++p) {
      const P dx = (x_offset + P(static_cast<double>(p))) * parameter[2];
      const P dy = (y_offset + P(static_cast<double>(r))) * parameter[3];
      const P r2 = fma(dx, dx, dy * dy), sum = core2 + r2;
      s.tail[r * plan.nx + p] = square ? parameter[0] * r2 / (sum * sum)
                                       : parameter[0] * r2 * lane_math::exp(-(power * log(sum)));
    }
  }
}

/// A row of P::width bins, block by block, transposed: block[i] holds columns p, p + 1 ... of
/// bin i.
template <class P, int NX>
FL_INLINE void load_columns(const P* row, int nx_runtime, int p, P scale, P* block) {
  constexpr int w = P::width;
  const int nx = NX > 0 ? NX : nx_runtime;
  if (p + 1 == nx) {  // a single column: no transposition
    const P last = row[p] * scale;
    for (int i = 0; i < w; ++i) {
      block[i] = P(0.0);
      block[i].v[0] = last.v[i];
    }
  } else if (p >= nx) {
    for (int i = 0; i < w; ++i) block[i] = P(0.0);
  } else {
    for (int i = 0; i < w; ++i) block[i] = p + i < nx ? row[p + i] * scale : P(0.0);
    transpose(block);
  }
}

/// value[ny * nx] of P::width bins, times scale, to their places in the stored spots.
template <class P, int NX, int NY>
FL_INLINE void transpose_out(const SpotPlan& plan, const P* value, P scale, const int* x0,
                             typename P::Real* const* out) {
  constexpr int w = P::width, kAlign = kAligned<P>;
  const int nx = NX > 0 ? NX : plan.nx, ny = NX > 0 ? NY : plan.ny;
  const int stride = (nx + 2 * kAlign - 2) / kAlign * kAlign;
  if constexpr (w == kAlign) {
    // shift in registers, store aligned: stores that cross cache lines cost more than the
    // permutations
    typename P::Bits shift[w], count;
    for (int i = 0; i < w; ++i) count[i] = static_cast<typename P::Integer>(w + i);
    for (int i = 0; i < w; ++i)
      shift[i] = count - static_cast<typename P::Integer>(x0[i] & (kAlign - 1));
    for (int r = 0; r < ny; ++r) {
      P before[w];
      for (int i = 0; i < w; ++i) before[i] = P(0.0);
      for (int p = 0; p < stride; p += w) {
        P block[w];
        load_columns<P, NX>(value + r * nx, nx, p, scale, block);
        for (int i = 0; i < w; ++i) {
          P(__builtin_shuffle(before[i].v, block[i].v, shift[i])).store(out[i] + r * stride + p);
          before[i] = block[i];
        }
      }
    }
  } else {
    // A row is written in whole packs: what spills over its end are zeros, which the next row
    // wants there.
    typename P::Real* corner[w];
    for (int i = 0; i < w; ++i) {
      for (int c = 0; c < kAlign; c += w) P(0.0).store(out[i] + c);
      corner[i] = out[i] + (x0[i] & (kAlign - 1));
    }
    for (int r = 0; r < ny; ++r) {
      for (int p = 0; p < stride; p += w) {
        P block[w];
        load_columns<P, NX>(value + r * nx, nx, p, scale, block);
        for (int i = 0; i < w; ++i) block[i].store(corner[i] + r * stride + p);
      }
    }
  }
}

template <class P>
FL_INLINE std::pair<P, P> edges(const FiberTrace& trace, int j) {
  if constexpr (sizeof(typename P::Real) == sizeof(double)) {
    return {P::load(trace.edge_x.data() + j), P::load(trace.edge_y.data() + j)};
  } else {
    return {P::load(trace.float_edge_x.data() + j), P::load(trace.float_edge_y.data() + j)};
  }
}

}  // namespace
}  // namespace fiberloom::FIBERLOOM_ISA_NS
