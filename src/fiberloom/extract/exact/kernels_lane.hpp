// SPDX-License-Identifier: BSD-3-Clause
// Texts of the pixel kernels; V runs along the pixels of a row. Sums are kept in V and folded at
// the end.
#pragma once

#include "fiberloom/extract/exact/kernels.hpp"
#include "fiberloom/extract/exact/recipe_lane.hpp"
#include "loom/base/scalar_lane.hpp"

namespace fiberloom::lane {

/// Sum of a V's lanes, halves first: a fixed order for each width.
template <class V>
inline typename V::Real fold(V v) {
  typename V::Real part[V::width];
  v.store(part);
  for (int half = V::width / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  }
  return part[0];
}

/// One chain of sums for each of three packs of columns: a single one would wait for itself.
inline constexpr int kChains = 3;

template <class V>
inline V add_chains(const V* sum) {
  return (sum[0] + sum[1]) + sum[2];
}

/// Calls body(c, chain) for each pack of `stride` columns.
template <class V, class Body>
inline void each_pack(int stride, Body body) {
  int c = 0;
  for (; c + kChains * V::width <= stride; c += kChains * V::width) {
    FL_UNROLL
    for (int chain = 0; chain < kChains; ++chain) body(c + chain * V::width, chain);
  }
  for (; c < stride; c += V::width) body(c, 0);
}

template <class V>
inline void weigh(const exact::StampShape& shape, const double* spot, const exact::StripView& strip,
                  int x, int y, double* y_sum, double* phi_sum) {
  const long corner = strip.at(x, y);
  V sum_y[kChains] = {V(0.0), V(0.0), V(0.0)}, sum_phi[kChains] = {V(0.0), V(0.0), V(0.0)};
  for (int r = 0; r < shape.ny; ++r) {
    const double* w = strip.weight + corner + r * strip.pitch;
    const double* p = strip.pixel + corner + r * strip.pitch;
    const double* a = spot + r * shape.stride;
    each_pack<V>(shape.stride, [&](int c, int chain) {
      const V weight = V::load(w + c), value = V::load(a + c);
      sum_y[chain] = fma(weight * value, V::load(p + c), sum_y[chain]);
      sum_phi[chain] += select_positive(weight, value, V(0.0));
    });
  }
  *y_sum = fold(add_chains(sum_y));
  *phi_sum = fold(add_chains(sum_phi));
}

template <class V>
inline double dot(const exact::Overlap& o, const double* a, const double* w, const double* b) {
  V sum[kChains] = {V(0.0), V(0.0), V(0.0)};
  for (int r = 0; r < o.rows; ++r) {
    each_pack<V>(o.columns, [&](int c, int chain) {
      sum[chain] = fma(V::load(a + c) * V::load(w + c), V::load(b + c), sum[chain]);
    });
    a += o.stride;
    w += o.weight_pitch;
    b += o.stride;
  }
  return fold(add_chains(sum));
}

/// Transposition folds as many sums as V has lanes; `n` of them, a multiple of kLanes.
template <class V>
inline void fold_all(V* sum, int n, double* out) {
  for (int first = 0; first < n; first += V::width) {
    V* s = sum + first;
    transpose(s);
    for (int half = V::width / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) s[i] += s[i + half];
    }
    s[0].store(out + first);
  }
}

