// SPDX-License-Identifier: BSD-3-Clause
// The spot kernel of one ISA level: packs of bins through spots_lane.hpp, then transposed to one
// spot after the other, since the normal equations run along the pixels of a row.
#include <math.h>

#include "fiberloom/psf/spot_plan.hpp"
#include "fiberloom/psf/spots_lane.hpp"
#include "fiberloom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

namespace {

using lane::kMaxDegree;
using lane::kMaxStampX;
using lane::kMaxStampY;

struct Scratch {
  Pack x[(kMaxDegree + 1) * kMaxStampX], y[(kMaxDegree + 1) * kMaxStampY];
  Pack coef[(kMaxDegree + 1) * (kMaxDegree + 1)];
  Pack tail[kMaxStampX * kMaxStampY], value[kMaxStampX * kMaxStampY];
};

/// Wings at pixel centres; rare, so the power is libm's.
void add_tails(const SpotPlan& plan, const lane::SpotSeries& series, const int* x0, const int* y0,
               const double* x, const double* y, Scratch& s) {
  const int base = 4 + (plan.degree_x + 1) * (plan.degree_y + 1);
  Pack parameter[5];
  for (int i = 0; i < 5; ++i) parameter[i] = lane::legendre<Pack>(series, base + i);
  for (int r = 0; r < plan.ny; ++r) {
    for (int p = 0; p < plan.nx; ++p) {
      Pack out(0.0);
      for (int i = 0; i < Pack::width; ++i) {
        const double dx = (x0[i] + p - x[i]) * lane_value(parameter[2], i);
        const double dy = (y0[i] + r - y[i]) * lane_value(parameter[3], i);
        const double r2 = dx * dx + dy * dy, core = lane_value(parameter[1], i);
        out.v[i] = lane_value(parameter[0], i) * r2 /
                   ::pow(core * core + r2, 1.0 + 0.5 * lane_value(parameter[4], i));
      }
      s.tail[r * plan.nx + p] = out;
    }
  }
}

/// A row of Pack::width bins, block by block, transposed: block[i] holds columns p, p + 1 ... of
/// bin i.
template <int NX>
FL_INLINE void load_columns(const Pack* row, int nx_runtime, int p, Pack scale, Pack* block) {
  constexpr int w = Pack::width;
  const int nx = NX > 0 ? NX : nx_runtime;
  if (p + 1 == nx) {  // a single column: no transposition
    const Pack last = row[p] * scale;
    for (int i = 0; i < w; ++i) {
      block[i] = Pack(0.0);
      block[i].v[0] = last.v[i];
    }
  } else if (p >= nx) {
    for (int i = 0; i < w; ++i) block[i] = Pack(0.0);
  } else {
    for (int i = 0; i < w; ++i) block[i] = p + i < nx ? row[p + i] * scale : Pack(0.0);
    transpose(block);
  }
}

/// value[ny * nx] of Pack::width bins, times scale, to their places in the stored spots.
template <int NX, int NY>
FL_INLINE void transpose_out(const SpotPlan& plan, const Pack* value, Pack scale, const int* x0,
                             const int* frame, double* const* out) {
  constexpr int w = Pack::width;
  const int nx = NX > 0 ? NX : plan.nx, ny = NX > 0 ? NY : plan.ny;
  const int stride = NX > 0 ? (NX + 2 * kLanes - 2) / kLanes * kLanes : plan.stride;
#if defined(__AVX512F__)
  // shift in registers, store aligned: stores that cross cache lines cost more than the
  // permutations
  Pack::Bits shift[w];
  for (int i = 0; i < w; ++i) {
    const std::int64_t offset = x0[i] - frame[i];
    shift[i] = Pack::Bits{8, 9, 10, 11, 12, 13, 14, 15} - offset;
  }
  for (int r = 0; r < ny; ++r) {
    Pack before[w];
    for (int i = 0; i < w; ++i) before[i] = Pack(0.0);
    for (int p = 0; p < stride; p += w) {
      Pack block[w];
      load_columns<NX>(value + r * nx, nx, p, scale, block);
      for (int i = 0; i < w; ++i) {
        Pack(__builtin_shuffle(before[i].v, block[i].v, shift[i])).store(out[i] + r * stride + p);
        before[i] = block[i];
      }
    }
  }
#else
  // A row is written in whole packs: what spills over its end are zeros, which the next row wants
  // there.
  double* corner[w];
  for (int i = 0; i < w; ++i) {
    for (int c = 0; c < kLanes; c += w) Pack(0.0).store(out[i] + c);
    corner[i] = out[i] + (x0[i] - frame[i]);
  }
  for (int r = 0; r < ny; ++r) {
    for (int p = 0; p < stride; p += w) {
      Pack block[w];
      load_columns<NX>(value + r * nx, nx, p, scale, block);
      for (int i = 0; i < w; ++i) block[i].store(corner[i] + r * stride + p);
    }
  }
#endif
}

template <int NX, int NY, int D>
void spots_of(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
              double* const* out) {
  Scratch s;
  for (int first = 0; first < kLanes; first += Pack::width) {
    const int j = j0 + first;
    const lane::SpotSeries series{plan.fiber_coef(fiber),   plan.domain.data(), plan.used.data(),
                                  plan.basis_row(0, 0) + j, plan.ncoef,         plan.nwave_padded};
    const int* x0 = trace.x0.data() + j;
    const int* y0 = trace.y0.data() + j;
    Pack edge_x, edge_y, live;
    for (int i = 0; i < Pack::width; ++i) {
      edge_x.v[i] = x0[i] - 0.5 - trace.x[static_cast<unsigned>(j + i)];
      edge_y.v[i] = y0[i] - 0.5 - trace.y[static_cast<unsigned>(j + i)];
      live.v[i] = trace.live[static_cast<unsigned>(j + i)];
    }
    // a bin that is not live is computed like any other, on a harmless place, then zeroed
    edge_x = select_positive(live, edge_x, Pack(0.0));
    edge_y = select_positive(live, edge_y, Pack(0.0));
    const Pack sx = select_positive(live, lane::legendre<Pack>(series, 2), Pack(1.0));
    const Pack sy = select_positive(live, lane::legendre<Pack>(series, 3), Pack(1.0));
    const int ncoef = (plan.degree_x + 1) * (plan.degree_y + 1);
    for (int c = 0; c < ncoef; ++c) s.coef[c] = lane::legendre<Pack>(series, 4 + c);
    lane::pixel_integrals<Pack, NX, D>(edge_x, sx, plan.nx, plan.degree_x, s.x);
    lane::pixel_integrals<Pack, NY, D>(edge_y, sy, plan.ny, plan.degree_y, s.y);
    if (plan.has_tails) {
      add_tails(plan, series, x0, y0, trace.x.data() + j, trace.y.data() + j, s);
    }
    const Pack total =
        lane::contract<Pack, NX, NY, D>(s.x, s.y, s.coef, plan.has_tails ? s.tail : nullptr,
                                        plan.nx, plan.ny, plan.degree_x, plan.degree_y, s.value);
    const Pack scale =
        select_positive(live, select_positive(total, Pack(1.0) / total, Pack(0.0)), Pack(0.0));
    transpose_out<NX, NY>(plan, s.value, scale, x0, trace.frame.data() + j, out + first);
  }
}

}  // namespace

void spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, double* const* out);

void spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, double* const* out) {
  if (plan.nx == 17 && plan.ny == 11 && plan.degree_x == 6 && plan.degree_y == 6) {
    spots_of<17, 11, 6>(plan, fiber, j0, trace, out);
  } else {
    spots_of<0, 0, 0>(plan, fiber, j0, trace, out);
  }
}

}  // namespace fiberloom::FIBERLOOM_ISA_NS
