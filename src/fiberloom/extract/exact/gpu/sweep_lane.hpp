// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps over the fibres of a bundle (marginal.cpp has the formulas): one step of both
// sweeps of all bundles and windows is two launches. Problems of a step are (sweep, bundle). Only
// the factor of a fibre goes from row to row; it and what a step leaves to the next fibre are kept
// by bin, so that windows meet again. (Schur terms: term_lane.hpp.)
#pragma once

#include "fiberloom/extract/exact/gpu/factor_lane.hpp"

namespace fiberloom::exact::gpu {

/// Bundles that one attempt treats, and their fibres in the order that steps go through them: the
/// first of each bundle, then the second of each ("places"). So the problems of a step are
/// neighbours in memory.
struct PlaceView {
  int nbundle, nplace;
  const int* fibers;    ///< [nbundle] how many a bundle has
  const int* place_of;  ///< [most fibers][nbundle]; -1: none
  [[nodiscard]] FL_LANE_HD int place(int position, int bundle) const {
    return place_of[position * nbundle + bundle];
  }
};

struct SweepArgs {
  Shape shape;
  PlaceView places;
  Cut cut;           ///< rows: skirt and core
  int band, half;    ///< of S; half-width of a coupling's columns
  int tail;          ///< rows of L^-1 c behind those of c
  int step;          ///< from fibre `step` of a sweep to the next
  int abreast;       ///< problems that a block of SweepTermKernel treats side by side
  Packs own, cross;  ///< N by place and bin: widths band + 1; 2 half + 1, to the next in its bundle
  /// What a sweep has left of `own` at the places that it came to, and in the margins. In the end
  /// `left` is S.
  Packs left, right;
  Packs l, inv_d;  ///< by problem and bin
  [[nodiscard]] FL_LANE_HD int problems() const { return 2 * places.nbundle; }
  /// Windows of all problems, as many together as a step has threads for its factors.
  [[nodiscard]] FL_LANE_HD long lanes() const { return static_cast<long>(problems()) * cut.count; }
};

/// Whose row a thread has, of rows by bin x padded places.
struct PlaceRow {
  long row, place;
  bool is_there;
  FL_LANE_HD static PlaceRow of(long thread, const SweepArgs& a) {
    const long pitch = padded(a.places.nplace), row = thread / pitch, place = thread % pitch;
    return {row, place, row < a.shape.rows() && place < a.places.nplace};
  }
};

/// A column of C = N[(from, .), (to, row)]: entry (row + g) is middle[g * along].
struct SweepColumn {
  const double* middle;
  long along;
};

/// From which place to which a problem goes; those without anything to do have to < 0.
struct SweepStep {
  int from = -1, to = -1;
  bool is_left = true;
  FL_LANE_HD static SweepStep of(int problem, const SweepArgs& a) {
    SweepStep s;
    s.is_left = problem < a.places.nbundle;
    const int bundle = problem % a.places.nbundle, last = a.places.fibers[bundle] - 1;
    if (a.step >= last) return s;
    s.from = a.places.place(s.is_left ? a.step : last - a.step, bundle);
    s.to = a.places.place(s.is_left ? a.step + 1 : last - a.step - 1, bundle);
    return s;
  }
  /// Precision of the fibre that is eliminated.
  [[nodiscard]] FL_LANE_HD const Packs& matrix(const SweepArgs& a) const {
    return a.step == 0 ? a.own : terms(a);
  }
  /// Where the sweep leaves what it takes from the next.
  [[nodiscard]] FL_LANE_HD const Packs& terms(const SweepArgs& a) const {
    return is_left ? a.left : a.right;
  }
  [[nodiscard]] FL_LANE_HD SweepColumn column(long row, const SweepArgs& a) const {
    return {a.cross.at(is_left ? from : to, row, a.half), (is_left ? 2 * a.half : 1) * kWarp};
  }
};

/// What a batch sweeps over: the axis of the frame, or parts of it.
struct SweepBeginArgs {
  SweepArgs sweep;
  Shape frame;
  NormalView n;
  Packs x;              ///< of the frame
  Packs to_x, to_ones;  ///< by place; ones are 0 outside the grid
  int whole;            ///< the frame's axis, margins and all
  const int* fiber;     ///< [nplace] of the frame
  const int* origin;    ///< [nplace] bin of the frame where a place's axis begins
  const int* length;    ///< [nplace] its bins; shape.nbin or fewer
  /// Bin of the frame.
  [[nodiscard]] FL_LANE_HD long bin_of(long place, long bin) const { return origin[place] + bin; }
  [[nodiscard]] FL_LANE_HD bool counts(long place, long bin) const {
    const long in_frame = bin_of(place, bin);
    return bin >= 0 && bin < length[place] && in_frame >= 0 && in_frame < frame.nbin;
  }
};
/// Gathers N and ones by place. Nothing crosses the ends of a part; beyond them rows are the
/// identity's, times an element of its own diagonal: bounds are what they are however long the
/// others' axes. Threads: rows by bin x padded places.
struct SweepBeginKernel {
  using Args = SweepBeginArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const SweepArgs& s = a.sweep;
    const auto [row, i, is_there] = PlaceRow::of(thread, s);
    if (!is_there) return;
    const int f = a.fiber[i];
    const long bin = row - s.shape.margin, from = a.frame.margin + a.bin_of(i, bin);
    const long begin = a.whole != 0 ? -s.shape.margin : 0;
    const long end = a.length[i] + (a.whole != 0 ? s.shape.margin : 0);
    const bool inside = bin >= begin && bin < end;
    const double identity = inside ? 0.0 : *a.n.own.at(f, a.frame.margin + a.origin[i]);
    const bool in_margin = bin < 0 || bin >= s.shape.nbin;
    FL_UNROLL_FEW
    for (int d = 0; d <= s.band; ++d) {
      const bool meets = inside && bin + d < end && d <= a.frame.band;
      const double value = meets ? *a.n.own.at(f, from, d) : d == 0 ? identity : 0.0;
      *s.own.at(i, row, d) = value;
      if (in_margin) *s.left.at(i, row, d) = *s.right.at(i, row, d) = value;
    }
    const int cb = a.frame.cross_band;
    FL_UNROLL_FEW
    for (int k = -s.half; k <= s.half; ++k) {
      const bool meets = inside && k >= -cb && k <= cb && bin + k >= begin && bin + k < end;
      *s.cross.at(i, row, s.half + k) = meets ? *a.n.cross[0].at(f, from, cb + k) : 0.0;
    }
    *a.to_ones.at(i, row) = a.counts(i, bin) ? 1.0 : 0.0;
  }
};
/// Gathers x, which sweeps do not need, and so need not wait for. Threads: the same.
struct SweepLightKernel {
  using Args = SweepBeginArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const SweepArgs& s = a.sweep;
    const auto [row, i, is_there] = PlaceRow::of(thread, s);
    if (!is_there) return;
    const long bin = row - s.shape.margin;
    *a.to_x.at(i, row) =
        a.counts(i, bin) ? *a.x.at(a.fiber[i], a.frame.margin + a.bin_of(i, bin)) : 0.0;
  }
};

