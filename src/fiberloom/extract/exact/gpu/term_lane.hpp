// SPDX-License-Identifier: BSD-3-Clause
// The Schur terms of a step of the sweeps: E = C^T M^-1 C = V^T D^-1 V of V = L^-1 C, in squares of
// 8 x 8 that warps multiply.
#pragma once

#include "fiberloom/extract/exact/gpu/sweep_lane.hpp"
#include "fiberloom/extract/exact/gpu/wide_band_lane.hpp"
#include "loom/linalg/square_lane.hpp"

namespace fiberloom::exact::gpu {

/// With P = (L_ii)^-1 of a square of L on its diagonal and G_k = P L_i,i-k of those before it,
/// V_i = P C_i - G_1 V_i-1 - G_2 V_i-2 ...: P and G once for all columns, then a phase a square of
/// rows, each warp with eight columns of V: from where C begins to `tail` rows behind its end,
/// where they have fallen. E of its columns grows in its registers, a phase later. A block has some
/// neighbouring problems, whose numbers lie side by side, and some eights of bins; the columns
/// behind these, which they meet, are computed beside them. Blocks: eights x problems in groups.
template <int B>
struct SweepTermKernel {
  using Args = SweepArgs;
  static constexpr int kBehind = lane::squares_of(B);  ///< of a row, behind the diagonal
  static constexpr int kEights = is_wide(B) ? 1 : 4, kColumns = kEights + kBehind,
                       kMostAbreast = is_wide(B) ? 1 : 4;
  static constexpr int kThreads = kWarp * kColumns;
  /// On a multiprocessor: its memory has room for no more.
  static constexpr int kBlocks = B < 64 ? 2 : 1;
  struct Terms {
    lane::SquarePart e[kBehind + 1];
  };
  struct State {
    Terms of[kMostAbreast];
    int first_bin, first_problem, problems;  ///< of the block
  };

  /// Memory of a block: of each problem squares of rows, then columns.
  struct Layout {
    int half;   ///< squares that C reaches over before its bins, and behind them
    int steps;  ///< squares of rows of a column of V
    int slots;  ///< squares of a column: C, which V replaces; as old as it is asked for
    int abreast;
    FL_LANE_HD explicit Layout(const Args& a)
        : half(lane::squares_of(a.half)),
          steps(2 * half + 1 + lane::squares_of(a.tail > a.band ? a.tail : a.band)),
          slots(power_of_2(2 + (2 * half > kBehind ? 2 * half : kBehind))),
          abreast(a.abreast) {}
    FL_LANE_HD static int power_of_2(int least) { return least <= 4 ? 4 : least <= 8 ? 8 : 16; }
    static constexpr int kRow = (kBehind + 2) * lane::kSquare + lane::kSide;
    /// Of all columns that end in the block; what others have behind is nobody's.
    [[nodiscard]] FL_LANE_HD int rows() const { return kEights - 1 + steps; }
    [[nodiscard]] FL_LANE_HD int doubles() const {
      return rows() * kRow + kColumns * slots * lane::kSquare;
    }
    // of a problem's part of the memory, row i: L_ii; P, then L_i,i-k, which G_k replaces; 1 / D
    FL_LANE_HD static int diagonal(int i) { return i * kRow; }
    FL_LANE_HD static int before(int i, int k) { return i * kRow + (k + 1) * lane::kSquare; }
    FL_LANE_HD static int inv_d(int i) { return before(i, kBehind + 1); }
    /// C's square s of a column, while V is not there yet.
    [[nodiscard]] FL_LANE_HD int c(int column, int s) const {
      return rows() * kRow + (column * slots + (s & (slots - 1))) * lane::kSquare;
    }
    /// V's: in a place whose C was used up in the phase before.
    [[nodiscard]] FL_LANE_HD int v(int column, int s) const { return c(column, s + 2 * half + 1); }
  };

