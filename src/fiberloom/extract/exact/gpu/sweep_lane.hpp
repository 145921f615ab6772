// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps over the fibres of a bundle (marginal.cpp has the formulas): one step of both
// sweeps of all bundles and windows is two launches. Problems of a step are (sweep, bundle). Only
// the factor of a fibre goes from row to row; it and what a step leaves to the next fibre are kept
// by bin, so that windows meet again. The columns of a Schur term are computed one a thread.
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "loom/linalg/pole_registers_lane.hpp"

namespace fiberloom::exact::gpu {

/// Bundles that one attempt treats; their fibres are counted anew ("places").
struct PlaceView {
  int nbundle, nplace;
  const int* bundle_place;  ///< [nbundle + 1] first place of a bundle
  const int* fiber;         ///< [nplace] fibre of the frame
};

/// Steps whose matrices and couplings are loaded at once: neighbouring fibres share what a load
/// fetches from memory.
inline constexpr int kSweepGroup = 4;

struct SweepArgs {
  Shape shape;
  NormalView n;
  PlaceView places;
  Cut cut;                ///< rows: skirt and core
  int band, half;         ///< of S; half-width of a coupling's columns
  int tail;               ///< rows of M^-1 c behind those that are wanted
  int step;               ///< from fibre `step` of a sweep to the next
  int near;               ///< SweepTermKernel works in the block's own memory
  Packs left, right;      ///< by place and bin, width band + 1: Schur terms
  Packs matrix, columns;  ///< by problem of a group of steps, and bin
  Packs l, inv_d;         ///< by problem and bin
  Packs work;             ///< by thread of SweepTermKernel, where its blocks have too little memory
  [[nodiscard]] FL_LANE_HD int problems() const { return 2 * places.nbundle; }
  /// Windows of all problems, as many together as a step has threads for its factors.
  [[nodiscard]] FL_LANE_HD long lanes() const { return static_cast<long>(problems()) * cut.count; }
  /// Rows of a column of M^-1 C, as far as it is computed.
  [[nodiscard]] FL_LANE_HD int column_rows() const {
    return 2 * half + 1 + (tail > band ? tail : band);
  }
  /// Where `matrix` and `columns` have a problem of this or another step of the group.
  [[nodiscard]] FL_LANE_HD long slot(int of_step, int problem) const {
    return static_cast<long>(of_step % kSweepGroup) * problems() + problem;
  }
};

/// From which place to which a problem goes; those without anything to do have to < 0.
struct SweepStep {
  int from, to;
  Packs terms;
  FL_LANE_HD static SweepStep of(int problem, int step, const SweepArgs& a) {
    SweepStep s{-1, -1, a.left};
    const int bundle = problem % a.places.nbundle;
    const int first = a.places.bundle_place[bundle], last = a.places.bundle_place[bundle + 1] - 1;
    if (first + step >= last) return s;
    if (problem < a.places.nbundle) {
      s.from = first + step;
      s.to = s.from + 1;
    } else {
      s.terms = a.right;
      s.from = last - step;
      s.to = s.from - 1;
    }
    return s;
  }
};

/// Whether the next step's matrix is loaded, and waits for what this step takes away.
FL_LANE_HD inline bool leads_on(int problem, const SweepArgs& a) {
  return (a.step + 1) % kSweepGroup != 0 && SweepStep::of(problem, a.step + 1, a).to >= 0;
}

/// Of the steps of a group: precision of the fibre that is eliminated, and its coupling by columns.
/// What the first step takes away is there already; SweepTermKernel does it for the others. A
/// thread takes all steps: their fibres are neighbours, of which memory gives four numbers at once.
/// Threads: rows by bin x problems.
struct SweepLoadKernel {
  using Args = SweepArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int problem = static_cast<int>(thread % a.problems());
    const long row = thread / a.problems();
    if (row >= a.shape.rows()) return;
    const SweepStep s = SweepStep::of(problem, a.step, a);
    if (s.to < 0) return;
    const double *own[kSweepGroup], *cross[kSweepGroup];
    double *matrix[kSweepGroup], *columns[kSweepGroup];
    const int cb = a.shape.cross_band, width = 2 * cb + 1;
    bool there[kSweepGroup];
    int along = 0;  // C[row + g, row] = N[(from, row + g), (to, row)]
    FL_UNROLL_ALL
    for (int k = 0; k < kSweepGroup; ++k) {
      const SweepStep later = SweepStep::of(problem, a.step + k, a);
      there[k] = later.to >= 0;
      const int f = a.places.fiber[there[k] ? later.from : s.from];
      const int to = a.places.fiber[there[k] ? later.to : s.to];
      own[k] = a.n.own.at(f, row);
      cross[k] = a.n.cross[0].at(f < to ? f : to, row, cb);
      along = (f < to ? width - 1 : 1) * kWarp;
      const long slot = a.slot(a.step + k, problem);
      matrix[k] = a.matrix.at(slot, row);
      columns[k] = a.columns.at(slot, row);
    }
    const double* terms = s.terms.at(s.from, row);
    FL_NO_UNROLL
    for (int d = 0; d <= a.band; ++d) {
      double value[kSweepGroup];
      FL_UNROLL_ALL
      for (int k = 0; k < kSweepGroup; ++k) {
        value[k] = d <= a.shape.band && there[k] ? own[k][d * kWarp] : 0.0;
      }
      value[0] -= terms[d * kWarp];
      FL_UNROLL_ALL
      for (int k = 0; k < kSweepGroup; ++k) {
        if (there[k]) matrix[k][d * kWarp] = value[k];
      }
    }
    FL_NO_UNROLL
    for (int g = -a.half; g <= a.half; ++g) {
      const bool met = g >= -cb && g <= cb && row + g >= 0 && row + g < a.shape.rows();
      double value[kSweepGroup];
      FL_UNROLL_ALL
      for (int k = 0; k < kSweepGroup; ++k) {
        value[k] = met && there[k] ? cross[k][static_cast<long>(g) * along] : 0.0;
      }
      FL_UNROLL_ALL
      for (int k = 0; k < kSweepGroup; ++k) {
        if (there[k]) columns[k][(a.half + g) * kWarp] = value[k];
      }
    }
  }
};

