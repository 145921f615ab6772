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

/// What two cores need besides: above 0 at pixels that the first one reaches, a bin a lane.
template <class P>
struct Reached {
  alignas(64) typename P::Real pixel[kMaxStampX * kMaxStampY * P::width];
};

/// Packs begin at columns that are multiples of as many.
template <class P>
inline constexpr int kAligned = sizeof(typename P::Real) == sizeof(double) ? kLanes : kFloatLanes;

/// amp r2 / (core2 + r2)^2 of n pixels, four by one division of their product: a division takes as
/// long as ten multiplications.
template <class P>
FL_INLINE void square_tails(const P* r2, int n, P amp, P core2, P* out) {
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    P sum[4];
    for (int k = 0; k < 4; ++k) sum[k] = core2 + r2[i + k];
    const P first = sum[0] * sum[1], second = sum[2] * sum[3];
    const P inverse = P(1.0) / (first * second);
    const P of_first = inverse * second, of_second = inverse * first;
    const P of[4] = {of_first * sum[1], of_first * sum[0], of_second * sum[3], of_second * sum[2]};
    for (int k = 0; k < 4; ++k) out[i + k] = amp * r2[i + k] * (of[k] * of[k]);
  }
  for (; i < n; ++i) {
    const P inverse = P(1.0) / (core2 + r2[i]);
    out[i] = amp * r2[i] * (inverse * inverse);
  }
}

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
  // such that products of four sums are numbers that a float holds
  const bool usual = square && all_below(-core2, -1e-6) &&
                     all_below(max(max(abs(parameter[2]), abs(parameter[3])), core2), 1e3);
  P dx2[kMaxStampX];
  for (int p = 0; p < plan.nx; ++p) {
    const P dx = (x_offset + P(static_cast<double>(p))) * parameter[2];
    dx2[p] = dx * dx;
  }
  for (int r = 0; r < plan.ny; ++r) {
    const P dy = (y_offset + P(static_cast<double>(r))) * parameter[3], dy2 = dy * dy;
    P* tail = s.tail + r * plan.nx;
    if (usual) {
      P r2[kMaxStampX];
      for (int p = 0; p < plan.nx; ++p) r2[p] = dx2[p] + dy2;
      square_tails(r2, plan.nx, parameter[0], core2, tail);
      continue;
    }
    for (int p = 0; p < plan.nx; ++p) {
      const P r2 = dx2[p] + dy2, sum = core2 + r2;
      const P value = square ? parameter[0] * r2 / (sum * sum)
                             : parameter[0] * r2 * lane_math::exp(-(power * log(sum)));
      tail[p] = select_positive(sum, value, P(0.0));  // no core, in the middle
    }
  }
}

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
  (void)lane::contract_each<P, 0, 0, 0>(
      s.x, s.y, s.coef, plan.nx, plan.ny, dx, dy,
      [=](int pixel, P core) [[gnu::always_inline]] { return core + tail[pixel]; }, s.value);
  std::copy_n(s.value, plan.nx * plan.ny, s.tail);
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

/// What there is of two cores and tails at a pixel, the first core given.
template <class P, int NX, int NY, int D>
FL_INLINE P contract_two(const SpotPlan& plan, const Reached<P>& reached, Scratch<P>& s) {
  const P* rest = s.tail;
  const auto* within = reached.pixel;
  return lane::contract_each<P, NX, NY, D>(
      s.x, s.y, s.coef, plan.nx, plan.ny, plan.degree_x, plan.degree_y,
      [=](int pixel, P core) [[gnu::always_inline]] {
        const P first = select_positive(P::load(within + pixel * P::width), core, P(0.0));
        return max(first + rest[pixel], P(0.0));
      },
      s.value);
}

enum class Cores { kOne, kTwo };

