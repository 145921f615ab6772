// SPDX-License-Identifier: BSD-3-Clause
// Square roots: bounds on the spectrum, what the band cuts off (rules: recipe_lane.hpp; poles:
// pole_lane.hpp; wide bands: wide_kernels_lane.hpp). A batch is a list of fibres whose roots are
// taken with one band; the windows are those of the CPU engine, so that both decide alike.
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "loom/linalg/pole_registers_lane.hpp"

namespace fiberloom::exact::gpu {

/// Of one fibre of a batch.
struct RootState {
  double high, low, signal, shift;
  int trying;  ///< a lower bound is being looked for
  int factors;
};

/// Candidates for the kept band, as kBands.
inline constexpr int kMostKept = 8;

struct RootArgs {
  Shape shape;
  int count;         ///< fibres of the batch ("positions")
  const int* place;  ///< [count] where wide_s, x and ones have it
  Cut cut;
  int band;      ///< of s
  Packs s;       ///< by position and bin, width band + 1
  Packs wide_s;  ///< what s is cut from
  int wide_band;
  Packs x, ones;  ///< by place and bin; 1 inside the grid, 0 outside
  // lanes (position pack, window, position), rows of a window
  Packs l, inv_d, solution, weight;
  double *pivot, *norm;  ///< [lanes]
  RootState* state;      ///< [count]
  double* partial;       ///< [2][chunks][padded count]
  int chunks, chunk_rows;
  int kept[kMostKept], nkept;
  double decay;
  double* truncation;       ///< [nkept][lanes]
  double* truncation_part;  ///< [nkept][parts][lanes]
  [[nodiscard]] FL_LANE_HD const double* x_at(int position, long row) const {
    return x.at(place[position], row);
  }
  [[nodiscard]] FL_LANE_HD const double* ones_at(int position, long row) const {
    return ones.at(place[position], row);
  }
};

/// S cut to the batch's band. Threads: rows by bin x padded count.
struct RootNarrowKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.count), row = thread / pitch, i = thread % pitch;
    if (row >= a.shape.rows() || i >= a.count) return;
    for (int d = 0; d <= a.band; ++d) *a.s.at(i, row, d) = *a.wide_s.at(a.place[i], row, d);
  }
};

/// Gershgorin's row sums and the signal, over a chunk of the rows that windows cover. Threads:
/// chunks x padded count.
struct RootRowsKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.count), chunk = thread / pitch, i = thread % pitch;
    if (chunk >= a.chunks || i >= a.count) return;
    const long begin = a.shape.margin + a.cut.first(0);
    const long end = a.shape.margin + a.cut.first(a.cut.count - 1) + a.cut.rows;
    const long first = begin + chunk * a.chunk_rows;
    const long last = first + a.chunk_rows < end ? first + a.chunk_rows : end;
    double high = 0, signal = 0;
    for (long row = first; row < last; ++row) {
      double sum = 0;
      for (int d = 0; d <= a.band; ++d) sum += absolute(*a.s.at(i, row, d));
      for (int d = 1; d <= a.band && row - d >= begin; ++d) sum += absolute(*a.s.at(i, row - d, d));
      high = largest(high, sum);
      if (row >= a.shape.margin && row < a.shape.margin + a.shape.nbin) {
        const double x = *a.x_at(static_cast<int>(i), row);
        signal = largest(signal, *a.s.at(i, row) * x * x);
      }
    }
    a.partial[chunk * pitch + i] = high;
    a.partial[(a.chunks + chunk) * pitch + i] = signal;
  }
};
/// Threads: padded count.
struct RootHighKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long i, const Args& a) {
    if (i >= a.count) return;
    const long pitch = padded(a.count);
    double high = 0, signal = 0;
    FL_UNROLL
    for (long chunk = 0; chunk < a.chunks; ++chunk) {
      high = largest(high, a.partial[chunk * pitch + i]);
      signal = largest(signal, a.partial[(a.chunks + chunk) * pitch + i]);
    }
    a.state[i] = {high, 0.0, ::sqrt(signal), 0.0, 1, 0};
  }
};

struct RootLane {
  int position, window;
  FL_LANE_HD static RootLane of(long lane, const Cut& cut) {
    const long rest = lane / kWarp;
    return {static_cast<int>(rest / cut.count * kWarp + lane % kWarp),
            static_cast<int>(rest % cut.count)};
  }
};

/// S + shift I = L D L^T of fibres that are trying; a trial keeps nothing of it. Threads: lanes.
template <int B, bool kStored>
struct RootFactorKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long lane, const Args& a) {
    const RootLane p = RootLane::of(lane, a.cut);
    if (p.position >= a.count || !a.state[p.position].trying) return;
    const long row = a.shape.margin + a.cut.first(p.window);
    a.pivot[lane] = lane::factor_registers<WarpLane, B, kStored>(
                        a.cut.rows, a.s.at(p.position, row), WarpLane(a.state[p.position].shift),
                        a.l.at(lane, 0), a.inv_d.at(lane, 0))
                        .v;
  }
};

