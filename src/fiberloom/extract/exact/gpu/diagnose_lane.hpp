// SPDX-License-Identifier: BSD-3-Clause
// Model and goodness of fit by gathering, never by scattering: each fibre's light on each row, then
// each pixel's chi2, then each spot's mean (diagnostics.cpp has the rules). As on the CPU spots are
// not needed to all their bits here.
#pragma once

#include <type_traits>

#include "fiberloom/extract/exact/gpu/pixels_lane.hpp"
#include "fiberloom/extract/exact/gpu/root_lane.hpp"

namespace fiberloom::exact::gpu {

/// Rows [row_first, row_first + rows) of the CCD (they may hang over it) for the fibres of a store.
struct DiagnoseArgs {
  Shape shape;
  TraceView trace;
  CcdView ccd;
  SpotStore store;
  NormalView n;
  Packs x;
  double psferr;
  int row_first, rows;
  long row_pitch;                                 ///< rows, padded
  int columns;                                    ///< of a fibre's light on a row
  const int *live_first, *live_last, *direction;  ///< [nfiber]: live bins, sign of dy/dbin
  double* light;                                  ///< [store.count][columns][row_pitch]
  int* light_x;                                   ///< [store.count][row_pitch] column of light 0
  int bundle_first, bundles;                      ///< of the store
  const int* strip_x;  ///< [nbundle of the frame] CCD column of strip column 0
  int strip_pitch;
  float* chi2;           ///< [bundles][strip_pitch][row_pitch]
  float* model_columns;  ///< the same of the model
  float* model;          ///< [bundles][rows][strip_pitch], or null
  ResultView result;
};

/// First bin of a fibre whose y0 lies on the far side of `row` (in the direction of the trace).
FL_LANE_HD inline int first_beyond(const DiagnoseArgs& a, int fiber, int row, bool inclusive) {
  int low = a.live_first[fiber], high = a.live_last[fiber];  // answer in [low, high]
  const int sign = a.direction[fiber];
  while (low < high) {
    const int middle = (low + high) / 2;
    const int gap = sign * (a.trace.y0[a.trace.at(fiber, middle)] - row);
    if (gap > 0 || (inclusive && gap == 0)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// A fibre's light on a row. Threads: store.count x row_pitch.
struct LightKernel {
  using Args = DiagnoseArgs;
  /// Bins whose share of a column is asked for at once. (A row of DESI's CCD meets seven.) All of
  /// them before the next column: neighbouring threads need the same sectors of memory for
  /// neighbouring bins.
  static constexpr int kAtOnce = 8;
  /// What a thread keeps of some bins, in registers.
  struct Bins {
    double flux[kAtOnce];  ///< of a whole spot; 0: nothing to add
    int begin[kAtOnce];    ///< column of the light where it begins
    /// Where column 0 of its pixels on the thread's row would be, from the store's beginning.
    long spot[kAtOnce];
    unsigned unconstrained;
  };
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int r = static_cast<int>(thread % a.row_pitch);
    const int local = static_cast<int>(thread / a.row_pitch);
    if (r >= a.rows || local >= a.store.count) return;
    const int fiber = a.store.first + local, y = a.row_first + r;
    // bins with y - ny < y0 <= y
    const bool up = a.direction[fiber] > 0;
    const int begin =
        up ? first_beyond(a, fiber, y - a.store.ny, false) : first_beyond(a, fiber, y, true);
    const int end =
        up ? first_beyond(a, fiber, y, false) : first_beyond(a, fiber, y - a.store.ny, true);
    int base = 1 << 24;
    for (int j = begin; j < end; ++j) {
      const int x0 = a.trace.x0[a.trace.at(fiber, j)];
      base = x0 < base ? x0 : base;
    }
    a.light_x[local * a.row_pitch + r] = base;
    double* light = a.light + static_cast<long>(local) * a.columns * a.row_pitch + r;
    int j = begin;
    do {
      const Bins bins = some_bins(a, fiber, y, j, end, base);
      for (int c = 0; c < a.columns; ++c) {
        double& out = light[c * a.row_pitch];
        out = add(bins, a, base, y, c, j == begin ? 0.0 : out);
      }
      j += kAtOnce;
    } while (j < end);
  }

 private:
  FL_LANE_HD static Bins some_bins(const Args& a, int fiber, int y, int first, int end, int base) {
    Bins bins;
    bins.unconstrained = 0;
    FL_UNROLL_ALL
    for (int i = 0; i < kAtOnce; ++i) {
      const int j = first + i < end ? first + i : first;
      const long at = a.trace.at(fiber, j);
      const double phi = *a.n.phi.at(fiber, j + a.shape.margin);
      const double x = *a.x.at(fiber, j + a.shape.margin), scale = *a.store.scale_at(j, fiber);
      const double light = light_of(x) * scale;  // asked for whether it counts or not: no waiting
      const bool lit = first + i < end && phi > 0;
      bins.flux[i] = lit ? light : 0.0;
      bins.begin[i] = a.trace.x0[at] - base;
      const long row = (y - a.trace.y0[at]) * a.store.nx - bins.begin[i];
      bins.spot[i] = row * a.store.step() + (fiber - a.store.first) * a.store.pitch + j;
      bins.unconstrained |= lit && phi < kUnconstrainedBelow ? 1U << i : 0U;
    }
    return bins;
  }
  FL_LANE_HD static double add(const Bins& bins, const Args& a, int base, int y, int column,
                               double sum) {
    const long spots = column * a.store.step();
    // the flux of an unconstrained bin counts where it was fitted, nowhere else
    const bool fitted = bins.unconstrained == 0 || a.ccd.weight(base + column, y) > 0;
    double value[kAtOnce];
    FL_UNROLL_ALL
    for (int i = 0; i < kAtOnce; ++i) {
      const int c = column - bins.begin[i];
      const bool there = c >= 0 && c < a.store.nx && bins.flux[i] != 0;
      const bool counts = there && (fitted || (bins.unconstrained >> i & 1U) == 0);
      value[i] = counts ? a.store.pixels.about(spots + bins.spot[i]) : 0.0;
    }
    FL_UNROLL_ALL
    for (int i = 0; i < kAtOnce; ++i) sum += bins.flux[i] * value[i];
    return sum;
  }
};

/// Models of the pixels in row r and kSome columns from c on of the strip of the store's bundle b.
template <int kSome>
FL_LANE_HD inline void models_at(const DiagnoseArgs& a, int b, int r, int c, double* model) {
  const int bundle = a.bundle_first + b, px = a.strip_x[bundle] + c;
  FL_UNROLL_ALL
  for (int i = 0; i < kSome; ++i) model[i] = 0.0;
  for (int f = a.shape.bundle_first[bundle]; f < a.shape.bundle_first[bundle + 1]; ++f) {
    const int local = f - a.store.first;
    const int column = px - a.light_x[local * a.row_pitch + r];
    if (column <= -kSome || column >= a.columns) continue;
    const double* light = a.light + static_cast<long>(local) * a.columns * a.row_pitch + r;
    double value[kSome];
    FL_UNROLL_ALL
    for (int i = 0; i < kSome; ++i) {
      const bool there = column + i >= 0 && column + i < a.columns;
      value[i] = there ? light[(column + i) * a.row_pitch] : 0.0;
    }
    FL_UNROLL_ALL
    for (int i = 0; i < kSome; ++i) model[i] += value[i];
  }
}

/// Model and chi2 of kSome pixels of a row side by side: what fibres they may lie in is looked up
/// once. Threads: threads().
struct Chi2Kernel {
  using Args = DiagnoseArgs;
  static constexpr int kSome = 4;
  FL_LANE_HD static long threads(const Args& a) {
    return a.bundles * ((a.strip_pitch + kSome - 1) / kSome) * a.row_pitch;
  }
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int r = static_cast<int>(thread % a.row_pitch),
              groups = (a.strip_pitch + kSome - 1) / kSome;
    const long rest = thread / a.row_pitch;
    const int first = static_cast<int>(rest % groups) * kSome, b = static_cast<int>(rest / groups);
    if (b >= a.bundles || r >= a.rows) return;
    const int x = a.strip_x[a.bundle_first + b], py = a.row_first + r;
    double model[kSome];
    models_at<kSome>(a, b, r, first, model);
    a.ccd.with_pixels([&](const auto* image, const auto* ivar) {
      std::remove_cvref_t<decltype(*image)> weight[kSome], pixel[kSome];
      FL_UNROLL_ALL
      for (int i = 0; i < kSome; ++i) {
        const bool there = a.ccd.inside(x + first + i, py);
        weight[i] = there ? ivar[a.ccd.index(x + first + i, py)] : 0;
        pixel[i] = there ? image[a.ccd.index(x + first + i, py)] : 0;
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kSome; ++i) {
        const int c = first + i;
        if (c >= a.strip_pitch) continue;
        const double m = model[i];
        const long at = (static_cast<long>(b) * a.strip_pitch + c) * a.row_pitch + r;
        a.chi2[at] =
            static_cast<float>(pixel_chi2<WarpLane>(static_cast<double>(weight[i]),
                                                    static_cast<double>(pixel[i]), m, a.psferr)
                                   .v);
        a.model_columns[at] = static_cast<float>(m);
        if (a.model == nullptr) continue;
        a.model[(static_cast<long>(b) * a.rows + r) * a.strip_pitch + c] = static_cast<float>(m);
      }
    });
  }
};

/// chi2pix and the lost fraction of the requested fibres. Threads: store.count x store.pitch.
struct GatherKernel {
  using Args = DiagnoseArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [fiber, j, outside] = SpotThread::of(thread, a.store);
    if (outside || j >= a.result.nwave) return;
    const int spec = a.result.psf_fiber[fiber] - a.result.spec_min;
    if (spec < 0 || spec >= a.result.nspec) return;
    const int bin = j + a.result.guard;
    const long at = a.trace.at(fiber, bin), out = static_cast<long>(spec) * a.result.nwave + j;
    const double phi = *a.n.phi.at(fiber, bin + a.shape.margin);
    a.result.lost[out] = lost_share(1.0, phi);
    double sum = 0;
    if (phi > 0) {
      const int bundle = a.shape.bundle_of[fiber];
      const int row = a.trace.y0[at] - a.row_first, column = a.trace.x0[at] - a.strip_x[bundle];
      const float* chi2 =
          a.chi2 +
          (static_cast<long>(bundle - a.bundle_first) * a.strip_pitch + column) * a.row_pitch + row;
      for (int r = 0; r < a.store.ny; ++r) {
        for (int c = 0; c < a.store.nx; ++c) {
          const long pixel = a.store.at(r * a.store.nx + c, bin, fiber);
          sum += a.store.pixels.about(pixel) * chi2[c * a.row_pitch + r];
        }
      }
    }
    a.result.chi2pix[out] = phi > 0 ? sum * *a.store.scale_at(bin, fiber) / phi : 0.0;
  }
};

}  // namespace fiberloom::exact::gpu