/// P::width spots from bin j on.
template <class P, int NX, int NY, int D, Cores kCores>
FL_INLINE void pack_of_spots(const SpotPlan& plan, const lane::SpotSeries<typename P::Real>& series,
                             int fiber, int j, const FiberTrace& trace,
                             typename P::Real* const* out) {
  Scratch<P> s;
  const int* x0 = trace.x0.data() + j;
  const auto [edge_x, edge_y] = edges<P>(trace, j);
  // a bin that is not live is computed like any other, on a harmless place, then zeroed
  const P live = P::load_floats(trace.lit.data() + j);
  const P sx = select_positive(live, lane::legendre<P>(series, 2), P(1.0));
  const P sy = select_positive(live, lane::legendre<P>(series, 3), P(1.0));
  const auto add_tails_here = [&] {
    add_tails<P>(plan, series, x0, trace.y0.data() + j, trace.x.data() + j, trace.y.data() + j, s);
  };
  Reached<P> reached;
  if constexpr (kCores == Cores::kTwo) {
    add_tails_here();
    add_second_core<P>(plan, series, edge_x, edge_y, s);
    mark_reached<P>(plan, fiber, j, trace, reached);
  }
  const int ncoef = (plan.degree_x + 1) * (plan.degree_y + 1);
  for (int c = 0; c < ncoef; ++c) s.coef[c] = lane::legendre<P>(series, 4 + c);
  lane::pixel_integrals<P, NX, D>(edge_x, sx, plan.nx, plan.degree_x, s.x);
  lane::pixel_integrals<P, NY, D>(edge_y, sy, plan.ny, plan.degree_y, s.y);
  P total;
  if constexpr (kCores == Cores::kTwo) {
    total = contract_two<P, NX, NY, D>(plan, reached, s);
  } else {
    if (plan.has_tails) add_tails_here();
    total = lane::contract<P, NX, NY, D>(s.x, s.y, s.coef, plan.has_tails ? s.tail : nullptr,
                                         plan.nx, plan.ny, plan.degree_x, plan.degree_y, s.value);
  }
  const P scale = select_positive(live, select_positive(total, P(1.0) / total, P(0.0)), P(0.0));
  transpose_out<P, NX, NY>(plan, s.value, scale, x0, out);
}

template <int NX, int NY, int D, Cores kCores>
void spots_of(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace,
              double* const* out) {
  for (int first = 0; first < kLanes; first += Pack::width) {
    const int j = j0 + first;
    pack_of_spots<Pack, NX, NY, D, kCores>(plan, double_series(plan, fiber, j), fiber, j, trace,
                                           out + first);
  }
}

template <int NX, int NY, int D, Cores kCores>
void float_spots_of(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, float* out) {
  for (int first = 0; first < kFloatLanes; first += FloatPack::width) {
    const int j = j0 + first;
    float* each[FloatPack::width];
    for (int i = 0; i < FloatPack::width; ++i) {
      each[i] = out + static_cast<std::size_t>(first + i) * plan.float_spot_size();
    }
    pack_of_spots<FloatPack, NX, NY, D, kCores>(plan, float_series(plan, fiber, j), fiber, j, trace,
                                                each);
  }
}

/// The kernels of Gauss-Hermite cores: of DESI's stamps and degrees, and of any; of two cores, with
/// DESI's degrees and any. (One core of DESI's degrees on any stamp stays with the last: where a
/// loop's length is known the compiler fuses other products, and spots change by 1.4e-17.)
SpotKernels kernels_of(const SpotPlan& plan) {
  const bool degrees = plan.degree_x == 6 && plan.degree_y == 6;
  constexpr auto kOne = Cores::kOne, kTwo = Cores::kTwo;
  if (plan.two_cores && degrees) return {spots_of<0, 0, 6, kTwo>, float_spots_of<0, 0, 6, kTwo>};
  if (plan.two_cores) return {spots_of<0, 0, 0, kTwo>, float_spots_of<0, 0, 0, kTwo>};
  if (plan.nx == 17 && plan.ny == 11 && degrees)
    return {spots_of<17, 11, 6, kOne>, float_spots_of<17, 11, 6, kOne>};
  return {spots_of<0, 0, 0, kOne>, float_spots_of<0, 0, 0, kOne>};
}

/// P::width spots that are sums of images, from bin j on.
template <class P>
[[gnu::noinline]] void pack_of_images(const SpotPlan& plan, int fiber, int j,
                                      const FiberTrace& trace, typename P::Real* const* out) {
  lane::MovedSpots<P> s;
  const P scale = lane::image_spots<P, Pack>(plan, fiber, j, trace, s);
  transpose_out<P, 0, 0>(plan, s.value, scale, trace.x0.data() + j, out);
}

void spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, double* const* out) {
  if (!plan.of_images) return kernels_of(plan).spots(plan, fiber, j0, trace, out);
  for (int i = 0; i < kLanes; i += Pack::width)
    pack_of_images<Pack>(plan, fiber, j0 + i, trace, out + i);
}

void float_spots(const SpotPlan& plan, int fiber, int j0, const FiberTrace& trace, float* out) {
  if (!plan.of_images) return kernels_of(plan).float_spots(plan, fiber, j0, trace, out);
  float* each[kFloatLanes];
  for (int i = 0; i < kFloatLanes; ++i)
    each[i] = out + static_cast<std::size_t>(i) * plan.float_spot_size();
  for (int i = 0; i < kFloatLanes; i += FloatPack::width)
    pack_of_images<FloatPack>(plan, fiber, j0 + i, trace, each + i);
}

}  // namespace

extern const SpotKernels kSpots;
const SpotKernels kSpots{spots, float_spots};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
