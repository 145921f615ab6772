// SPDX-License-Identifier: BSD-3-Clause
// Model and goodness of fit by gathering, never by scattering: each fibre's light on each row, then
// each pixel's chi2, then each spot's mean (diagnostics.cpp has the rules).
#pragma once

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
  double* chi2;  ///< [bundles][strip_pitch][row_pitch]
  float* model;  ///< [bundles][rows][strip_pitch], or null
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
  /// Columns that a thread adds up in memory of its own, which a card caches; traces that wander
  /// further across the bins of a spot do it where the sums go.
  static constexpr int kOwnColumns = 40;
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
    double own[kOwnColumns];
    double* out = a.light + static_cast<long>(local) * a.columns * a.row_pitch + r;
    const bool here = a.columns <= kOwnColumns;
    double* light = here ? own : out;
    const long step = here ? 1 : a.row_pitch;
    for (int c = 0; c < a.columns; ++c) light[c * step] = 0.0;
    int base = 1 << 24;
    for (int j = begin; j < end; ++j) {
      const int x0 = a.trace.x0[a.trace.at(fiber, j)];
      base = x0 < base ? x0 : base;
    }
    a.light_x[local * a.row_pitch + r] = base;
    for (int j = begin; j < end; ++j) {
      const double phi = *a.n.phi.at(fiber, j + a.shape.margin);
      if (!(phi > 0)) continue;
      const double flux =
          light_of(*a.x.at(fiber, j + a.shape.margin)) * *a.store.scale_at(j, fiber);
      const long at = a.trace.at(fiber, j);
      const int shift = a.trace.x0[at] - base, row = y - a.trace.y0[at];
      for (int c = 0; c < a.store.nx; ++c) {
        // the flux of an unconstrained bin counts where it was fitted, nowhere else
        if (phi < kUnconstrainedBelow && !(a.ccd.weight(a.trace.x0[at] + c, y) > 0)) continue;
        light[(shift + c) * step] += flux * *a.store.at(row * a.store.nx + c, j, fiber);
      }
    }
    if (!here) return;
    for (int c = 0; c < a.columns; ++c) out[c * a.row_pitch] = own[c];
  }
};

/// Model of the pixel in row r and column c of the strip of the store's bundle b.
FL_LANE_HD inline double model_at(const DiagnoseArgs& a, int b, int r, int c) {
  const int bundle = a.bundle_first + b, px = a.strip_x[bundle] + c;
  double m = 0;
  for (int f = a.shape.bundle_first[bundle]; f < a.shape.bundle_first[bundle + 1]; ++f) {
    const int local = f - a.store.first;
    const int column = px - a.light_x[local * a.row_pitch + r];
    if (column < 0 || column >= a.columns) continue;
    m += a.light[(static_cast<long>(local) * a.columns + column) * a.row_pitch + r];
  }
  return m;
}

/// Threads: bundles x strip_pitch x row_pitch.
struct Chi2Kernel {
  using Args = DiagnoseArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int r = static_cast<int>(thread % a.row_pitch);
    const long rest = thread / a.row_pitch;
    const int c = static_cast<int>(rest % a.strip_pitch),
              b = static_cast<int>(rest / a.strip_pitch);
    if (b >= a.bundles || r >= a.rows) return;
    const int px = a.strip_x[a.bundle_first + b] + c, py = a.row_first + r;
    const double m = model_at(a, b, r, c);
    a.chi2[thread] = pixel_chi2<WarpLane>(a.ccd.weight(px, py), a.ccd.pixel(px, py), m, a.psferr).v;
    if (a.model != nullptr) {
      a.model[(static_cast<long>(b) * a.rows + r) * a.strip_pitch + c] = static_cast<float>(m);
    }
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
      const double* chi2 =
          a.chi2 +
          (static_cast<long>(bundle - a.bundle_first) * a.strip_pitch + column) * a.row_pitch + row;
      for (int r = 0; r < a.store.ny; ++r) {
        for (int c = 0; c < a.store.nx; ++c) {
          sum += *a.store.at(r * a.store.nx + c, bin, fiber) * chi2[c * a.row_pitch + r];
        }
      }
    }
    a.result.chi2pix[out] = phi > 0 ? sum * *a.store.scale_at(bin, fiber) / phi : 0.0;
  }
};

}  // namespace fiberloom::exact::gpu
