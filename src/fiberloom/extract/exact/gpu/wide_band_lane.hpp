// SPDX-License-Identifier: BSD-3-Clause
// Bands that a thread's registers do not hold: a block of threads shares one banded problem, with
// the rows that are worked on in the block's own memory. A row is a phase, so that the next
// one finds it whole. Rows come and go in chunks, of which all numbers are asked for at once: a
// block waits once a chunk for memory.
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "loom/linalg/pole_registers_lane.hpp"

namespace fiberloom::exact::gpu {

/// A thread that has band 16 spills it: 1.07 ms for a factor of 192 rows on an H200, where a block
/// takes 0.13 at band 24.
FL_LANE_HD constexpr bool is_wide(int band) { return band > 12; }

/// Numbers of a row on its way through a wide factor: the band, then right sides.
FL_LANE_HD constexpr int wide_row(int band) { return band + 4; }

/// The factor M + shift I = L D L^T with forward solves of `Sides` right sides: each row, once it
/// is whole, is taken away from the B rows behind it; two at once, which is one wait less. Chunks
/// of rows have a phase to load them and one for each pair. Rows past the end are neither read nor
/// written. Where there are few problems several warps share one: each waits for its own
/// instructions.
template <int B, int Sides, int Warps>
struct WideFactor {
  static_assert(B % (8 * Warps) == 0 && Sides <= 2);
  static constexpr int kThreads = 32 * Warps, kChunk = 8, kPhases = kChunk / 2 + 1,
                       kRow = wide_row(B), kSlots = B + kChunk;
  /// Doubles of the block's memory; the last tells whether all pivots are above 0.
  static constexpr int kShared = kSlots * kRow + 1;
  FL_LANE_HD static int phases(int n) { return (n + kChunk - 1) / kChunk * kPhases; }
  FL_LANE_HD static double* row(double* shared, int j) { return shared + j % kSlots * kRow; }
  /// 1 if all pivots are above 0, else -1: no NaN is.
  FL_LANE_HD static double definite(const double* shared) { return shared[kSlots * kRow]; }

  /// One phase. matrix(row, d) and side(row, i) give what is loaded, entry(j, k, f) takes L[j + k,
  /// j], whole(j, inverse, sides) 1 / D and the right sides of row j.
  template <class Matrix, class Side, class Entry, class Whole>
  FL_LANE_HD static void run(int phase, int n, int thread, double* shared, double shift,
                             Matrix matrix, Side side, Entry entry, Whole whole) {
    const int begin = phase / kPhases * kChunk, step = phase % kPhases;
    if (step > 0) return eliminate(begin + 2 * (step - 1), n, thread, shared, entry, whole);
    if (phase == 0 && thread == 0) shared[kSlots * kRow] = 1.0;
    const int end = begin + B + kChunk < n ? begin + B + kChunk : n;
    for (int first = begin == 0 ? 0 : begin + B; first < end; first += kChunk) {
      load(first, end, thread, shared, shift, matrix, side);
    }
  }

 private:
  /// Past the last that is wanted, the last again: no branch, so that all are asked for at once.
  template <class Matrix, class Side>
  FL_LANE_HD static void load(int first, int end, int thread, double* shared, double shift,
                              Matrix matrix, Side side) {
    constexpr int kCount = kChunk * (B + 1), kEach = (kCount + kThreads - 1) / kThreads;
    const int count = (end - first < kChunk ? end - first : kChunk) * (B + 1);
    double value[kEach], of_side = 0.0;
    FL_UNROLL_ALL
    for (int i = 0; i < kEach; ++i) {
      const int i_at = thread + i * kThreads, at = i_at < count ? i_at : count - 1;
      value[i] = matrix(first + at / (B + 1), at % (B + 1));
    }
    const int side_row = thread % kChunk + first, which = thread / kChunk;
    const bool has_side = which < Sides && side_row < end;
    if (has_side) of_side = side(side_row, which);
    FL_UNROLL_ALL
    for (int i = 0; i < kEach; ++i) {
      const int at = thread + i * kThreads, e = at % (B + 1);
      if (at < count) row(shared, first + at / (B + 1))[e] = e == 0 ? value[i] + shift : value[i];
    }
    if (has_side) row(shared, side_row)[B + 1 + which] = of_side;
  }