/// Factor of each window, of which the core's rows are kept: by bin, since the skirt before makes
/// windows agree. Threads: windows x problems.
template <int B>
struct SweepFactorKernel {
  using Args = SweepArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int problem = static_cast<int>(thread % a.problems());
    const int window = static_cast<int>(thread / a.problems());
    if (window >= a.cut.count || SweepStep::of(problem, a.step, a).to < 0) return;
    const long row = a.shape.margin + a.cut.first(window);
    const double* matrix = a.matrix.at(a.slot(a.step, problem), row);
    double *l = a.l.at(problem, row), *inv_d = a.inv_d.at(problem, row);
    lane::factor_registers<WarpLane, B>(a.cut.rows, matrix, WarpLane(0.0), l, inv_d, a.cut.skirt);
  }
};

/// A column m of E = C^T M^-1 C, the Schur term of the next fibre: y = M^-1 c_m from the rows of
/// c_m to `tail` rows behind them, then c_(m + d) . y. All columns at once: what a solve leaves out
/// behind its last row falls twice, on its way there and back. Blocks: groups of bins x groups of
/// problems: threads of a block read the same rows of l, of which memory gives lines of 16 numbers.
template <int B>
struct SweepTermKernel {
  using Args = SweepArgs;
  /// With 168 registers three blocks are on a multiprocessor: their memory leaves a cache that
  /// holds the rows that they work on.
  static constexpr int kThreads = 128;
  static std::size_t column_bytes(const Args& a) {
    return static_cast<std::size_t>(a.column_rows()) * kThreads * sizeof(double);
  }
  static std::size_t shared_bytes(const Args& a) { return a.near != 0 ? column_bytes(a) : 0; }
  /// Problems that a block treats side by side.
  FL_LANE_HD static int abreast(const Args& a) {
    int n = 1;
    while (n < 16 && n < a.problems()) n *= 2;
    return n;
  }
  FL_LANE_HD static int groups(const Args& a) {
    return (a.problems() + abreast(a) - 1) / abreast(a);
  }
  FL_LANE_HD static long blocks(const Args& a) {
    const int bins = kThreads / abreast(a);
    return static_cast<long>((a.shape.nbin + bins - 1) / bins) * groups(a);
  }
  FL_LANE_HD static int phases(const Args&) { return 1; }
  FL_LANE_HD static void run(int, long block, int thread, const Args& a, double* shared) {
    const int wide = abreast(a), in_order = static_cast<int>(block);
    const int problem = in_order % groups(a) * wide + thread % wide;
    const int bin = in_order / groups(a) * (kThreads / wide) + thread / wide;
    if (bin >= a.shape.nbin || problem >= a.problems()) return;
    if (a.near != 0) {
      const int warp = thread / kWarp * a.column_rows();
      column(problem, bin, a, shared + warp * kWarp + thread % kWarp);
    } else {
      column(problem, bin, a, a.work.at(static_cast<long>(bin) * a.problems() + problem, 0));
    }
  }

 private:
  FL_LANE_HD static void column(int problem, int bin, const Args& a, double* y) {
    const long row = bin + a.shape.margin;
    const SweepStep s = SweepStep::of(problem, a.step, a);
    if (s.to < 0) return;
    const int width = 2 * a.half + 1;
    const double* c = a.columns.at(a.slot(a.step, problem), row);
    lane::solve_somewhere<WarpLane, B>(
        a.column_rows(), a.l.at(problem, row - a.half), a.inv_d.at(problem, row - a.half),
        [=](int i) { return WarpLane(i < width ? c[i * kWarp] : 0.0); }, y,
        [=](int i, WarpLane x) { y[i * kWarp] = x.v; });
    double e[B + 1];  // c_(m + d) . y, from the middle of c outwards
    c += a.half * kWarp;
    y += a.half * kWarp;
    const int down = width * kWarp;
    FL_UNROLL_ALL
    for (int d = 0; d <= B; ++d) e[d] = c[d * down] * y[d * kWarp];
    FL_NO_UNROLL
    for (int g = kWarp; g <= a.half * kWarp; g += kWarp) {
      FL_UNROLL_ALL
      for (int d = 0; d <= B; ++d) {
        e[d] += c[d * down - g] * y[d * kWarp - g];
        e[d] += c[d * down + g] * y[d * kWarp + g];
      }
    }
    if (leads_on(problem, a)) {
      double* next = a.matrix.at(a.slot(a.step + 1, problem), row);
      double m[B + 1];
      FL_UNROLL_ALL
      for (int d = 0; d <= B; ++d) m[d] = next[d * kWarp];
      FL_UNROLL_ALL
      for (int d = 0; d <= B; ++d) next[d * kWarp] = m[d] - e[d];
    }
    double* terms = s.terms.at(s.to, row);
    FL_UNROLL_ALL
    for (int d = 0; d <= B; ++d) terms[d * kWarp] = e[d];
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