/// Eight sums run side by side, so that none waits for its own last addition, and a value that is
/// loaded serves two or four of them. NV packs a row, 0: as many as `columns` holds. With `pixel`
/// also y and phi of the spots a (out[8 + i] and out[8 + kTileA + i]), which share all loads but
/// one.
template <class V, int NV, bool kSums>
[[gnu::always_inline]] inline void tile_rows(const exact::Overlap& o, const double* a,
                                             const double* w, const double* b, long spot_pitch,
                                             const double* pixel, double* out) {
  using exact::kTileA;
  using exact::kTileB;
  constexpr int kProducts = kTileA * kTileB, kAll = kProducts + (kSums ? kLanes : 0);
  static_assert(2 * kTileA <= kLanes);
  const int end = NV > 0 ? NV * V::width : o.columns, rows = o.rows;
  const long stride = o.stride, weight_pitch = o.weight_pitch;
  V sum[kAll];
  FL_UNROLL
  for (int i = 0; i < kAll; ++i) sum[i] = V(0.0);
  for (int r = 0; r < rows; ++r) {
    FL_UNROLL
    for (int c = 0; c < end; c += V::width) {
      const V weight = V::load(w + c);
      V left[kTileA];
      FL_UNROLL
      for (int i = 0; i < kTileA; ++i) {
        const V value = V::load(a + i * spot_pitch + c);
        left[i] = weight * value;
        if constexpr (kSums) {
          sum[kProducts + i] = fma(left[i], V::load(pixel + c), sum[kProducts + i]);
          sum[kProducts + kTileA + i] += select_positive(weight, value, V(0.0));
        }
      }
      FL_UNROLL
      for (int k = 0; k < kTileB; ++k) {
        const V right = V::load(b + k * spot_pitch + c);
        FL_UNROLL
        for (int i = 0; i < kTileA; ++i) {
          sum[i * kTileB + k] = fma(left[i], right, sum[i * kTileB + k]);
        }
      }
    }
    a += stride;
    w += weight_pitch;
    b += stride;
    if constexpr (kSums) pixel += weight_pitch;
  }
  fold_all(sum, kAll, out);
}

template <class V>
inline void tiles(const exact::PatchPixels& p, const exact::Patch& a, const exact::Patch* b, int n,
                  double* out) {
  constexpr int kProducts = exact::kTileA * exact::kTileB;
  if (!a.same_columns) return;
  for (const exact::Patch* end = b + n; b != end; ++b, out += kProducts) {
    if (!b->same_columns) continue;
    exact::PatchPixels::Shared s;
    if (!p.share(a, *b, s)) {
      for (int i = 0; i < kProducts; ++i) out[i] = 0.0;
      continue;
    }
    const double *left = p.at(a, s), *right = p.at(*b, s), *weight = p.strip.weight + s.in_strip;
    const int packs = (s.pixels.columns + V::width - 1) / V::width;
    if (packs == 2) {
      tile_rows<V, 2, false>(s.pixels, left, weight, right, p.slot_size, nullptr, out);
    } else if (packs == 3) {
      tile_rows<V, 3, false>(s.pixels, left, weight, right, p.slot_size, nullptr, out);
    } else {
      tile_rows<V, 0, false>(s.pixels, left, weight, right, p.slot_size, nullptr, out);
    }
  }
}

template <class V>
inline void tile_and_sums(const exact::PatchPixels& p, const exact::Patch& a, const exact::Patch& b,
                          double* out) {
  exact::PatchPixels::Shared s;
  p.share(a, b, s);
  const double *left = p.at(a, s), *right = p.at(b, s);
  const double *weight = p.strip.weight + s.in_strip, *pixel = p.strip.pixel + s.in_strip;
  if (s.pixels.columns == 3 * V::width) {
    tile_rows<V, 3, true>(s.pixels, left, weight, right, p.slot_size, pixel, out);
  } else {
    tile_rows<V, 0, true>(s.pixels, left, weight, right, p.slot_size, pixel, out);
  }
}

template <class F>
inline void add_model(const exact::StampShape& shape, const float* spot, float flux, float* model,
                      long pitch, int row, int column) {
  const F f(static_cast<double>(flux));
  float* m = model + row * pitch + column;
  for (int r = 0; r < shape.ny; ++r) {
    for (int c = 0; c < shape.stride; c += F::width) {
      fma(f, F::load(spot + c), F::load(m + c)).store(m + c);
    }
    spot += shape.stride;
    m += pitch;
  }
}

template <class V>
inline void widen(const float* in, long n, double* out) {
  long i = 0;
  for (; i + V::width <= n; i += V::width) V::load_floats(in + i).store(out + i);
  for (; i < n; ++i) out[i] = static_cast<double>(in[i]);
}

