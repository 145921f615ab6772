// SPDX-License-Identifier: BSD-3-Clause
// The hot loops of a scan (scan_kernels.hpp has the contracts), a template on the lane type.
#pragma once

#include "fiberloom/redshift/evidence_lane.hpp"
#include "fiberloom/redshift/products_lane.hpp"
#include "fiberloom/redshift/sky_lane.hpp"
#include "fiberloom/redshift/solve_lane.hpp"

namespace fiberloom::redshift::lane {

inline constexpr int kTilePixels = 8;

/// Edges whose knots are found before the first of them is used: x of a lane is then a number in
/// memory, which costs no shuffle of registers.
inline constexpr long kEdgesAtOnce = 16;

/// Where the edges of pixels lie among the knots, for kLanes redshifts.
template <class V>
struct KnotFinder {
  double first, per, last;
  bool in_log10;
  double scale[kLanes], stretch[kLanes], shift[kLanes];

  [[gnu::always_inline]] KnotFinder(const KnotTable& table, const double* z)
      : first(table.first),
        per(table.per),
        last(static_cast<double>(table.last)),
        in_log10(table.in_log10) {
    for (int l = 0; l < kLanes; ++l) {
      stretch[l] = 1 + z[l];
      scale[l] = 1 / stretch[l];
      shift[l] = in_log10 ? __builtin_log10(stretch[l]) : 0;
    }
  }
  [[gnu::always_inline]] static double x_of(const KnotTable& table, int k) {
    return table.rows[k * table.stride + knot_x(table.nb)];
  }
  /// Where find() begins to seek in uneven knots.
  [[gnu::always_inline]] void start(const KnotTable& table, double edge, int* k) const {
    for (int l = 0; l < kLanes && per == 0; ++l) {
      int low = 0, high = static_cast<int>(table.last);  // the last knot at or before the edge
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (x_of(table, middle) <= edge * scale[l]) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      k[l] = low;
    }
  }
  /// Of `count` edges x[e][l], and k[e][l] the knot at or before it. One too early or too late by
  /// rounding is as good, since the integral and its slope are continuous there. `from`: the knots
  /// of the edge before.
  [[gnu::always_inline]] void find(const KnotTable& table, long count, const double* edges,
                                   const double* log_edges, const int* from, double* x,
                                   int* k) const {
    double position[kEdgesAtOnce * kLanes];
    for (long e = 0; e < count; ++e) {
      FL_UNROLL
      for (int l = 0; l < kLanes; l += V::width) {
        const V at = V(edges[e]) * V::load(scale + l);
        at.store(x + e * kLanes + l);
        const V place = in_log10 ? V(log_edges[e]) - V::load(shift + l) : at;
        const V knot = (place - V(first)) * V(per);
        min(max(knot, V(0.0)), V(last)).store(position + e * kLanes + l);
      }
    }
    const long all = count * kLanes;
    if (per > 0) {
      for (long i = 0; i < all; ++i) k[i] = static_cast<int>(position[i]);
      return;
    }
    for (long i = 0; i < all; ++i) {
      k[i] = i < kLanes ? from[i] : k[i - kLanes];
      while (k[i] < table.last && x_of(table, k[i] + 1) <= x[i]) ++k[i];
    }
  }
};

/// values [kLanes][chunks], a lane a vector, to out[nb][kLanes / w], a lane a redshift.
template <class V, int NB>
[[gnu::always_inline]] inline void to_lanes(int nb_runtime, const V* values, V* out) {
  constexpr int w = V::width, packs = kLanes / w;
  const int nb = NB > 0 ? NB : nb_runtime, chunks = (nb + w - 1) / w;
  FL_UNROLL
  for (int c = 0; c < chunks; ++c) {
    FL_UNROLL
    for (int p = 0; p < packs; ++p) {
      V block[w];
      FL_UNROLL
      for (int i = 0; i < w; ++i) block[i] = values[(p * w + i) * chunks + c];
      if constexpr (w > 1) transpose(block);
      FL_UNROLL
      for (int i = 0; i < w; ++i) {
        if (c * w + i < nb) out[(c * w + i) * packs + p] = block[i];
      }
    }
  }
}

/// Pixels ahead whose knots are asked for: rows of a finely sampled template are kilobytes apart,
/// and no cache holds all of them. Of a few pixels the redshift before has left them there.
inline constexpr int kPixelsAhead = 4;
inline constexpr long kFewPixels = 256;

/// Asks for the rows that the edge `kPixelsAhead` pixels on will want.
template <int NB>
[[gnu::always_inline]] inline void ask_ahead(const KnotTable& table, const int* before,
                                             const int* k) {
  for (int l = 0; l < kLanes; ++l) {
    const long ahead = k[l] + static_cast<long>(kPixelsAhead) * (k[l] - before[l]);
    const char* const next = reinterpret_cast<const char*>(
        table.rows + (ahead < table.last ? ahead : table.last) * table.stride);
    for (int line = 0; line < (NB > 0 ? static_cast<int>(knot_stride(NB)) / 8 : 1); ++line) {
      __builtin_prefetch(next + line * 64);
    }
  }
}

/// Lanes `First` on of two packs that lie side by side.
template <int First, class V, int... I>
[[gnu::always_inline]] inline V side_by_side(V a, V b, std::integer_sequence<int, I...>) {
  constexpr typename V::Bits lanes{(First + I)...};
  return {__builtin_shuffle(a.v, b.v, lanes)};
}

/// The integrals up to x of vectors w * c on, from the knot's row at or before x.
template <class V, int NB>
[[gnu::always_inline]] inline void integrals_at(int nb, const double* row, double x, V* out) {
  constexpr int w = V::width;
  const V d = V(x) - V(row[knot_x(nb)]);
  if constexpr (NB > 0 && NB <= w && knot_stride(NB) == 2 * w) {
    // loads across cache lines are what a scan waits for: two that begin with them hold the row
    constexpr std::make_integer_sequence<int, w> lanes;
    const V low = V::load(row), high = V::load(row + w);
    const V value = side_by_side<knot_value(NB)>(low, high, lanes);
    const V slope = side_by_side<knot_slope(NB)>(low, high, lanes);
    out[0] = fma(d, fma(d, slope, value), low);
  } else {
    const int chunks = (nb + w - 1) / w;
    FL_UNROLL
    for (int c = 0; c < chunks; ++c) {
      const double* const chunk = row + c * w;
      const V slope = fma(d, V::load(chunk + knot_slope(nb)), V::load(chunk + knot_value(nb)));
      out[c] = fma(d, slope, V::load(chunk));
    }
  }
}

/// Until to_lanes() a lane is a vector of the template.
template <class V, int NB>
void rebin(const KnotTable& table, const double* z, long count, const double* edges,
           const double* log_edges, double* out) {
  constexpr int w = V::width, packs = kLanes / w, most = NB > 0 ? NB : kMostBasis;
  const int nb = NB > 0 ? NB : table.nb, chunks = (nb + w - 1) / w;
  V integral[kLanes * ((most + w - 1) / w)], now[most * packs], last[most * packs];
  const KnotFinder<V> finder(table, z);
  const double* const rows = table.rows;
  const long stride = NB > 0 ? knot_stride(NB) : table.stride;
  double x[kEdgesAtOnce * kLanes];
  int knots[(1 + kEdgesAtOnce) * kLanes] = {};  // those of the edge before come first
  finder.start(table, edges[0], knots);
  for (long e = 0; e < count; ++e) {
    const long i = e % kEdgesAtOnce;
    const int* const k = knots + (1 + i) * kLanes;
    if (i == 0) {
      for (int l = 0; l < kLanes && e > 0; ++l) knots[l] = knots[kEdgesAtOnce * kLanes + l];
      const long rest = count - e;
      finder.find(table, rest < kEdgesAtOnce ? rest : kEdgesAtOnce, edges + e, log_edges + e, knots,
                  x, knots + kLanes);
    }
    if (count > kFewPixels && e > 0) ask_ahead<NB>(table, k - kLanes, k);
    FL_UNROLL
    for (int l = 0; l < kLanes; ++l) {
      integrals_at<V, NB>(nb, rows + k[l] * stride, x[i * kLanes + l], integral + l * chunks);
    }
    to_lanes<V, NB>(nb, integral, now);
    const V per_width(e > 0 ? 1 / (edges[e] - edges[e - 1]) : 0);
    FL_UNROLL
    for (int p = 0; p < packs; ++p) {
      const V factor = per_width * V::load(finder.stretch + p * w);
      FL_UNROLL
      for (int a = 0; a < nb; ++a) {
        const int at = a * packs + p;
        if (e > 0) {
          ((now[at] - last[at]) * factor).store(out + ((e - 1) * nb + a) * kLanes + p * w);
        }
        last[at] = now[at];
      }
    }
  }
}

template <class V, int NB>
void blur(int nb_runtime, int ndiag, long count, const double* rows, const double* t, double* out) {
  const int nb = NB > 0 ? NB : nb_runtime;
  V b[NB > 0 ? NB : kMostBasis];
  for (long i = 0; i < count; ++i) {
    blur_pixel<V, NB>(nb, ndiag, rows + i * ndiag, t + i * nb * kLanes, b);
    FL_UNROLL
    for (int a = 0; a < nb; ++a) put(out + i * nb * kLanes, a, b[a]);
  }
}

[[gnu::always_inline]] inline bool empty_tile(const double* weight) {
  for (int p = 0; p < kTilePixels; ++p) {
    if (weight[p] != 0) return false;
  }
  return true;
}

/// One row a of M and y_a from a tile of B: the sums stay in registers for the tile's pixels.
template <class V, int NB, int A>
[[gnu::always_inline]] inline void tile_row(int nb_runtime, int a_runtime, const double* weight,
                                            const double* flux, const V* tile, double* normal) {
  const int nb = NB > 0 ? NB : nb_runtime, a = NB > 0 ? A : a_runtime;
  const int first = a * nb - a * (a - 1) / 2, rhs = triangle(nb) + a;
  V sum[NB > 0 ? NB - A : kMostBasis];
  FL_UNROLL
  for (int b = a; b < nb; ++b) sum[b - a] = at<V>(normal, first + b - a);
  V y = at<V>(normal, rhs);
  FL_UNROLL
  for (int p = 0; p < kTilePixels; ++p) {
    const V wb = V(weight[p]) * tile[p * nb + a];
    FL_UNROLL
    for (int b = a; b < nb; ++b) sum[b - a] = fma(wb, tile[p * nb + b], sum[b - a]);
    y = fma(wb, V(flux[p]), y);
  }
  FL_UNROLL
  for (int b = a; b < nb; ++b) put(normal, first + b - a, sum[b - a]);
  put(normal, rhs, y);
}

template <class V, int NB, int... A>
[[gnu::always_inline]] inline void tile_rows(std::integer_sequence<int, A...>, const double* weight,
                                             const double* flux, const V* tile, double* normal) {
  (tile_row<V, NB, A>(NB, A, weight, flux, tile, normal), ...);
}

template <class V, int NB>
void accumulate(int nb_runtime, int ndiag, long count, const double* rows, const double* weight,
                const double* flux, const double* t, double* normal) {
  const int nb = NB > 0 ? NB : nb_runtime;
  V tile[kTilePixels * (NB > 0 ? NB : kMostBasis)];
  for (long i = 0; i < count; i += kTilePixels) {
    if (empty_tile(weight + i)) continue;
    for (int p = 0; p < kTilePixels; ++p) {
      V b[NB > 0 ? NB : kMostBasis];
      blur_pixel<V, NB>(nb, ndiag, rows + (i + p) * ndiag, t + (i + p) * nb * kLanes, b);
      FL_UNROLL
      for (int a = 0; a < nb; ++a) tile[p * nb + a] = b[a];
    }
    if constexpr (NB > 0) {
      tile_rows<V, NB>(std::make_integer_sequence<int, NB>(), weight + i, flux + i, tile, normal);
    } else {
      for (int a = 0; a < nb; ++a) {
        tile_row<V, 0, 0>(nb, a, weight + i, flux + i, tile, normal);
      }
    }
  }
}

/// The table of a lane type and its like in single precision.
template <class V, class F>
struct ScanTable {
  /// body.template operator()<NB>() with the number of vectors as a constant where it is usual.
  template <class Body>
  static void with_basis(int nb, Body body) {
    switch (nb) {
      case 1:
        return body.template operator()<1>();
      case 3:
        return body.template operator()<3>();
      case 4:
        return body.template operator()<4>();
      case 5:
        return body.template operator()<5>();
      case 7:
        return body.template operator()<7>();
      case 10:
        return body.template operator()<10>();
      default:
        return body.template operator()<0>();
    }
  }
  static void rebin(const KnotTable& table, const double* z, long count, const double* edges,
                    const double* log_edges, double* out) {
    with_basis(table.nb,
               [&]<int NB>() { lane::rebin<V, NB>(table, z, count, edges, log_edges, out); });
  }
  static void blur(int nb, int ndiag, long count, const double* rows, const double* t,
                   double* out) {
    with_basis(nb, [&]<int NB>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::blur<V, NB>(nb, ndiag, count, rows, t + i, out + i);
      }
    });
  }
  static void accumulate(int nb, int ndiag, long count, const double* rows, const double* weight,
                         const double* flux, const double* t, double* normal) {
    with_basis(nb, [&]<int NB>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::accumulate<V, NB>(nb, ndiag, count, rows, weight, flux, t + i, normal + i);
      }
    });
  }
  static void products(int nb, int ndiag, long count, const double* rows, const double* t,
                       const double* scale, float* out) {
    with_basis(nb, [&]<int NB>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::products<V, NB>(nb, ndiag, count, rows, t + i, scale, out + i);
      }
    });
  }
  static void solve(int nb, const double* normal, double least_pivot, double* gain, double* c,
                    double* rank) {
    for (int i = 0; i < kLanes; i += V::width) {
      lane::solve<V>(nb, normal + i, least_pivot, gain + i, c + i, rank + i);
    }
  }
  static void project(int nb, long count, const double* pull, const double* t, double* u) {
    with_basis(nb, [&]<int NB>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::project<V, NB>(nb, count, pull, t + i, u + i);
      }
    });
  }
  static void take_out(int nb, const double* u, double beta, double weighted_flux, double* normal) {
    for (int i = 0; i < kLanes; i += V::width) {
      lane::take_out<V>(nb, u + i, beta, weighted_flux, normal + i);
    }
  }
  static void evidence(int nb, const double* normal, int components, const double* table,
                       double* out) {
    with_basis(nb, [&]<int NB>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::evidence<V, NB>(nb, normal + i, components, table, out + i);
      }
    });
  }
  static constexpr ScanKernels table() {
    return {rebin, blur,    accumulate, products, lane::gather<V, F>,
            solve, project, take_out,   evidence};
  }
};

}  // namespace fiberloom::redshift::lane
