// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps over the fibres of a bundle (marginal.cpp has the formulas): one step of both
// sweeps of all bundles and windows is one launch. What a step leaves to the next fibre is kept by
// bin, so that windows meet again after every step.
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "fiberloom/linalg/pole_registers_lane.hpp"

namespace fiberloom::exact::gpu {

/// Bundles that one attempt treats; their fibres are counted anew ("places").
struct PlaceView {
  int nbundle, nplace;
  const int* bundle_place;  ///< [nbundle + 1] first place of a bundle
  const int* fiber;         ///< [nplace] fibre of the frame
};

struct SweepArgs {
  Shape shape;
  NormalView n;
  PlaceView places;
  Cut cut;
  int band, half;                            ///< of S; half-width of a coupling's columns
  int step;                                  ///< from fibre `step` of a sweep to the next
  Packs left, right;                         ///< by place and bin, width band + 1: Schur terms
  Packs matrix, l, inv_d, inverse, columns;  ///< lanes (sweep, bundle, window), rows of a window
};

/// One problem of a step: 2 nbundle count lanes, those without anything to do have to < 0.
struct SweepLane {
  int window, from, to;  ///< places
  Packs terms;
  FL_LANE_HD static SweepLane of(long lane, const SweepArgs& a) {
    SweepLane s{0, -1, -1, a.left};
    const long problem = lane / a.cut.count;
    if (problem >= 2L * a.places.nbundle) return s;
    s.window = static_cast<int>(lane % a.cut.count);
    const int bundle = static_cast<int>(problem % a.places.nbundle);
    const int first = a.places.bundle_place[bundle], last = a.places.bundle_place[bundle + 1] - 1;
    if (first + a.step >= last) return s;
    if (problem < a.places.nbundle) {
      s.from = first + a.step;
      s.to = s.from + 1;
    } else {
      s.terms = a.right;
      s.from = last - a.step;
      s.to = s.from - 1;
    }
    return s;
  }
};

/// Precision of the fibre that is eliminated, and its coupling by columns. Threads: rows x padded
/// lanes.
struct SweepLoadKernel {
  using Args = SweepArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lanes = padded(2L * a.places.nbundle * a.cut.count), lane = thread % lanes;
    const int m = static_cast<int>(thread / lanes);
    if (m >= a.cut.rows) return;
    const SweepLane s = SweepLane::of(lane, a);
    if (s.to < 0) return;
    const int f = a.places.fiber[s.from], to = a.places.fiber[s.to];
    const long row = a.shape.margin + a.cut.first(s.window) + m;
    for (int d = 0; d <= a.band; ++d) {
      const double own = d <= a.shape.band ? *a.n.own.at(f, row, d) : 0.0;
      *a.matrix.at(lane, m, d) = own - *s.terms.at(s.from, row, d);
    }
    const int cb = a.shape.cross_band;
    for (int g = -a.half; g <= a.half; ++g) {  // C[m + g, m] = N[(from, m + g), (to, m)]
      double value = 0.0;
      if (g >= -cb && g <= cb && m + g >= 0 && m + g < a.cut.rows) {
        value = f < to ? *a.n.cross[0].at(f, row + g, cb - g) : *a.n.cross[0].at(to, row, cb + g);
      }
      *a.columns.at(lane, m, a.half + g) = value;
    }
  }
};

/// Factor and selected inverse of width band + 2 half. Threads: padded lanes.
template <int B>
struct SweepInvertKernel {
  using Args = SweepArgs;
  FL_LANE_HD static void run(long lane, const Args& a) {
    if (SweepLane::of(lane, a).to < 0) return;
    lane::factor_somewhere<WarpLane, B>(a.cut.rows, a.matrix.at(lane, 0), WarpLane(0.0),
                                        a.l.at(lane, 0), a.inv_d.at(lane, 0));
    lane::selected_inverse_somewhere<WarpLane, B>(a.cut.rows, a.l.at(lane, 0), a.inv_d.at(lane, 0),
                                                  B + 2 * a.half, a.inverse.at(lane, 0));
  }
};

/// One column of E = C^T Z C: the Schur term of the next fibre. Threads: (stride + band) x padded
/// lanes.
template <int H>
struct SweepCongruenceKernel {
  using Args = SweepArgs;
  static constexpr int kMostBand = 32;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lanes = padded(2L * a.places.nbundle * a.cut.count), lane = thread % lanes;
    const int m = static_cast<int>(thread / lanes) + a.cut.skirt;
    if (m >= a.cut.skirt + a.cut.stride + a.band || m >= a.cut.rows) return;
    const SweepLane s = SweepLane::of(lane, a);
    if (s.to < 0) return;
    const int first_bin = a.cut.first(s.window);
    const int low = m - a.band > a.cut.skirt ? m - a.band : a.cut.skirt;
    const int core_end = a.cut.skirt + a.cut.stride;
    const int high = m < core_end - 1 ? m : core_end - 1;
    if (low > high) return;
    const int width = a.band + 2 * H;
    double c[2 * H + 1], t[kMostBand + 2 * H + 1];
    FL_UNROLL_ALL
    for (int g = 0; g <= 2 * H; ++g) c[g] = *a.columns.at(lane, m, g);
    for (int row = low - H; row <= high + H; ++row) {
      double sum = 0.0, sum2 = 0.0;
      if (row >= 0 && row < a.cut.rows) {
        const double* z = a.inverse.at(lane, row, width + m - H - row);
        sum2 = c[2 * H] * z[2 * H * kWarp];
        FL_UNROLL_ALL
        for (int g = 0; g < 2 * H; g += 2) {
          sum += c[g] * z[g * kWarp];
          sum2 += c[g + 1] * z[(g + 1) * kWarp];
        }
      }
      t[row - low + H] = sum + sum2;
    }
    for (int k = low; k <= high; ++k) {
      const double* ck = a.columns.at(lane, k);
      const double* tk = t + (k - low);
      double sum = 0.0, sum2 = ck[2 * H * kWarp] * tk[2 * H];
      FL_UNROLL_ALL
      for (int g = 0; g < 2 * H; g += 2) {
        sum += ck[g * kWarp] * tk[g];
        sum2 += ck[(g + 1) * kWarp] * tk[g + 1];
      }
      const int bin = first_bin + k;
      if (bin >= 0 && bin < a.shape.nbin) {
        *s.terms.at(s.to, bin + a.shape.margin, m - k) = sum + sum2;
      }
    }
  }
};

/// S = N_ii - both Schur terms, into `left`. Threads: rows by bin x padded places.
struct SweepMergeKernel {
  using Args = SweepArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.places.nplace), row = thread / pitch, place = thread % pitch;
    if (row >= a.shape.rows() || place >= a.places.nplace) return;
    const int f = a.places.fiber[place];
    for (int d = 0; d <= a.band; ++d) {
      const double own = d <= a.shape.band ? *a.n.own.at(f, row, d) : 0.0;
      double* s = a.left.at(place, row, d);
      *s = own - *a.right.at(place, row, d) - *s;
    }
  }
};

}  // namespace fiberloom::exact::gpu