template <class F>
inline float gather(const exact::StampShape& shape, const float* spot, const float* image,
                    long pitch, int row, int column) {
  F even(0.0), odd(0.0);
  const float* m = image + row * pitch + column;
  for (int r = 0; r < shape.ny; ++r) {
    static_assert(kFloatLanes % F::width == 0);
    int c = 0;
    for (; c + F::width < shape.stride; c += 2 * F::width) {
      even = fma(F::load(spot + c), F::load(m + c), even);
      odd = fma(F::load(spot + c + F::width), F::load(m + c + F::width), odd);
    }
    if (c < shape.stride) even = fma(F::load(spot + c), F::load(m + c), even);
    spot += shape.stride;
    m += pitch;
  }
  return fold(even + odd);
}

template <class V>
inline void chi2(const double* weight, const double* pixel, double psferr, long n, float* model) {
  const V e(psferr);
  for (long i = 0; i < n; i += V::width) {
    const V w = V::load(weight + i), m = V::load_floats(model + i);
    exact::pixel_chi2(w, V::load(pixel + i), m, e).store_floats(model + i);
  }
}

template <class V>
inline void fit(const double* weight, const double* pixel, const float* model, long n,
                double* sums) {
  constexpr double kBright2 = exact::kBrightPixel * exact::kBrightPixel;
  V chi2(0.0), count(0.0), bright(0.0);
  for (long i = 0; i < n; i += V::width) {
    const V m = V::load_floats(model + i);
    const V w = select_positive(m * m, V::load(weight + i), V(0.0));
    const V d = V::load(pixel + i) - m;
    chi2 = fma(w * d, d, chi2);
    count += select_positive(w, V(1.0), V(0.0));
    bright += select_positive(w * m * m - V(kBright2), V(1.0), V(0.0));
  }
  sums[0] += fold(chi2);
  sums[1] += fold(count);
  sums[2] += fold(bright);
}

template <class V>
inline void sum_products(const double* const* a, const double* const* x, int terms, double* y,
                         long n) {
  constexpr long kAhead = 4 * kLanes;
  for (long i = 0; i < n; i += V::width) {
    V even(0.0), odd(0.0);
    int t = 0;
    for (; t + 1 < terms; t += 2) {
      __builtin_prefetch(a[t] + i + kAhead);  // too many streams for the processor to foresee
      __builtin_prefetch(a[t + 1] + i + kAhead);
      even = fma(V::load(a[t] + i), V::load(x[t] + i), even);
      odd = fma(V::load(a[t + 1] + i), V::load(x[t + 1] + i), odd);
    }
    if (t < terms) even = fma(V::load(a[t] + i), V::load(x[t] + i), even);
    (even + odd).store(y + i);
  }
}

template <class V>
inline void interleave(const double* const* in, long n, double* out, long stride) {
  constexpr int w = V::width;
  long i = 0;
  for (; i + w <= n; i += w) {
    for (int first = 0; first < kLanes; first += w) {
      V block[w];
      for (int k = 0; k < w; ++k) block[k] = V::load(in[first + k] + i);
      transpose(block);
      for (int k = 0; k < w; ++k) block[k].store(out + (i + k) * stride + first);
    }
  }
  for (; i < n; ++i) {
    for (int k = 0; k < kLanes; ++k) out[i * stride + k] = in[k][i];
  }
}

template <class V>
inline void deinterleave(const double* in, long n, double* const* out) {
  constexpr int w = V::width;
  long i = 0;
  for (; i + w <= n; i += w) {
    for (int first = 0; first < kLanes; first += w) {
      V block[w];
      for (int k = 0; k < w; ++k) block[k] = V::load(in + (i + k) * kLanes + first);
      transpose(block);
      for (int k = 0; k < w; ++k) block[k].store(out[first + k] + i);
    }
  }
  for (; i < n; ++i) {
    for (int k = 0; k < kLanes; ++k) out[k][i] = in[i * kLanes + k];
  }
}

template <class V, class F>
constexpr exact::PixelKernels pixel_table() {
  return {weigh<V>,  dot<V>,  tiles<V>, tile_and_sums<V>, add_model<F>,  widen<V>,
          gather<F>, chi2<V>, fit<V>,   sum_products<V>,  interleave<V>, deinterleave<V>};
}

}  // namespace fiberloom::lane
