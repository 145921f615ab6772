// SPDX-License-Identifier: BSD-3-Clause
// Texts of the pixel kernels; V runs along the pixels of a row. Sums are kept in V and folded at
// the end.
#pragma once

#include "fiberloom/base/scalar_lane.hpp"
#include "fiberloom/extract/exact/kernels.hpp"

namespace fiberloom::lane {

/// Sum of a V's lanes, halves first: a fixed order for each width.
template <class V>
inline double fold(V v) {
  double part[V::width];
  v.store(part);
  for (int half = V::width / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) part[i] += part[i + half];
  }
  return part[0];
}

template <class V>
inline void weigh(const exact::StampShape& shape, const double* spot, const exact::StripView& strip,
                  int x, int y, double* weighted, double* y_sum, double* phi_sum) {
  const long corner = static_cast<long>(y - strip.y0) * strip.pitch + (x - strip.x0);
  V sum_y(0.0), sum_phi(0.0);
  for (int r = 0; r < shape.ny; ++r) {
    const double* w = strip.weight + corner + r * strip.pitch;
    const double* p = strip.pixel + corner + r * strip.pitch;
    const double* a = spot + r * shape.stride;
    double* out = weighted + r * shape.stride;
    for (int c = 0; c < shape.stride; c += V::width) {
      const V weight = V::load(w + c), value = V::load(a + c);
      const V wa = weight * value;
      wa.store(out + c);
      sum_y = fma(wa, V::load(p + c), sum_y);
      sum_phi += select_positive(weight, value, V(0.0));
    }
  }
  *y_sum = fold(sum_y);
  *phi_sum = fold(sum_phi);
}

/// NV packs a row.
template <class V, int NV>
inline V dot_rows(const double* a, const double* b, int rows, int stride) {
  V sum[NV];
  for (int v = 0; v < NV; ++v) sum[v] = V(0.0);
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < NV; ++v) {
      sum[v] = fma(V::load(a + v * V::width), V::load(b + v * V::width), sum[v]);
    }
    a += stride;
    b += stride;
  }
  for (int v = 1; v < NV; ++v) sum[0] += sum[v];
  return sum[0];
}

template <class V>
inline V dot_any(const double* a, const double* b, int rows, int stride, int columns) {
  switch ((columns + V::width - 1) / V::width) {
    case 1:
      return dot_rows<V, 1>(a, b, rows, stride);
    case 2:
      return dot_rows<V, 2>(a, b, rows, stride);
    case 3:
      return dot_rows<V, 3>(a, b, rows, stride);
    case 4:
      return dot_rows<V, 4>(a, b, rows, stride);
    case 5:
      return dot_rows<V, 5>(a, b, rows, stride);
    default:
      break;
  }
  V sum(0.0);
  for (int c = 0; c < columns; c += V::width) sum += dot_rows<V, 1>(a + c, b + c, rows, stride);
  return sum;
}

/// Pixels shared by a and b, summed lane by lane.
template <class V>
inline V dot_pair(const exact::StampShape& shape, const double* a, int ax, int ay, const double* b,
                  int bx, int by) {
  // column c of a is column c - dx of b, row r of a is row r - dy of b
  const int dx = bx - ax, dy = by - ay;
  const int columns = shape.stride - (dx < 0 ? -dx : dx), rows = shape.ny - (dy < 0 ? -dy : dy);
  if (columns <= 0 || rows <= 0) return V(0.0);
  return dot_any<V>(a + (dy > 0 ? dy : 0) * shape.stride + (dx > 0 ? dx : 0),
                    b + (dy < 0 ? -dy : 0) * shape.stride + (dx < 0 ? -dx : 0), rows, shape.stride,
                    columns);
}

/// As many pairs at a time as V has lanes: one transposition folds all their sums.
template <class V>
inline void dots(const exact::StampShape& shape, const double* weighted, int ax, int ay,
                 const double* b, std::size_t b_pitch, const int* bx, const int* by, int n,
                 double* out) {
  for (int first = 0; first < n; first += V::width) {
    V sum[V::width];
    for (int i = 0; i < V::width; ++i) {
      const int k = first + i < n ? first + i : n - 1;
      sum[i] = dot_pair<V>(shape, weighted, ax, ay, b + static_cast<std::size_t>(k) * b_pitch,
                           bx[k], by[k]);
    }
    transpose(sum);
    for (int half = V::width / 2; half > 0; half /= 2) {
      for (int i = 0; i < half; ++i) sum[i] += sum[i + half];
    }
    sum[0].store(out + first);
  }
}

template <class V>
inline void add_model(const exact::StampShape& shape, const double* spot, double flux,
                      double* model, long pitch, int row, int column) {
  const V f(flux);
  for (int r = 0; r < shape.ny; ++r) {
    double* m = model + (row + r) * pitch + column;
    const double* a = spot + r * shape.stride;
    for (int c = 0; c < shape.stride; c += V::width) {
      fma(f, V::load(a + c), V::load(m + c)).store(m + c);
    }
  }
}

template <class V>
inline void narrow(const exact::StampShape& shape, const double* spot, float* narrowed) {
  for (int c = 0; c < shape.ny * shape.stride; c += V::width) V::load(spot + c).store(narrowed + c);
}

template <class V>
inline double gather(const exact::StampShape& shape, const float* spot, const double* image,
                     long pitch, int row, int column) {
  V sum(0.0);
  for (int r = 0; r < shape.ny; ++r) {
    const double* m = image + (row + r) * pitch + column;
    const float* a = spot + r * shape.stride;
    for (int c = 0; c < shape.stride; c += V::width) sum = fma(V::load(a + c), V::load(m + c), sum);
  }
  return fold(sum);
}

template <class V>
inline void chi2(const double* weight, const double* pixel, const double* model, double psferr,
                 long n, double* out) {
  const V e(psferr);
  for (long i = 0; i < n; i += V::width) {
    const V w = V::load(weight + i), m = V::load(model + i);
    const V d = V::load(pixel + i) - m, error = e * m;
    (w * d * d / fma(w * error, error, V(1.0))).store(out + i);
  }
}

template <class V>
inline void sum_products(const double* const* a, const double* const* x, int terms, double* y,
                         long n) {
  for (long i = 0; i < n; i += V::width) {
    V even(0.0), odd(0.0);
    int t = 0;
    for (; t + 1 < terms; t += 2) {
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

template <class V>
constexpr exact::PixelKernels pixel_table() {
  return {weigh<V>, dots<V>,         add_model<V>,  narrow<V>,      gather<V>,
          chi2<V>,  sum_products<V>, interleave<V>, deinterleave<V>};
}

}  // namespace fiberloom::lane
