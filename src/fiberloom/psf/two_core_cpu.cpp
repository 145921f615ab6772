// SPDX-License-Identifier: BSD-3-Clause
// Spots of two Gauss-Hermite cores of one ISA level, the first cut at so many sigma, by the lane
// texts of one (spots_cpu.cpp).
#include <algorithm>

#include "fiberloom/psf/spot_packs_lane.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

namespace {

/// What two cores need besides: above 0 at pixels that the first one reaches, a bin a lane.
template <class P>
struct Reached {
  alignas(64) typename P::Real pixel[kMaxStampX * kMaxStampY * P::width];
};

lane::SpotSeries<double> double_series(const SpotPlan& plan, int fiber, int j) {
  return {plan.coef.data() + plan.coef_of(fiber),       plan.domain.data(), plan.used.data(),
          plan.basis.data() + plan.basis_of(fiber) + j, plan.ncoef,         plan.nwave_padded};
}

lane::SpotSeries<float> float_series(const SpotPlan& plan, int fiber, int j) {
  return {
      plan.float_coef.data() + plan.coef_of(fiber),       plan.domain.data(), plan.used.data(),
      plan.float_basis.data() + plan.basis_of(fiber) + j, plan.ncoef,         plan.nwave_padded};
}

/// Pixels whose centre is less than so many sigma of the first core away. In double for floats,
/// too: a pixel is in or out, and both kernels shall have it so.
template <class P>
void mark_reached(const SpotPlan& plan, int fiber, int j, const FiberTrace& trace,
                  Reached<P>& out) {
  for (int half = 0; half < P::width; half += Pack::width) {
    const lane::SpotSeries<double> series = double_series(plan, fiber, j + half);
    const Pack cut = lane::legendre<Pack>(series, plan.cut_series());
    const Pack inverse_x = Pack(1.0) / lane::legendre<Pack>(series, 2);
    const Pack inverse_y = Pack(1.0) / lane::legendre<Pack>(series, 3);
    const Pack x = Pack::load(trace.edge_x.data() + j + half) + Pack(0.5);
    const Pack y = Pack::load(trace.edge_y.data() + j + half) + Pack(0.5);
    Pack across[kMaxStampX];
    for (int p = 0; p < plan.nx; ++p) {
      const Pack dx = (x + Pack(static_cast<double>(p))) * inverse_x;
      across[p] = dx * dx;
    }
    typename P::Real* to = out.pixel + half;
    for (int r = 0; r < plan.ny; ++r) {
      const Pack dy = (y + Pack(static_cast<double>(r))) * inverse_y;
      const Pack left = cut * cut - dy * dy;
      for (int p = 0; p < plan.nx; ++p, to += P::width) {
        const Pack within = left - across[p];
        if constexpr (sizeof(typename P::Real) == sizeof(double)) {
          within.store(to);
        } else {
          within.store_floats(to);
        }
      }
    }
  }
}

/// core(r, p) = sum_i (sum_j c_ij Y_j(r)) X_i(p); finish(pixel, core) of pixel r * nx + p into
/// out[pixel]; returns their sum. D > 0: degree both ways. The text of lane::contract(), which
/// would be one with it but that GCC 12 then fuses other products of one core at level v3
/// (1.4e-17).
template <class V, int NX, int NY, int D, class Finish>
FL_LANE_HD inline V contract_each(const V* cx, const V* cy, const V* coef, int nx_runtime,
                                  int ny_runtime, int dx_runtime, int dy_runtime, Finish finish,
                                  V* out) {
  const int nx = NX > 0 ? NX : nx_runtime, ny = NX > 0 ? NY : ny_runtime;
  const int dx = D > 0 ? D : dx_runtime, dy = D > 0 ? D : dy_runtime;
  // Two rows at a time, so that a coefficient or a column that is loaded serves both; the last row
  // of an odd number is done twice.
  V total(0.0);
  for (int first = 0; first < ny; first += 2) {
    const int second = first + 1 < ny ? first + 1 : first;
    V t0[D > 0 ? D + 1 : kMaxDegree + 1], t1[D > 0 ? D + 1 : kMaxDegree + 1];
    if constexpr (D == 0) {  // the compiler cannot see that the first i of them are all it takes
      for (int i = 0; i <= kMaxDegree; ++i) t0[i] = t1[i] = V(0.0);
    }
    FL_UNROLL
    for (int i = 0; i <= dx; ++i) {
      V s0 = coef[i] * cy[first], s1 = coef[i] * cy[second];
      FL_UNROLL
      for (int j = 1; j <= dy; ++j) {
        const V c = coef[j * (dx + 1) + i];
        s0 = fma(c, cy[j * ny + first], s0);
        s1 = fma(c, cy[j * ny + second], s1);
      }
      t0[i] = s0;
      t1[i] = s1;
    }
    V row0(0.0), row1(0.0);
    for (int p = 0; p < nx; ++p) {
      V s0 = t0[0] * cx[p], s1 = t1[0] * cx[p];
      FL_UNROLL
      for (int i = 1; i <= dx; ++i) {
        const V c = cx[i * nx + p];
        s0 = fma(t0[i], c, s0);
        s1 = fma(t1[i], c, s1);
      }
      s0 = finish(first * nx + p, s0);
      s1 = finish(second * nx + p, s1);
      row0 += s0;
      row1 += s1;
      out[first * nx + p] = s0;
      out[second * nx + p] = s1;
    }
    total += row0;
    if (second != first) total += row1;
  }
  return total;
}

/// The second core, as it is, to the tails. One without a width is not there.
template <class P>
void add_second_core(const SpotPlan& plan, const lane::SpotSeries<typename P::Real>& series,
                     P edge_x, P edge_y, Scratch<P>& s) {
  const int base = plan.second_series(), dx = plan.second_degree_x, dy = plan.second_degree_y;
  const P own_x = lane::legendre<P>(series, base), own_y = lane::legendre<P>(series, base + 1);
  const P there = min(own_x, own_y);
  const P sx = select_positive(there, own_x, P(1.0)), sy = select_positive(there, own_y, P(1.0));
  for (int c = 0; c < (dx + 1) * (dy + 1); ++c)
    s.coef[c] = select_positive(there, lane::legendre<P>(series, base + 2 + c), P(0.0));
  lane::pixel_integrals<P, 0, 0>(edge_x, sx, plan.nx, dx, s.x);
  lane::pixel_integrals<P, 0, 0>(edge_y, sy, plan.ny, dy, s.y);
  const P* tail = s.tail;
  (void)contract_each<P, 0, 0, 0>(
      s.x, s.y, s.coef, plan.nx, plan.ny, dx, dy,
      [=](int pixel, P core) [[gnu::always_inline]] { return core + tail[pixel]; }, s.value);
  std::copy_n(s.value, plan.nx * plan.ny, s.tail);
}

/// What there is of two cores and tails at a pixel, the first core given.
template <class P, int NX, int NY, int D>
FL_INLINE P contract_two(const SpotPlan& plan, const Reached<P>& reached, Scratch<P>& s) {
  const P* rest = s.tail;
  const auto* within = reached.pixel;
  return contract_each<P, NX, NY, D>(
      s.x, s.y, s.coef, plan.nx, plan.ny, plan.degree_x, plan.degree_y,
      [=](int pixel, P core) [[gnu::always_inline]] {
        const P first = select_positive(P::load(within + pixel * P::width), core, P(0.0));
        return max(first + rest[pixel], P(0.0));
      },
      s.value);
}

/// P::width spots from bin j on.
template <class P, int D>
FL_INLINE void pack_of_two_cores(const SpotPlan& plan,
                                 const lane::SpotSeries<typename P::Real>& series, int fiber, int j,
                                 const FiberTrace& trace, typename P::Real* const* out) {
  Scratch<P> s;
  Reached<P> reached;
  const int* x0 = trace.x0.data() + j;
  const auto [edge_x, edge_y] = edges<P>(trace, j);
  // a bin that is not live is computed like any other, on a harmless place, then zeroed
  const P live = P::load_floats(trace.lit.data() + j);
  const P sx = select_positive(live, lane::legendre<P>(series, 2), P(1.0));
  const P sy = select_positive(live, lane::legendre<P>(series, 3), P(1.0));
  add_tails<P>(plan, series, x0, trace.y0.data() + j, trace.x.data() + j, trace.y.data() + j, s);
  add_second_core<P>(plan, series, edge_x, edge_y, s);
  mark_reached<P>(plan, fiber, j, trace, reached);
  const int ncoef = (plan.degree_x + 1) * (plan.degree_y + 1);
  for (int c = 0; c < ncoef; ++c) s.coef[c] = lane::legendre<P>(series, 4 + c);
  lane::pixel_integrals<P, 0, D>(edge_x, sx, plan.nx, plan.degree_x, s.x);
  lane::pixel_integrals<P, 0, D>(edge_y, sy, plan.ny, plan.degree_y, s.y);
  const P total = contract_two<P, 0, 0, D>(plan, reached, s);
  const P scale = select_positive(live, select_positive(total, P(1.0) / total, P(0.0)), P(0.0));
  transpose_out<P, 0, 0>(plan, s.value, scale, x0, out);
}

template <int D>
void two_core_spots_of(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
                       double* const* out) {
  for (int first = 0; first < kLanes; first += Pack::width) {
    const int j = j0 + first;
    pack_of_two_cores<Pack, D>(plan, double_series(plan, fiber, j), fiber, j, trace, out + first);
  }
}

template <int D>
void two_core_floats_of(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
                        float* out) {
  for (int first = 0; first < kFloatLanes; first += FloatPack::width) {
    const int j = j0 + first;
    float* each[FloatPack::width];
    for (int i = 0; i < FloatPack::width; ++i) {
      each[i] = out + static_cast<std::size_t>(first + i) * plan.float_spot_size();
    }
    pack_of_two_cores<FloatPack, D>(plan, float_series(plan, fiber, j), fiber, j, trace, each);
  }
}

bool has_degree_six(const SpotPlan& plan) { return plan.degree_x == 6 && plan.degree_y == 6; }

void two_core_spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
                    double* const* out) {
  (has_degree_six(plan) ? two_core_spots_of<6> : two_core_spots_of<0>)(plan, fiber, j0, trace, out);
}

void two_core_floats(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, float* out) {
  (has_degree_six(plan) ? two_core_floats_of<6> : two_core_floats_of<0>)(plan, fiber, j0, trace,
                                                                         out);
}

}  // namespace

const SpotKernels kTwoCoreSpots{two_core_spots, two_core_floats};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
