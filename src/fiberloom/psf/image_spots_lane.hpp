// SPDX-License-Identifier: BSD-3-Clause
// Spots that are sums of images, moved by parts of a pixel: a bin a lane. Sums run along pixels,
// then all else goes pixel by pixel, each in its own order of pixels.
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

/// A stamp of V::width bins, and what it is shifted from.
template <class V>
struct MovedSpots {
  using Real = typename V::Real;
  static constexpr std::size_t kPixels = in_float_packs(kMaxShapeStamp * kMaxShapeStamp);
  V value[kPixels];
  V padded[kPixels + 2 * kSincRadius], turned[kPixels + 2 * kSincRadius];
  V weight[kSincTaps];
  alignas(64) Real image[V::width * kPixels];  ///< one bin behind the other
  alignas(64) double sum[kPixels];
};

/// out[i] = sum over k of weight[k] image[k][i], less a factor that makes the largest 1: only
/// shares count, and a float holds them. in_float_packs(n) long, zero beyond n; `sum` is scratch.
template <class Pack, class Real>
inline void add_images(const ImageSum& of, std::size_t n, double* sum, Real* out) {
  constexpr std::size_t w = Pack::width, kAtOnce = kLanes / w;
  Pack largest(0.0);
  for (std::size_t i = 0; i < n; i += kAtOnce * w) {
    Pack part[kAtOnce];
    for (std::size_t p = 0; p < kAtOnce; ++p) part[p] = Pack(0.0);
    for (std::size_t k = 0; k < of.count; ++k) {
      const Pack weight(of.weight[k]);
      for (std::size_t p = 0; p < kAtOnce; ++p)
        part[p] = fma(weight, Pack::load(of.image[k] + i + p * w), part[p]);
    }
    for (std::size_t p = 0; p < kAtOnce; ++p) {
      largest = max(abs(part[p]), largest);
      part[p].store(sum + i + p * w);
    }
  }
  double top = 0;
  for (int l = 0; l < Pack::width; ++l) top = std::max(top, lane_value(largest, l));
  const Pack scale(top > 1e-300 && top < 1e300 ? 1 / top : 0.0);
  for (std::size_t i = 0; i < in_packs(n); i += w) {
    const Pack share = Pack::load(sum + i) * scale;
    if constexpr (sizeof(Real) == sizeof(double)) {
      share.store(out + i);
    } else {
      share.store_floats(out + i);
    }
  }
  std::fill(out + in_packs(n), out + in_float_packs(n), Real(0));
}

/// image[V::width][in_float_packs(n)] to a pixel a pack.
template <class V>
inline void turn_to_lanes(const typename V::Real* image, std::size_t n, V* out) {
  constexpr std::size_t w = V::width;
  for (std::size_t i = 0; i < n; i += w) {
    V block[w];
    for (std::size_t l = 0; l < w; ++l) block[l] = V::load(image + l * in_float_packs(n) + i);
    transpose(block);
    for (std::size_t p = 0; p < w && i + p < n; ++p) out[i + p] = block[p];
  }
}

/// put(i, value) of n pixels of `run`, kSincRadius of zeros before and after it, shifted.
template <class V, class Put>
inline void slide(const V* run, const V* weight, std::size_t n, const Put& put) {
  constexpr std::size_t kAtOnce = 8;
  std::size_t i = 0;
  for (; i + kAtOnce <= n; i += kAtOnce) {
    V sum[kAtOnce];
    for (std::size_t p = 0; p < kAtOnce; ++p) sum[p] = weight[0] * run[i + p];
    for (std::size_t k = 1; k < kSincTaps; ++k) {
      const V w = weight[k];
      for (std::size_t p = 0; p < kAtOnce; ++p) sum[p] = fma(w, run[i + k + p], sum[p]);
    }
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

/// padded + kSincRadius -> value, by way of columns that follow each other.
template <class V>
inline void move_by_sinc(std::size_t ny, std::size_t nx, const double* dx, const double* dy,
                         MovedSpots<V>& s) {
  const std::size_t n = ny * nx;
  V* turned = s.turned + kSincRadius;
  for (V* run : {s.padded, s.turned}) {
    for (std::size_t i = 0; i < kSincRadius; ++i) run[i] = run[kSincRadius + n + i] = V(0.0);
  }
  sinc_weights(dx, s.weight);
  std::size_t row = 0, column = 0;
  slide(s.padded, s.weight, n, [&](std::size_t, V v) {
    turned[column * ny + row] = v;
    if (++column == nx) {
      column = 0;
      ++row;
    }
  });
  sinc_weights(dy, s.weight);
  row = column = 0;
  slide(s.turned, s.weight, n, [&](std::size_t, V v) {
    s.value[row * nx + column] = v;
    if (++row == ny) {
      row = 0;
      ++column;
    }
  });
}

/// What is negative cut; returns one over the sum, zero where that is not positive.
template <class V>
inline V cut_and_scale(std::size_t n, V* value) {
  V part[4] = {V(0.0), V(0.0), V(0.0), V(0.0)};
  for (std::size_t i = 0; i < n; ++i) {
    value[i] = max(value[i], V(0.0));
    part[i % 4] += value[i];
  }
  const V total = (part[0] + part[1]) + (part[2] + part[3]);
  return select_positive(total, V(1.0) / total, V(0.0));
}

/// Spots of V::width bins of a fibre from bin j on into s.value [ny][nx], not negative. Returns
/// what they are to be multiplied with; zero where a bin has no spot. Pack: of double.
template <class V, class Pack>
inline V image_spots(const SpotPlan& plan, int fiber, int j, const FiberTrace& trace,
                     MovedSpots<V>& s) {
  const auto ny = static_cast<std::size_t>(plan.ny), nx = static_cast<std::size_t>(plan.nx);
  const std::size_t n = ny * nx;
  double dx[V::width], dy[V::width];
  bool moved = false;
  const auto shift = [&moved](double d) {
    if (std::abs(d) <= kLeastSincShift) return 0.0;
    moved = true;
    return d;
  };
  for (int l = 0; l < V::width; ++l) {
    const auto bin = static_cast<std::size_t>(j + l);
    ImageSum sum;
    if (trace.live[bin]) {
      (void)plan.shape->sum_of(
          {static_cast<std::size_t>(fiber), plan.wave_of(fiber, bin), trace.x[bin], trace.y[bin]},
          sum);
    }
    dx[l] = shift(sum.dx);
    dy[l] = shift(sum.dy);
    add_images<Pack>(sum, n, s.sum, s.image + static_cast<std::size_t>(l) * in_float_packs(n));
  }
  if (moved) {
    turn_to_lanes(s.image, n, s.padded + kSincRadius);
    move_by_sinc(ny, nx, dx, dy, s);
  } else {
    turn_to_lanes(s.image, n, s.value);
  }
  return cut_and_scale(n, s.value);
}

}  // namespace fiberloom::lane