/// S^-1 a for a of alternating signs, and its largest entry inside the grid. Threads: lanes.
template <int B>
struct RootAlternateKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long lane, const Args& a) {
    const RootLane p = RootLane::of(lane, a.cut);
    if (p.position >= a.count || !a.state[p.position].trying) return;
    double* v = a.solution.at(lane, 0);
    const int first = a.cut.first(p.window), nbin = a.shape.nbin;
    double norm = 0;
    lane::solve_registers<WarpLane, B>(
        a.cut.rows, a.l.at(lane, 0), a.inv_d.at(lane, 0),
        [=](int row) { return WarpLane(((first + row) & 1) != 0 ? -1.0 : 1.0); }, v,
        [&](int row, WarpLane x) {
          v[row * kWarp] = x.v;
          if (first + row >= 0 && first + row < nbin) norm = largest(norm, absolute(x.v));
        });
    a.norm[lane] = norm;
  }
};

FL_LANE_HD inline long root_lane(int position, int window, const Cut& cut) {
  return (static_cast<long>(position / kWarp) * cut.count + window) * kWarp + position % kWarp;
}

/// After the first factor and solve: the first guess. Threads: padded count.
struct RootGuessKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long i, const Args& a) {
    if (i >= a.count || !a.state[i].trying) return;
    double pivot = 1e300, norm = 0;
    for (int w = 0; w < a.cut.count; ++w) {
      const long lane = root_lane(static_cast<int>(i), w, a.cut);
      pivot = a.pivot[lane] < pivot ? a.pivot[lane] : pivot;
      norm = largest(norm, a.norm[lane]);
    }
    RootState& s = a.state[i];
    s.low = first_bound(norm, s.high);
    s.shift = -s.low;
    s.factors = 0;
    s.trying = pivot > 0 && worth_proving(s.low, s.high, 0);
    if (!s.trying) s.low = 0.0;
  }
};

/// After a trial: proven, or less of it next. Threads: padded count.
struct RootProveKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long i, const Args& a) {
    if (i >= a.count || !a.state[i].trying) return;
    RootState& s = a.state[i];
    double pivot = 1e300;
    for (int w = 0; w < a.cut.count; ++w) {
      const double p = a.pivot[root_lane(static_cast<int>(i), w, a.cut)];
      pivot = p < pivot ? p : pivot;
    }
    if (pivot > 0) {
      s.trying = 0;
      return;
    }
    s.low = next_bound(s.low);
    s.shift = -s.low;
    s.trying = worth_proving(s.low, s.high, ++s.factors);
    if (!s.trying) s.low = 0.0;
  }
};

/// What a unit of |dS| does to a bin, in sigma. Threads: rows of a window x lanes.
struct RootWeightKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lanes = padded(a.count) * a.cut.count, lane = thread % lanes;
    const int row = static_cast<int>(thread / lanes);
    const RootLane p = RootLane::of(lane, a.cut);
    if (row >= a.cut.rows || p.position >= a.count) return;
    const long at = a.shape.margin + a.cut.first(p.window) + row;
    *a.weight.at(lane, row) =
        row_weight(*a.s.at(p.position, at), *a.x_at(p.position, at), *a.solution.at(lane, row));
  }
};

/// Truncation error for each band that might be kept, over a few rows. Threads: nkept x parts of a
/// window x lanes.
struct RootTruncationKernel {
  using Args = RootArgs;
  static constexpr int kRows = 16;
  FL_LANE_HD static int parts(const Cut& cut) { return (cut.rows + kRows - 1) / kRows; }
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lanes = padded(a.count) * a.cut.count, lane = thread % lanes;
    const int part = static_cast<int>(thread / lanes) % parts(a.cut);
    const int which = static_cast<int>(thread / lanes) / parts(a.cut);
    const RootLane p = RootLane::of(lane, a.cut);
    if (which >= a.nkept || p.position >= a.count) return;
    const int kept = a.kept[which];
    const double tail = tail_of(a.decay);
    const long first = a.shape.margin + a.cut.first(p.window);
    const int end = (part + 1) * kRows < a.cut.rows ? (part + 1) * kRows : a.cut.rows;
    double worst = 0;
    for (int row = part * kRows; row < end; ++row) {
      double sum = 0;
      const double here = *a.weight.at(lane, row);
      for (int d = first_cut_off(kept, a.band); d <= a.band && row + d < a.cut.rows; ++d) {
        sum += entry_error(cut_off_share(d, kept, a.band, tail),
                           *a.s.at(p.position, first + row, d), here, *a.weight.at(lane, row + d));
      }
      worst = largest(worst, sum);
    }
    a.truncation_part[thread] = worst;
  }
};
/// The worst part of each window: all windows of a position by one thread would take seven times as
/// long. Threads: nkept x lanes.
struct RootWorstKernel {
  using Args = RootArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long lanes = padded(a.count) * a.cut.count, lane = thread % lanes, which = thread / lanes;
    if (which >= a.nkept || RootLane::of(lane, a.cut).position >= a.count) return;
    const int parts = RootTruncationKernel::parts(a.cut);
    double worst = 0;
    FL_UNROLL
    for (int part = 0; part < parts; ++part) {
      worst = largest(worst, a.truncation_part[(which * parts + part) * lanes + lane]);
    }
    a.truncation[thread] = worst;
  }
};

/// Where the results of a frame go: [nspec][nwave], resolution [nspec][ndiag][nwave].
struct ResultView {
  double *flux, *ivar, *xflux, *chi2pix, *lost;
  float* resolution;
  int spec_min, nspec, nwave, guard;
  const double* width;   ///< [nwave] Angstrom
  const int* psf_fiber;  ///< [nfiber] of the frame
};

}  // namespace fiberloom::exact::gpu
