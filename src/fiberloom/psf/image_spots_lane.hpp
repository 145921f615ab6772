// SPDX-License-Identifier: BSD-3-Clause
// Spots that are sums of images. Those that stay where they are go one after the other, along
// pixels; those that are moved by parts of a pixel a bin a lane, pixel by pixel.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "fiberloom/psf/pixel_spots.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "loom/base/math_lane.hpp"

namespace fiberloom::lane {

/// Stamps of V::width bins, and what they are made from.
template <class V>
struct ImageSpots {
  using Real = typename V::Real;
  static constexpr std::size_t kPixels = in_float_packs(kMaxShapeStamp * kMaxShapeStamp);
  ImageSum of[V::width];
  V value[kPixels];
  V padded[kPixels + 2 * kSincRadius], turned[kPixels + 2 * kSincRadius];
  V weight[kSincTaps];
  alignas(64) Real sum[V::width * kPixels];  ///< one bin behind the other
};

/// kAtOnce packs of a spot from pixel i on, what is negative cut; returns their sum.
template <class V, std::size_t kAtOnce>
inline V add_block(const ImageSum& of, std::size_t i, typename V::Real* out) {
  V part[kAtOnce];
  FL_UNROLL_ALL
  for (std::size_t p = 0; p < kAtOnce; ++p) part[p] = V(0.0);
  for (std::size_t k = 0; k < of.count; ++k) {
    const V weight(of.weight[k]);
    const auto* image = of.image_of<typename V::Real>(k) + i;
    FL_UNROLL_ALL
    for (std::size_t p = 0; p < kAtOnce; ++p)
      part[p] = fma(weight, V::load(image + p * V::width), part[p]);
  }
  V total(0.0);
  FL_UNROLL_ALL
  for (std::size_t p = 0; p < kAtOnce; ++p) {
    part[p] = max(part[p], V(0.0));
    part[p].store(out + i + p * V::width);
    total += part[p];
  }
  return total;
}

/// Sums of V::width bins into s.sum, and what their light is into `total`, its packs' lanes not
/// added. Block by block: neighbours along a fibre sum many of the same images, which a first-level
/// cache then keeps.
template <class V>
inline void add_images(std::size_t n, ImageSpots<V>& s, V* total) {
  constexpr std::size_t kAtOnce = 8, w = V::width;
  const std::size_t pitch = in_float_packs(n);
  for (std::size_t l = 0; l < w; ++l) total[l] = V(0.0);
  std::size_t i = 0;
  for (; i + kAtOnce * w <= pitch; i += kAtOnce * w) {
    for (std::size_t l = 0; l < w; ++l)
      total[l] += add_block<V, kAtOnce>(s.of[l], i, s.sum + l * pitch);
  }
  for (; i < pitch; i += w) {
    for (std::size_t l = 0; l < w; ++l) total[l] += add_block<V, 1>(s.of[l], i, s.sum + l * pitch);
  }
}

/// A sum of the light `in_lanes`, as unit light, to its place in a stored spot of `stride` columns,
/// which begins `shift` columns before it.
template <class V>
inline void place_sum(const typename V::Real* sum, V in_lanes, std::size_t ny, std::size_t nx,
                      std::size_t stride, std::size_t shift, typename V::Real* out) {
  using Real = typename V::Real;
  constexpr std::size_t w = V::width;
  constexpr std::size_t kAligned = sizeof(Real) == sizeof(double) ? kLanes : kFloatLanes;
  Real total = 0;
  for (int l = 0; l < V::width; ++l) total += lane_value(in_lanes, l);
  const V scale(total > Real(0) && total < Real(1e30) ? 1.0 / static_cast<double>(total) : 0.0);
  // not a constant, or the compiler calls a function to clear each row's end
  const V none = scale * V(0.0);
  for (std::size_t r = 0; r < ny; ++r) {
    const Real* in = sum + r * nx;
    Real* row = out + r * stride;
    for (std::size_t c = 0; c < kAligned; c += w) none.store(row + c);
    for (std::size_t c = std::max(nx / w * w, kAligned); c < stride; c += w) none.store(row + c);
    row += shift;
    if (nx < w) {
      for (std::size_t c = 0; c < nx; ++c) row[c] = in[c] * lane_value(scale, 0);
      continue;
    }
    for (std::size_t c = 0; c + w < nx; c += w) (V::load(in + c) * scale).store(row + c);
    (V::load(in + nx - w) * scale).store(row + nx - w);  // overlaps the one before
  }
}

/// The one image of each bin to a pixel a pack; zeros of a bin that has none.
template <class V>
inline void turn_to_lanes(std::size_t n, ImageSpots<V>& s, V* out) {
  using Real = typename V::Real;
  constexpr std::size_t w = V::width;
  const Real* image[w];
  for (std::size_t l = 0; l < w; ++l) {
    image[l] = s.of[l].count > 0 ? s.of[l].template image_of<Real>(0) : s.sum;
    if (s.of[l].count == 0) std::fill_n(s.sum, in_float_packs(n), Real(0));
  }
  for (std::size_t i = 0; i < n; i += w) {
    V block[w];
    for (std::size_t l = 0; l < w; ++l) block[l] = V::load(image[l] + i);
    transpose(block);
    for (std::size_t p = 0; p < w && i + p < n; ++p) out[i + p] = block[p];
  }
}

/// Sums of the images that all bins share, to a pixel a pack: no bin by itself.
template <class V>
inline void add_shared(std::size_t n, const ImageSum& shared, const ImageSum* of, V* out) {
  using Real = typename V::Real;
  constexpr std::size_t kAtOnce = 8;
  V weight[ImageSum::kMost];
  for (int l = 0; l < V::width; ++l) {
    double top = 1e-300;  // only shares count, and a float holds them
    for (std::size_t k = 0; k < of[l].count; ++k) top = std::max(top, std::abs(of[l].weight[k]));
    for (std::size_t k = 0; k < shared.count; ++k)
      weight[k].v[l] = static_cast<Real>(of[l].count == 0 ? 0.0 : of[l].weight[k] / top);
  }
  for (std::size_t i = 0; i < n; i += kAtOnce) {
    V part[kAtOnce];
    FL_UNROLL_ALL
    for (std::size_t p = 0; p < kAtOnce; ++p) part[p] = V(0.0);
    for (std::size_t k = 0; k < shared.count; ++k) {
      const Real* from = shared.image_of<Real>(k) + i;
      FL_UNROLL_ALL
      for (std::size_t p = 0; p < kAtOnce; ++p) part[p] = fma(weight[k], V(from[p]), part[p]);
    }
    FL_UNROLL_ALL
    for (std::size_t p = 0; p < kAtOnce; ++p) out[i + p] = part[p];
  }
}

/// put(i, value) of n pixels of `run`, kSincRadius of zeros before and after it, shifted.
template <class V, class Put>
inline void slide(const V* run, const V* weight, std::size_t n, const Put& put) {
  constexpr std::size_t kAtOnce = 8;
  std::size_t i = 0;
  for (; i + kAtOnce <= n; i += kAtOnce) {
    V sum[kAtOnce];
    FL_UNROLL_ALL
    for (std::size_t p = 0; p < kAtOnce; ++p) sum[p] = weight[0] * run[i + p];
    FL_UNROLL_ALL
    for (std::size_t k = 1; k < kSincTaps; ++k) {
      const V w = weight[k];
      FL_UNROLL_ALL
      for (std::size_t p = 0; p < kAtOnce; ++p) sum[p] = fma(w, run[i + k + p], sum[p]);
    }
    FL_UNROLL_ALL
    for (std::size_t p = 0; p < kAtOnce; ++p) put(i + p, sum[p]);
  }
  for (; i < n; ++i) {
    V sum = weight[0] * run[i];
    for (std::size_t k = 1; k < kSincTaps; ++k) sum = fma(weight[k], run[i + k], sum);
    put(i, sum);
  }
}

/// sin(pi x) / pi for |x| <= 1/2.
template <class V>
inline V sine(V x) {
  constexpr int kTerms = 11;  // the next one is 1e-20
  constexpr double kPi2 = std::numbers::pi * std::numbers::pi;
  std::array<double, kTerms> c{1};
  for (int k = 1; k < kTerms; ++k)
    c[static_cast<std::size_t>(k)] =
        -c[static_cast<std::size_t>(k) - 1] * kPi2 / ((2 * k) * (2 * k + 1));
  V sum(c.back());
  for (int k = kTerms - 2; k >= 0; --k) sum = fma(sum, x * x, V(c[static_cast<std::size_t>(k)]));
  return sum * x;
}

/// sinc(s - d) exp(-((s - d) / damping)^2) for s = 10 ... -10, a bin a lane: what the pixels from
/// 10 before to 10 after count. One sine and two exponentials serve all of them: the sine of pi (s
/// - d) is that of what d is beyond a whole number, but for its sign; the Gaussian is a product of
/// what s says, what d says and powers of one number.
template <class V>
inline void sinc_weights(const double* d, V* weight) {
  using Real = typename V::Real;
  constexpr double kInverse2 = 1 / (kSincDamping * kSincDamping);
  V whole, rest;
  for (int l = 0; l < V::width; ++l) {
    const double nearest = std::nearbyint(d[l]);
    whole.v[l] = static_cast<Real>(nearest);
    rest.v[l] = static_cast<Real>(d[l] - nearest);
  }
  const V shift = whole + rest, numerator = sine(rest) * fma(abs(whole), V(2.0), V(-1.0));
  const V up = lane_math::exp(shift * V(2 * kInverse2)), down = V(1.0) / up;
  V more = lane_math::exp(-(shift * shift) * V(kInverse2)), less = more;
  const auto set = [&](int s, V gauss) {
    const V u = (V(static_cast<double>(s)) - whole) - rest;
    const V sinc = select_positive(abs(u), numerator / u, V(1.0));
    // at an odd distance from d's whole part the sine has the other sign, at none the limit has
    // none
    weight[kSincRadius - s] = gauss * (s % 2 == 0 ? sinc : select_positive(abs(u), -sinc, sinc));
  };
  set(0, more);
  for (int s = 1; s <= kSincRadius; ++s) {
    const V damping(std::exp(-s * s * kInverse2));
    more *= up;
    less *= down;
    set(s, damping * more);
    set(-s, damping * less);
  }
}

/// padded -> turned, column after column.
template <class V>
inline void move_along_rows(std::size_t ny, std::size_t nx, const double* dx, ImageSpots<V>& s) {
  V* turned = s.turned + kSincRadius;
  sinc_weights(dx, s.weight);
  std::size_t row = 0, column = 0;
  slide(s.padded, s.weight, ny * nx, [&](std::size_t, V v) {
    turned[column * ny + row] = v;
    if (++column == nx) {
      column = 0;
      ++row;
    }
  });
}

/// turned -> value, what is negative cut; returns one over the sum, zero where that is not
/// positive.
template <class V>
inline V move_along_columns(std::size_t ny, std::size_t nx, const double* dy, ImageSpots<V>& s) {
  sinc_weights(dy, s.weight);
  std::size_t row = 0, column = 0;
  V total(0.0);
  slide(s.turned, s.weight, ny * nx, [&](std::size_t, V v) {
    v = max(v, V(0.0));
    total += v;
    s.value[row * nx + column] = v;
    if (++row == ny) {
      row = 0;
      ++column;
    }
  });
  return select_positive(total, V(1.0) / total, V(0.0));
}

/// Spots of V::width bins into s.value [ny][nx], not negative, from the sums s.of. Returns what
/// they are to be multiplied with; zero where a bin has no spot.
template <class V>
inline V moved_spots(std::size_t ny, std::size_t nx, ImageSpots<V>& s) {
  const std::size_t n = ny * nx;
  double dx[V::width], dy[V::width];
  const auto shift = [](double d) { return std::abs(d) <= kLeastSincShift ? 0.0 : d; };
  const ImageSum* lit = s.of;
  for (int l = 0; l < V::width; ++l) {
    dx[l] = shift(s.of[l].dx);
    dy[l] = shift(s.of[l].dy);
    if (lit->count == 0) lit = s.of + l;
  }
  if (lit->count > 0 && lit->shared) {
    add_shared(n, *lit, s.of, s.padded + kSincRadius);
  } else {
    turn_to_lanes(n, s, s.padded + kSincRadius);
  }
  for (V* run : {s.padded, s.turned}) {
    for (std::size_t i = 0; i < kSincRadius; ++i) run[i] = run[kSincRadius + n + i] = V(0.0);
  }
  move_along_rows(ny, nx, dx, s);
  return move_along_columns(ny, nx, dy, s);
}

/// Which images V::width bins of a fibre from bin j on sum; true where they are of a kind that is
/// moved.
template <class V>
inline bool sums_of(const SpotPlan& plan, int fiber, int j, const FiberTrace& trace,
                    ImageSum* sum) {
  bool moved = false;
  for (int l = 0; l < V::width; ++l) {
    const auto bin = static_cast<std::size_t>(j + l);
    sum[l].clear();
    if (trace.live[bin]) {
      (void)plan.shape->sum_of(
          {static_cast<std::size_t>(fiber), plan.wave_of(fiber, bin), trace.x[bin], trace.y[bin]},
          sum[l]);
    }
    moved = moved || sum[l].dx != 0 || sum[l].dy != 0;
  }
  return moved;
}

}  // namespace fiberloom::lane