  /// Rows j, u, and j + 1, of which u is taken away first: w. Of row j + k four threads take every
  /// fourth entry, read before any is written: a compiler cannot know that they are not the same.
  template <class Entry, class Whole>
  FL_LANE_HD static void eliminate(int j, int n, int thread, double* shared, Entry entry,
                                   Whole whole) {
    if (j >= n) return;
    const bool both = j + 1 < n;
    const double *u = row(shared, j), *w = row(shared, j + 1);
    const double inverse = 1.0 / u[0], first = u[1] * inverse;
    const double pivot = both ? w[0] - first * u[1] : 1.0, second = 1.0 / pivot;
    const int part = thread % 4;
    FL_UNROLL_ALL
    for (int i = 0; i < B / 8 / Warps; ++i) {
      const int k = 2 + thread / 4 + 8 * Warps * i;
      const double of_u = k <= B ? u[k] : 0.0, f = of_u * inverse;
      const double g = both ? (w[k - 1] - first * of_u) * second : 0.0;
      if (part == 3 && k <= B) entry(j, k, f);
      if (part == 3 && both) entry(j + 1, k - 1, g);
      if (j + k >= n) continue;
      double* to = row(shared, j + k);
      double from[B / 4], next[B / 4], before[B / 4];
      FL_UNROLL_ALL
      for (int m = 0; m < B / 4 - 2 * Warps * i; ++m) {
        const int e = part + 4 * m;
        from[m] = e <= B - k ? u[k + e] : 0.0;
        next[m] = e <= B + 1 - k ? w[k - 1 + e] : 0.0;
        before[m] = e <= B + 1 - k ? to[e] : 0.0;
      }
      FL_UNROLL_ALL
      for (int m = 0; m < B / 4 - 2 * Warps * i; ++m) {
        const int e = part + 4 * m;
        if (e <= B + 1 - k) to[e] = before[m] - f * from[m] - g * (next[m] - first * from[m]);
      }
      if (Sides > 0 && part < Sides) {
        const double of_first = u[B + 1 + part];
        to[B + 1 + part] -= f * of_first;
        to[B + 1 + part] -= g * (w[B + 1 + part] - first * of_first);
      }
    }
    if (thread > 0) return;
    double sides[2] = {u[B + 1], u[B + 2]};
    whole(j, inverse, sides);
    entry(j, 1, first);
    if (both) {
      for (int i = 0; i < Sides; ++i) sides[i] = w[B + 1 + i] - first * sides[i];
      whole(j + 1, second, sides);
    }
    if (!(u[0] > 0 && pivot > 0)) shared[kSlots * kRow] = -1.0;
  }
};

/// The way back from a WideFactor with right sides, whose rows were kept as [n][wide_row(B)]: L[j +
/// k, j] at k - 1, 1 / D at B, right sides behind it. Finds the solutions and, if `Inverse`, the
/// entries (j, j + e) of the inverse by Takahashi's recurrence. Two phases a row.
template <int B, int Sides, bool Inverse>
struct WideBack {
  static constexpr int kThreads = 32, kChunk = 8, kRow = wide_row(B), kSlots = B + 1,
                       kWidth = kSlots + 2, kStep = 2;
  // chunk of rows, entries by slot and slot with solutions behind them, products of a row, sides
  static constexpr int kFound = kChunk * kRow, kProduct = kFound + kSlots * kWidth,
                       kSide = kProduct + B * Sides, kShared = kSide + kChunk * Sides;
  FL_LANE_HD static int phases(int n) { return (n + kChunk - 1) / kChunk * (kStep * kChunk + 1); }