  static std::size_t problem_bytes(const Args& a) {
    return static_cast<std::size_t>(Layout(a).doubles()) * sizeof(double);
  }
  static std::size_t shared_bytes(const Args& a) {
    return problem_bytes(a) * static_cast<std::size_t>(a.abreast);
  }
  /// Problems of a block: as many as its memory holds; 0: none.
  static int abreast(const Args& a, std::size_t most_bytes) {
    int n = kMostAbreast;
    while (n > 0 && problem_bytes(a) * static_cast<std::size_t>(n) > most_bytes) n /= 2;
    return n;
  }
  FL_LANE_HD static int groups(const Args& a) { return (a.problems() + a.abreast - 1) / a.abreast; }
  FL_LANE_HD static long blocks(const Args& a) {
    return static_cast<long>(lane::squares_of(a.shape.nbin) + kEights - 1) / kEights * groups(a);
  }
  FL_LANE_HD static int phases(const Args& a) { return 3 + Layout(a).steps; }

  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared,
                             State& state) {
    const Layout at(a);
    if (phase == 0) {
      state.first_bin = static_cast<int>(block) / groups(a) * kEights * lane::kSide;
      state.first_problem = static_cast<int>(block) % groups(a) * a.abreast;
      const int left = a.problems() - state.first_problem;
      state.problems = left < a.abreast ? left : a.abreast;
    }
    const int first_bin = state.first_bin, first_problem = state.first_problem,
              here = state.problems;
    if (phase == 1) return prepare(at, thread, shared);
    if (phase == 0) {
      const int mine = thread % kMostAbreast;
      if (mine < here)
        load(at, first_problem + mine, first_bin, thread, a, shared + mine * at.doubles());
      return;
    }
    const int s = phase - 2, column = thread / kWarp;
    const lane::SquareThread of_warp(thread);
    double* memory[kMostAbreast];  // where there are fewer problems, of the last again
    FL_UNROLL_ALL
    for (int n = 0; n < kMostAbreast; ++n)
      memory[n] = shared + (n < here ? n : here - 1) * at.doubles();
    if (s < at.steps && column + s < at.rows()) next_rows(at, column, s, of_warp, memory);
    if (s > 0 && column < kEights) add_terms(at, column, s - 1, of_warp, memory, state);
    if (s < at.steps || column >= kEights) return;
    FL_UNROLL_ALL
    for (int n = 0; n < kMostAbreast; ++n) {
      if (n < here)
        leave(first_problem + n, first_bin + column * lane::kSide, of_warp, a, state.of[n]);
    }
  }

