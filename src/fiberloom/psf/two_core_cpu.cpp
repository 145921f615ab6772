// SPDX-License-Identifier: BSD-3-Clause
// Spots of two Gauss-Hermite cores of one ISA level, the first cut at so many sigma, by the lane
// texts of one. A file of its own: beside them in spots_cpu.cpp GCC 12 fused other products of one
// core at level v3 (1.4e-17).
#include "fiberloom/psf/spot_packs_lane.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

namespace {

/// What two cores need besides: above 0 at pixels that the first one reaches, a bin a lane.
template <class P>
struct Reached {
  alignas(64) typename P::Real pixel[kMaxStampX * kMaxStampY * P::width];
};

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

/// A core as it is into s.value.
template <class P, int D>
FL_INLINE void contract_core(const SpotPlan& plan, int degree_x, int degree_y, Scratch<P>& s) {
  (void)lane::contract<P, 0, 0, D, lane::Contracted::kCore>(s.x, s.y, s.coef, nullptr, plan.nx,
                                                            plan.ny, degree_x, degree_y, s.value);
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
  contract_core<P, 0>(plan, dx, dy, s);
  for (int pixel = 0; pixel < plan.nx * plan.ny; ++pixel) s.tail[pixel] += s.value[pixel];
}

/// What there is of two cores and tails, the first core given, into s.value; returns its sum.
template <class P>
P join_cores(const SpotPlan& plan, const Reached<P>& reached, Scratch<P>& s) {
  P total(0.0);
  for (int r = 0, pixel = 0; r < plan.ny; ++r) {
    P row(0.0);
    for (int p = 0; p < plan.nx; ++p, ++pixel) {
      const P within = P::load(reached.pixel + pixel * P::width);
      const P first = select_positive(within, s.value[pixel], P(0.0));
      s.value[pixel] = max(first + s.tail[pixel], P(0.0));
      row += s.value[pixel];
    }
    total += row;
  }
  return total;
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
  contract_core<P, D>(plan, plan.degree_x, plan.degree_y, s);
  const P total = join_cores(plan, reached, s);
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
