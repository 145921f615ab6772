// SPDX-License-Identifier: BSD-3-Clause
// The spot kernel of one ISA level: packs of bins through spots_lane.hpp, then transposed to one
// spot after the other, since the normal equations run along the pixels of a row.
#include <algorithm>
#include <utility>

#include "fiberloom/psf/image_spots_lane.hpp"
#include "fiberloom/psf/pixel_spots.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "fiberloom/psf/spots_lane.hpp"
#include "loom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

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

/// Packs begin at columns that are multiples of as many.
template <class P>
inline constexpr int kAligned = sizeof(typename P::Real) == sizeof(double) ? kLanes : kFloatLanes;

/// Tails at pixel centres; amp r2 / (core^2 + r2)^power.
template <class P>
void add_tails(const SpotPlan& plan, const lane::SpotSeries<typename P::Real>& series,
               const int* x0, const int* y0, const double* x, const double* y, Scratch<P>& s) {
  const int base = 4 + (plan.degree_x + 1) * (plan.degree_y + 1);
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

/// P::width spots from bin j on.
template <class P, int NX, int NY, int D>
FL_INLINE void pack_of_spots(const SpotPlan& plan, const lane::SpotSeries<typename P::Real>& series,
                             int j, const FiberTrace& trace, typename P::Real* const* out) {
  Scratch<P> s;
  const int* x0 = trace.x0.data() + j;
  const auto [edge_x, edge_y] = edges<P>(trace, j);
  // a bin that is not live is computed like any other, on a harmless place, then zeroed
  const P live = P::load_floats(trace.lit.data() + j);
  const P sx = select_positive(live, lane::legendre<P>(series, 2), P(1.0));
  const P sy = select_positive(live, lane::legendre<P>(series, 3), P(1.0));
  const int ncoef = (plan.degree_x + 1) * (plan.degree_y + 1);
  for (int c = 0; c < ncoef; ++c) s.coef[c] = lane::legendre<P>(series, 4 + c);
  lane::pixel_integrals<P, NX, D>(edge_x, sx, plan.nx, plan.degree_x, s.x);
  lane::pixel_integrals<P, NY, D>(edge_y, sy, plan.ny, plan.degree_y, s.y);
  if (plan.has_tails) {
    add_tails<P>(plan, series, x0, trace.y0.data() + j, trace.x.data() + j, trace.y.data() + j, s);
  }
  const P total =
      lane::contract<P, NX, NY, D>(s.x, s.y, s.coef, plan.has_tails ? s.tail : nullptr, plan.nx,
                                   plan.ny, plan.degree_x, plan.degree_y, s.value);
  const P scale = select_positive(live, select_positive(total, P(1.0) / total, P(0.0)), P(0.0));
  transpose_out<P, NX, NY>(plan, s.value, scale, x0, out);
}

template <int NX, int NY, int D>
void spots_of(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
              double* const* out) {
  for (int first = 0; first < kLanes; first += Pack::width) {
    const int j = j0 + first;
    pack_of_spots<Pack, NX, NY, D>(
        plan,
        {plan.coef.data() + plan.coef_of(fiber), plan.domain.data(), plan.used.data(),
         plan.basis.data() + plan.basis_of(fiber) + j, plan.ncoef, plan.nwave_padded},
        j, trace, out + first);
  }
}

template <int NX, int NY, int D>
void float_spots_of(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, float* out) {
  for (int first = 0; first < kFloatLanes; first += FloatPack::width) {
    const int j = j0 + first;
    float* each[FloatPack::width];
    for (int i = 0; i < FloatPack::width; ++i) {
      each[i] = out + static_cast<std::size_t>(first + i) * plan.float_spot_size();
    }
    pack_of_spots<FloatPack, NX, NY, D>(
        plan,
        {plan.float_coef.data() + plan.coef_of(fiber), plan.domain.data(), plan.used.data(),
         plan.float_basis.data() + plan.basis_of(fiber) + j, plan.ncoef, plan.nwave_padded},
        j, trace, each);
  }
}

bool usual(const SpotPlan& plan) {
  return plan.nx == 17 && plan.ny == 11 && plan.degree_x == 6 && plan.degree_y == 6;
}

/// P::width spots that are sums of images, from bin j on.
template <class P>
[[gnu::noinline]] void pack_of_images(const SpotPlan& plan, int fiber, int j,
                                      const FiberTrace& trace, typename P::Real* const* out) {
  lane::MovedSpots<P> s;
  const P scale = lane::image_spots<P, Pack>(plan, fiber, j, trace, s);
  transpose_out<P, 0, 0>(plan, s.value, scale, trace.x0.data() + j, out);
}

/// One spot of a kind that has no kernel, into its place; rows of `stride` numbers, zero beside the
/// stamp.
template <class Real>
void shape_spot(const SpotPlan& plan, int fiber, int j, const FiberTrace& trace, int stride,
                int lanes, std::size_t size, Real* out) {
  std::fill_n(out, size, Real(0));
  const auto bin = static_cast<std::size_t>(j);
  if (!trace.live[bin]) return;
  double value[kMaxShapeStamp * kMaxShapeStamp];
  plan.shape->evaluate(
      {static_cast<std::size_t>(fiber), plan.wave_of(fiber, bin), trace.x[bin], trace.y[bin]},
      value);
  Real* corner = out + (trace.x0[bin] - frame_of(trace.x0[bin], lanes));
  for (int r = 0; r < plan.ny; ++r) {
    for (int c = 0; c < plan.nx; ++c)
      corner[r * stride + c] = static_cast<Real>(value[r * plan.nx + c]);
  }
}

void spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, double* const* out) {
  if (plan.of_images) {
    for (int i = 0; i < kLanes; i += Pack::width)
      pack_of_images<Pack>(plan, fiber, j0 + i, trace, out + i);
    return;
  }
  if (plan.shape) {
    for (int i = 0; i < kLanes; ++i)
      shape_spot(plan, fiber, j0 + i, trace, plan.stride, kLanes, plan.spot_size(), out[i]);
    return;
  }
  const auto kernel = usual(plan) ? spots_of<17, 11, 6> : spots_of<0, 0, 0>;
  kernel(plan, fiber, j0, trace, out);
}

void float_spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, float* out) {
  if (plan.shape) {
    float* each[kFloatLanes];
    for (int i = 0; i < kFloatLanes; ++i)
      each[i] = out + static_cast<std::size_t>(i) * plan.float_spot_size();
    for (int i = 0; plan.of_images && i < kFloatLanes; i += FloatPack::width)
      pack_of_images<FloatPack>(plan, fiber, j0 + i, trace, each + i);
    for (int i = 0; !plan.of_images && i < kFloatLanes; ++i)
      shape_spot(plan, fiber, j0 + i, trace, plan.float_stride, kFloatLanes, plan.float_spot_size(),
                 each[i]);
    return;
  }
  const auto kernel = usual(plan) ? float_spots_of<17, 11, 6> : float_spots_of<0, 0, 0>;
  kernel(plan, fiber, j0, trace, out);
}

}  // namespace

extern const SpotKernels kSpots;
const SpotKernels kSpots{spots, float_spots};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