 private:
  /// Of a warp that loads squares a thread has a problem, a row, and every so many columns: the
  /// same entries of neighbouring problems lie side by side.
  static constexpr int kOfWarp = kWarp / (lane::kSide * kMostAbreast),
                       kEach = lane::kSide / kOfWarp;
  FL_LANE_HD static void load(const Layout& at, int problem, int first_bin, int thread,
                              const Args& a, double* memory) {
    const int r = thread / kMostAbreast % lane::kSide, warp = thread / kWarp;
    const int first_column = thread % kWarp / (lane::kSide * kMostAbreast);
    const long first = a.shape.margin + first_bin - at.half * lane::kSide;
    const int rows = static_cast<int>(a.shape.rows() - first);
    const double* l = a.l.at(problem, first) + (first_column * (B - 1) + r - 1) * kWarp;
    for (int i = warp; i < at.rows(); i += kColumns) {
      const double* of_row = l + i * (lane::kSide * B * kWarp);
      double found[kBehind + 1][kEach];
      FL_UNROLL_ALL
      for (int k = 0; k <= kBehind; ++k) {
        FL_UNROLL_ALL
        for (int n = 0; n < kEach; ++n) {
          const int c = first_column + n * kOfWarp;
          const int d = k * lane::kSide + r - c;  // L[row + d, row] of row 8 (i - k) + c
          const double* from = of_row + (k * lane::kSide * (1 - B) + n * kOfWarp * (B - 1)) * kWarp;
          found[k][n] = 0.0;
          if (d > 0 && d <= B && (i - k) * lane::kSide + c < rows) found[k][n] = *from;
        }
      }
      FL_UNROLL_ALL
      for (int k = 0; k <= kBehind; ++k) {
        double* to = memory + (k == 0 ? Layout::diagonal(i) : Layout::before(i, k));
        FL_UNROLL_ALL
        for (int n = 0; n < kEach; ++n)
          to[lane::square_at(r, first_column + n * kOfWarp)] = found[k][n];
      }
      if (first_column > 0) continue;
      const int row = i * lane::kSide + r;
      memory[Layout::inv_d(i) + r] = row < rows ? *a.inv_d.at(problem, first + row) : 0.0;
    }
    const SweepStep step = SweepStep::of(problem, a);
    const SweepColumn column =
        step.column(a.shape.margin + first_bin + warp * lane::kSide + first_column, a);
    const int bins = step.to >= 0 ? a.shape.nbin - first_bin - warp * lane::kSide : 0;
    const long next = (2 * a.half + 1) * (kOfWarp * kWarp) - kOfWarp * column.along;
    for (int s = 0; s <= 2 * at.half; ++s) {
      const int of_first = (s - at.half) * lane::kSide + r - first_column;
      const double* from = column.middle + of_first * column.along;
      double found[kEach];
      FL_UNROLL_ALL
      for (int n = 0; n < kEach; ++n) {
        const int behind = of_first - n * kOfWarp;
        found[n] = 0.0;
        if (first_column + n * kOfWarp < bins && behind >= -a.half && behind <= a.half)
          found[n] = *from;
        from += next;
      }
      FL_UNROLL_ALL
      for (int n = 0; n < kEach; ++n)
        memory[at.c(warp, s) + lane::square_at(r, first_column + n * kOfWarp)] = found[n];
    }
  }
  /// P and G of all squares. A thread: a column of one of them.
  FL_LANE_HD static void prepare(const Layout& at, int thread, double* shared) {
    constexpr int kOfRow = (kBehind + 1) * lane::kSide;
    FL_NO_UNROLL
    for (int item = thread; item < at.rows() * kMostAbreast * kOfRow; item += kThreads) {
      const int k = item % kOfRow / lane::kSide, c = item % lane::kSide;
      const int mine = item / kOfRow % kMostAbreast, i = item / kOfRow / kMostAbreast;
      if (mine >= at.abreast) continue;
      double* memory = shared + mine * at.doubles();
      const double* l = memory + Layout::diagonal(i);
      double *to = memory + Layout::before(i, k), x[lane::kSide];
      FL_UNROLL_ALL
      for (int r = 0; r < lane::kSide; ++r) {
        x[r] = k > 0 ? -to[lane::square_at(r, c)] : r == c ? 1.0 : 0.0;
        FL_UNROLL_ALL
        for (int q = 0; q < r; ++q) x[r] -= l[lane::square_at(r, q)] * x[q];
      }
      FL_UNROLL_ALL
      for (int r = 0; r < lane::kSide; ++r) to[lane::square_at(r, c)] = x[r];
    }
  }
  /// V of the next rows; of all problems at once, none of which waits for another.
  FL_LANE_HD static void next_rows(const Layout& at, int column, int s, lane::SquareThread thread,
                                   double* const (&memory)[kMostAbreast]) {
    const int row = Layout::before(column + s, 0);
    lane::SquarePart v[kMostAbreast]{};
    const auto multiply = [&](int k, int other) {
      FL_UNROLL_ALL
      for (int n = 0; n < kMostAbreast; ++n)
        thread.multiply(v[n], memory[n] + row + k * lane::kSquare, memory[n] + other);
    };
    if (s <= 2 * at.half) multiply(0, at.c(column, s));
    FL_UNROLL_ALL
    for (int k = 1; k <= kBehind; ++k) {
      if (k <= s) multiply(k, at.v(column, s - k));
    }
    const int to = at.v(column, s);
    FL_UNROLL_ALL
    for (int n = 0; n < kMostAbreast; ++n) thread.put(v[n], memory[n] + to);
  }
  /// What the rows add to E. Those of a column k eights behind are k phases younger.
  FL_LANE_HD static void add_terms(const Layout& at, int column, int s, lane::SquareThread thread,
                                   double* const (&memory)[kMostAbreast], State& state) {
    const int v = at.v(column, s), inv_d = Layout::inv_d(column + s);
    FL_UNROLL_ALL
    for (int k = 0; k <= kBehind; ++k) {
      if (k > s) continue;
      const int other = at.v(column + k, s - k);
      FL_UNROLL_ALL
      for (int n = 0; n < kMostAbreast; ++n)
        thread.multiply(state.of[n].e[k], memory[n] + v, memory[n] + inv_d, memory[n] + other);
    }
  }
  FL_LANE_HD static void leave(int problem, int bin, lane::SquareThread thread, const Args& a,
                               const Terms& found) {
    const SweepStep step = SweepStep::of(problem, a);
    const int row = thread.row;
    if (step.to < 0 || bin + row >= a.shape.nbin) return;
    const double* own = a.own.at(step.to, bin + row + a.shape.margin);
    double* terms = step.terms(a).at(step.to, bin + row + a.shape.margin);
    FL_UNROLL_ALL
    for (int k = 0; k <= kBehind; ++k) {
      FL_UNROLL_ALL
      for (int n = 0; n < 2; ++n) {
        const int d = k * lane::kSide + thread.column + n - row;
        if (d >= 0 && d <= B) terms[d * kWarp] = own[d * kWarp] - found.e[k].v[n];
      }
    }
  }
};

}  // namespace fiberloom::exact::gpu