/// Factors of a step. Threads: windows x problems.
struct OfSweep {
  using Args = SweepArgs;
  FL_LANE_HD static int most_rows(const Args& a) { return a.cut.rows; }
  FL_LANE_HD static FactorTask task(long number, const Args& a) {
    const int problem = static_cast<int>(number % a.problems());
    const int window = static_cast<int>(number / a.problems());
    const SweepStep step = SweepStep::of(problem, a);
    if (window >= a.cut.count || step.to < 0) return {};
    const long row = a.shape.margin + a.cut.first(window);
    return {step.matrix(a).at(step.from, row), a.l.at(problem, row), a.inv_d.at(problem, row),
            a.cut.rows, a.cut.skirt};
  }
};
template <int B>
struct SweepFactorKernel : WindowFactorKernel<B, OfSweep> {};

/// S = N_ii - both Schur terms, into `left`. Threads: rows by bin x padded places.
struct SweepMergeArgs {
  SweepArgs sweep;
  const int *from_left, *from_right;  ///< [nplace] whether that sweep counts there
};
struct SweepMergeKernel {
  using Args = SweepMergeArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const SweepArgs& s = a.sweep;
    const auto [row, place, is_there] = PlaceRow::of(thread, s);
    if (!is_there) return;
    const bool left = a.from_left[place] != 0, right = a.from_right[place] != 0;
    FL_UNROLL_FEW
    for (int d = 0; d <= s.band; ++d) {
      const double own = *s.own.at(place, row, d);
      double* to = s.left.at(place, row, d);
      const double taken = right ? own - *s.right.at(place, row, d) : 0.0;
      *to = (left ? *to : own) - taken;
    }
  }
};

}  // namespace fiberloom::exact::gpu
