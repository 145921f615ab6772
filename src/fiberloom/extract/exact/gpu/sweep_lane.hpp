// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps over the fibres of a bundle (marginal.cpp has the formulas): one step of both
// sweeps of all bundles and windows is one launch. What a step leaves to the next fibre is kept by
// bin, so that windows meet again after every step. Problems of a step are (sweep, bundle); lanes
// are the problems of a window, then those of the next.
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

struct SweepArgs {
  Shape shape;
  NormalView n;
  PlaceView places;
  Cut cut;
  int band, half;           ///< of S; half-width of a coupling's columns
  int step;                 ///< from fibre `step` of a sweep to the next
  int ring;                 ///< of SweepInvertKernel: in the block's own memory
  Packs left, right;        ///< by place and bin, width band + 1: Schur terms
  Packs matrix, columns;    ///< by problem and bin
  Packs l, inv_d, inverse;  ///< by lane and row of a window
  [[nodiscard]] FL_LANE_HD int problems() const { return 2 * places.nbundle; }
  [[nodiscard]] FL_LANE_HD long lanes() const {
    return padded(static_cast<long>(problems()) * cut.count);
  }
};

/// From which place to which a problem goes; those without anything to do have to < 0.
struct SweepStep {
  int from, to;
  Packs terms;
  FL_LANE_HD static SweepStep of(long problem, const SweepArgs& a) {
    SweepStep s{-1, -1, a.left};
    if (problem >= a.problems()) return s;
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
/// Problem and window of a lane; the last lanes may have a window that is none.
struct SweepLane {
  int problem, window;
  FL_LANE_HD static SweepLane of(long lane, const SweepArgs& a) {
    return {static_cast<int>(lane % a.problems()), static_cast<int>(lane / a.problems())};
  }
};

/// Precision of the fibre that is eliminated, and its coupling by columns. Threads: rows by bin x
/// padded problems.
struct SweepLoadKernel {
  using Args = SweepArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.problems()), row = thread / pitch, problem = thread % pitch;
    if (row >= a.shape.rows()) return;
    const SweepStep s = SweepStep::of(problem, a);
    if (s.to < 0) return;
    const int f = a.places.fiber[s.from], to = a.places.fiber[s.to];
    for (int d = 0; d <= a.band; ++d) {
      const double own = d <= a.shape.band ? *a.n.own.at(f, row, d) : 0.0;
      *a.matrix.at(problem, row, d) = own - *s.terms.at(s.from, row, d);
    }
    const int cb = a.shape.cross_band;
    for (int g = -a.half; g <= a.half; ++g) {  // C[row + g, row] = N[(from, row + g), (to, row)]
      double value = 0.0;
      if (g >= -cb && g <= cb && row + g >= 0 && row + g < a.shape.rows()) {
        value = f < to ? *a.n.cross[0].at(f, row + g, cb - g) : *a.n.cross[0].at(to, row, cb + g);
      }
      *a.columns.at(problem, row, a.half + g) = value;
    }
  }
};

/// Memory that the lanes of a block need for the rows of the inverse that are still wanted.
inline std::size_t ring_bytes(int band, int half) {
  return static_cast<std::size_t>(lane::inverse_ring(band, band + 2 * half)) * kWarp *
         sizeof(double);
}

/// Factor and selected inverse of width band + 2 half. Blocks: lanes / 32.
template <int B>
struct SweepInvertKernel {
  using Args = SweepArgs;
  static constexpr int kThreads = kWarp;
  static std::size_t shared_bytes(const Args& a) { return a.ring != 0 ? ring_bytes(B, a.half) : 0; }
  FL_LANE_HD static int phases(const Args&) { return 1; }
  FL_LANE_HD static void run(int, long block, int thread, const Args& a, double* shared) {
    const long lane = block * kWarp + thread;
    const SweepLane p = SweepLane::of(lane, a);
    if (p.window >= a.cut.count || SweepStep::of(p.problem, a).to < 0) return;
    const double* matrix = a.matrix.at(p.problem, a.shape.margin + a.cut.first(p.window));
    double *l = a.l.at(lane, 0), *inv_d = a.inv_d.at(lane, 0), *inverse = a.inverse.at(lane, 0);
    if constexpr (B <= lane::kMostInRegisters) {
      if (a.ring != 0) {
        const int first = a.cut.skirt > a.half ? a.cut.skirt - a.half : 0;  // that columns meet
        lane::factor_registers<WarpLane, B>(a.cut.rows, matrix, WarpLane(0.0), l, inv_d, first);
        lane::selected_inverse_ring<WarpLane, B>(a.cut.rows, l, inv_d, B + 2 * a.half,
                                                 shared + thread, inverse, first);
        return;
      }
    }
    lane::factor_somewhere<WarpLane, B>(a.cut.rows, matrix, WarpLane(0.0), l, inv_d);
    lane::selected_inverse<WarpLane, B>(a.cut.rows, l, inv_d, B + 2 * a.half, inverse);
  }
};

/// One column of E = C^T Z C: the Schur term of the next fibre. Threads: lanes x (stride + band); a
/// block has the columns beside each other of the same lanes, which share most of what they read.
template <int H>
struct SweepCongruenceKernel {
  using Args = SweepArgs;
  static constexpr int kMostBand = 32;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pack = thread / kWarp / (a.cut.stride + a.band);
    const long lane = pack * kWarp + thread % kWarp;
    const int m = static_cast<int>(thread / kWarp % (a.cut.stride + a.band)) + a.cut.skirt;
    const SweepLane p = SweepLane::of(lane, a);
    if (p.window >= a.cut.count || m >= a.cut.rows) return;
    const SweepStep s = SweepStep::of(p.problem, a);
    if (s.to < 0) return;
    const int first_bin = a.cut.first(p.window);
    const double* columns = a.columns.at(p.problem, a.shape.margin + first_bin);
    const long column = static_cast<long>(a.columns.width) * kWarp;
    const int low = m - a.band > a.cut.skirt ? m - a.band : a.cut.skirt;
    const int core_end = a.cut.skirt + a.cut.stride;
    const int high = m < core_end - 1 ? m : core_end - 1;
    if (low > high) return;
    const int width = a.band + 2 * H;
    double c[2 * H + 1], t[kMostBand + 2 * H + 1];
    FL_UNROLL_ALL
    for (int g = 0; g <= 2 * H; ++g) c[g] = columns[m * column + g * kWarp];
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
      const double* ck = columns + k * column;
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