  /// One phase. done(j, value), of every thread: value(e) is entry (j, j + e), e > 0, of the
  /// inverse; diagonal(j, d) gets entry (j, j); solved(j, i, x, given) the solution of side i and
  /// what given(j, i) was.
  template <class Given, class Done, class Diagonal, class Solved>
  FL_LANE_HD static void run(int phase, int n, int thread, double* shared, const double* rows,
                             Given given, Done done, Diagonal diagonal, Solved solved) {
    constexpr int kPhases = kStep * kChunk + 1;
    const int last = n - 1 - phase / kPhases * kChunk, step = phase % kPhases - 1;
    if (step < 0) return load(phase, last, thread, shared, rows, given);
    const int j = last - step / kStep;
    if (j < 0) return;
    const double* f = shared + (last - j) * kRow;
    double *found = shared + kFound, *product = shared + kProduct;
    const int here = j % kSlots;
    if (!Inverse) {
      const auto tell = [&](int i, double x) {
        solved(j, i, x, shared[kSide + (last - j) * Sides + i]);
      };
      return solve(step % kStep, thread, here, f, found, product, tell);
    }
    if (step % kStep == 0) {
      for (int i = thread; i < B + Sides; i += kThreads) {
        const int e = i + 1, column = e <= B ? slot(here, e) : kSlots + e - B - 1;
        const double sum = dot(f, here, found + column);
        if (e <= B) {
          found[here * kWidth + column] = found[column * kWidth + here] = -sum;
          product[e - 1] = f[e - 1] * sum;
        } else {
          const double x = f[e] * f[B] - sum;
          found[here * kWidth + column] = x;
          solved(j, e - B - 1, x, shared[kSide + (last - j) * Sides + e - B - 1]);
        }
      }
      return;
    }
    done(j, [=](int e) { return found[here * kWidth + slot(here, e)]; });
    if (thread > 0) return;
    double part[4] = {f[B], 0.0, 0.0, 0.0};
    FL_UNROLL_ALL
    for (int e = 0; e < B; ++e) part[e % 4] += product[e];
    const double own = (part[0] + part[1]) + (part[2] + part[3]);
    found[here * kWidth + here] = own;
    diagonal(j, own);
  }

 private:
  /// A row without the inverse: products, one a thread, then their sum.
  template <class Tell>
  FL_LANE_HD static void solve(int part, int thread, int here, const double* f, double* found,
                               double* product, Tell tell) {
    if (part == 0) {
      for (int i = thread; i < B * Sides; i += kThreads) {
        const int k = i % B + 1, column = kSlots + i / B;
        product[i] = f[k - 1] * found[slot(here, k) * kWidth + column];
      }
    } else if (thread < Sides) {
      double sum[4] = {0.0, 0.0, 0.0, 0.0};
      FL_UNROLL_ALL
      for (int k = 0; k < B; ++k) sum[k % 4] += product[thread * B + k];
      const double x = f[B + 1 + thread] * f[B] - ((sum[0] + sum[1]) + (sum[2] + sum[3]));
      found[here * kWidth + kSlots + thread] = x;
      tell(thread, x);
    }
  }
  FL_LANE_HD static int slot(int here, int e) {
    return here + e < kSlots ? here + e : here + e - kSlots;
  }
  /// What the rows behind say in this column.
  FL_LANE_HD static double dot(const double* f, int here, const double* column) {
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    FL_UNROLL_ALL
    for (int k = 1; k <= B; ++k) part[k % 4] += f[k - 1] * column[slot(here, k) * kWidth];
    return (part[0] + part[1]) + (part[2] + part[3]);
  }
  template <class Given>
  FL_LANE_HD static void load(int phase, int last, int thread, double* shared, const double* rows,
                              Given given) {
    if (phase == 0) {  // rows past the end
      for (int i = thread; i < kSlots * kWidth; i += kThreads) shared[kFound + i] = 0.0;
    }
    constexpr int kEach = (kChunk * kRow + kThreads - 1) / kThreads;
    double value[kEach];
    FL_UNROLL_ALL
    for (int i = 0; i < kEach; ++i) {  // what is not there is read from its neighbour, as above
      const int at = thread + i * kThreads, e = at % kRow < B + Sides ? at % kRow : B + Sides;
      const int j = last - at / kRow > 0 ? last - at / kRow : 0;
      value[i] = rows[static_cast<long>(j) * kRow + e];
    }
    const int side_row = last - thread / Sides;
    const bool has_side = thread < kChunk * Sides && side_row >= 0;
    const double of_side = has_side ? given(side_row, thread % Sides) : 0.0;
    FL_UNROLL_ALL
    for (int i = 0; i < kEach; ++i) {
      const int at = thread + i * kThreads;
      if (at < kChunk * kRow) shared[at] = value[i];
    }
    if (has_side) shared[kSide + thread] = of_side;
  }
};

}  // namespace fiberloom::exact::gpu
