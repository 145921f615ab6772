// SPDX-License-Identifier: BSD-3-Clause
// The spot kernel of one ISA level: packs of bins through spots_lane.hpp, then transposed to one
// spot after the other, since the normal equations run along the pixels of a row.
#include "fiberloom/psf/image_spots_lane.hpp"
#include "fiberloom/psf/pixel_spots.hpp"
#include "fiberloom/psf/spot_packs_lane.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

namespace {

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
    pack_of_spots<Pack, NX, NY, D>(plan, double_series(plan, fiber, j), j, trace, out + first);
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
    pack_of_spots<FloatPack, NX, NY, D>(plan, float_series(plan, fiber, j), j, trace, each);
  }
}

bool usual(const SpotPlan& plan) {
  return plan.nx == 17 && plan.ny == 11 && plan.degree_x == 6 && plan.degree_y == 6;
}

/// P::width spots that are sums of images, from bin j on.
template <class P>
[[gnu::noinline]] void pack_of_images(const SpotPlan& plan, int fiber, int j,
                                      const FiberTrace& trace, typename P::Real* const* out) {
  lane::ImageSpots<P> s;
  const auto ny = static_cast<std::size_t>(plan.ny), nx = static_cast<std::size_t>(plan.nx);
  const int* x0 = trace.x0.data() + j;
  if (lane::sums_of<P>(plan, fiber, j, trace, s.of)) {
    const P scale = lane::moved_spots<P>(ny, nx, s);
    transpose_out<P, 0, 0>(plan, s.value, scale, x0, out);
    return;
  }
  constexpr bool kDouble = sizeof(typename P::Real) == sizeof(double);
  const auto stride = static_cast<std::size_t>(kDouble ? plan.stride : plan.float_stride);
  P total[P::width];
  lane::add_images(ny * nx, s, total);
  for (std::size_t l = 0; l < P::width; ++l) {
    const auto shift = static_cast<std::size_t>(x0[l] & (kAligned<P> - 1));
    lane::place_sum<P>(s.sum + l * in_float_packs(ny * nx), total[l], ny, nx, stride, shift,
                       out[l]);
  }
}

void spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, double* const* out) {
  if (plan.of_images) {
    for (int i = 0; i < kLanes; i += Pack::width)
      pack_of_images<Pack>(plan, fiber, j0 + i, trace, out + i);
    return;
  }
  if (plan.two_cores) return kTwoCoreSpots.spots(plan, fiber, j0, trace, out);
  const auto kernel = usual(plan) ? spots_of<17, 11, 6> : spots_of<0, 0, 0>;
  kernel(plan, fiber, j0, trace, out);
}

void float_spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, float* out) {
  if (plan.of_images) {
    float* each[kFloatLanes];
    for (int i = 0; i < kFloatLanes; ++i)
      each[i] = out + static_cast<std::size_t>(i) * plan.float_spot_size();
    for (int i = 0; i < kFloatLanes; i += FloatPack::width)
      pack_of_images<FloatPack>(plan, fiber, j0 + i, trace, each + i);
    return;
  }
  if (plan.two_cores) return kTwoCoreSpots.float_spots(plan, fiber, j0, trace, out);
  const auto kernel = usual(plan) ? float_spots_of<17, 11, 6> : float_spots_of<0, 0, 0>;
  kernel(plan, fiber, j0, trace, out);
}

}  // namespace

extern const SpotKernels kSpots;
const SpotKernels kSpots{spots, float_spots};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
