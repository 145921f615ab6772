// SPDX-License-Identifier: BSD-3-Clause
// Schur terms of a step of the sweeps, E = C^T M^-1 C: with M = L D L^T and V = L^-1 C it is
// V^T D^-1 V, so that columns need no way back, and an entry (m, m + d) is a product of two columns
// that a block has beside each other.
#pragma once

#include "fiberloom/extract/exact/gpu/sweep_lane.hpp"

namespace fiberloom::exact::gpu {

/// How a block of SweepTermKernel divides its columns and its memory: that of l and inv_d, then a
/// column of V beside the other.
struct SweepTile {
  static constexpr int kThreads = 128;
  int band, rows;  ///< of l; of a column of V

  static SweepTile of(const SweepArgs& a) { return {a.band, a.column_rows()}; }

  /// Problems side by side in a block: neighbours, which share what memory gives at once.
  [[nodiscard]] FL_LANE_HD constexpr int abreast() const { return band <= 16 ? 2 : 1; }
  [[nodiscard]] FL_LANE_HD constexpr int columns() const { return kThreads / abreast(); }
  /// Columns of E that they give: the last ones have no partners.
  [[nodiscard]] FL_LANE_HD constexpr int given() const { return columns() - band; }
  /// Columns that one thread multiplies with their partners, of which it has one share of the rows:
  /// as many as its registers hold the sums of.
  [[nodiscard]] FL_LANE_HD constexpr int each() const { return band <= 8 ? 4 : band <= 16 ? 2 : 1; }
  [[nodiscard]] FL_LANE_HD constexpr int groups() const { return columns() / each(); }
  /// Where column m lies in a row of V, and how far rows are apart: threads that take column after
  /// column, each a row behind the one before, and such that take group after group in one row meet
  /// other banks.
  [[nodiscard]] FL_LANE_HD constexpr int place(int m) const {
    return m % each() * groups() + m / each();
  }
  [[nodiscard]] FL_LANE_HD constexpr int pitch() const { return columns() + 16 / each(); }
  /// Rows of l that the columns of a problem meet.
  [[nodiscard]] FL_LANE_HD constexpr int all_rows() const { return columns() + rows - 1; }
  [[nodiscard]] FL_LANE_HD constexpr int l_doubles() const { return all_rows() * band; }
  [[nodiscard]] FL_LANE_HD constexpr int v_doubles() const { return rows * pitch(); }
  [[nodiscard]] FL_LANE_HD constexpr int doubles() const {
    const int v = abreast() * v_doubles(), sums = each() * (band + 1) * kThreads;
    const int all = abreast() * (l_doubles() + all_rows()) + (v > sums ? v : sums);
    return all + all % 2;
  }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(doubles()) * sizeof(double);
  }
  [[nodiscard]] FL_LANE_HD long blocks(int nbin, int problems) const {
    return static_cast<long>((nbin + given() - 1) / given()) *
           ((problems + abreast() - 1) / abreast());
  }
};

/// But for what depends on the rows: constants.
template <int B>
FL_LANE_HD constexpr SweepTile sweep_tile() {
  return {B, 0};
}

/// Blocks: groups of bins x groups of problems. A thread has a column of V, then the products of a
/// few columns over some of their rows, then a column of E.
template <int B>
struct SweepTermKernel {
  using Args = SweepArgs;
  static constexpr int kThreads = SweepTile::kThreads, kBlocks = 2;
  static constexpr int kEach = sweep_tile<B>().each(), kColumns = sweep_tile<B>().columns(),
                       kGiven = sweep_tile<B>().given(), kGroups = sweep_tile<B>().groups(),
                       kPitch = sweep_tile<B>().pitch();
  static_assert(kGiven > 0 && kGiven % kEach == 0);
  struct State {
    double sum[kEach][B + 1];
  };
  static std::size_t shared_bytes(const Args& a) {
    return a.near != 0 ? SweepTile::of(a).bytes() : 0;
  }
  FL_LANE_HD static int phases(const Args&) { return 5; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared,
                             State& state) {
    if (a.near != 0) {  // else the compiler would not know whose memory it is
      step(phase, block, thread, a, shared, state);
    } else {
      step(phase, block, thread, a, a.work + block * SweepTile{B, a.column_rows()}.doubles(),
           state);
    }
  }

 private:
  /// What a thread works on; rows are counted from the first of l that the block's columns meet.
  struct Place {
    SweepTile tile;
    int problem, first_bin, m;  ///< m: a column, or a group and a share of rows
    double *l, *inv_d, *v, *sums;
    FL_LANE_HD Place(long block, int thread, const Args& a, double* memory)
        : tile{B, a.column_rows()} {
      const int wide = (a.problems() + tile.abreast() - 1) / tile.abreast();
      const int q = thread / kColumns, in_order = static_cast<int>(block);
      problem = in_order % wide * tile.abreast() + q;
      first_bin = in_order / wide * tile.given();
      m = thread % kColumns;
      sums = memory + tile.abreast() * (tile.l_doubles() + tile.all_rows());
      l = memory + q * tile.l_doubles();
      inv_d = memory + tile.abreast() * tile.l_doubles() + q * tile.all_rows();
      v = sums + q * tile.v_doubles();
    }
  };
  FL_LANE_HD static void step(int phase, long block, int thread, const Args& a, double* memory,
                              State& state) {
    const Place p(block, thread, a, memory);
    if (p.problem >= a.problems() || SweepStep::of(p.problem, a.step, a).to < 0) return;
    switch (phase) {
      case 0:
        load(p, a);
        break;
      case 1:
        eliminate(p, a);
        break;
      case 2:
        multiply(p, state);
        break;
      case 3:
        leave(p, thread, state);
        break;
      default:
        give(p, thread, a);
    }
  }
  /// Several numbers under way.
  FL_LANE_HD static void fetch(double* to, const double* from, int first, int step, int n) {
    constexpr int kAtOnce = 8;
    FL_NO_UNROLL
    for (int e = first; e < n; e += kAtOnce * step) {
      double value[kAtOnce];
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        value[i] = e + i * step < n ? from[static_cast<long>(e + i * step) * kWarp] : 0.0;
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        if (e + i * step < n) to[e + i * step] = value[i];
      }
    }
  }
  /// Rows of l, and c where its column of V will be.
  FL_LANE_HD static void load(const Place& p, const Args& a) {
    const long row = p.first_bin + a.shape.margin - a.half, left = a.shape.rows() - row;
    const int all = p.tile.all_rows(), there = static_cast<int>(left < all ? left : all);
    fetch(p.l, a.l.at(p.problem, row), p.m, kColumns, there * B);
    fetch(p.inv_d, a.inv_d.at(p.problem, row), p.m, kColumns, there);
    for (int e = there * B + p.m; e < all * B; e += kColumns) p.l[e] = 0.0;
    for (int e = there + p.m; e < all; e += kColumns) p.inv_d[e] = 0.0;
    const int bin = p.first_bin + p.m, width = 2 * a.half + 1;
    const double* c = a.columns.at(a.slot(a.step, p.problem), bin + a.shape.margin);
    double* v = p.v + p.tile.place(p.m);
    constexpr int kAtOnce = 9;
    FL_NO_UNROLL
    for (int i = 0; i < width; i += kAtOnce) {
      double value[kAtOnce];
      FL_UNROLL_ALL
      for (int k = 0; k < kAtOnce; ++k) {
        value[k] = bin < a.shape.nbin && i + k < width ? c[(i + k) * kWarp] : 0.0;
      }
      FL_UNROLL_ALL
      for (int k = 0; k < kAtOnce; ++k) {
        if (i + k < width) v[(i + k) * kPitch] = value[k];
      }
    }
  }
  /// L v = c, in place. The threads of a warp are in the same row of l, so that each is in a row of
  /// its own column.
  FL_LANE_HD static void eliminate(const Place& p, const Args& a) {
    constexpr int kAhead = 2;
    double* v = p.v + p.tile.place(p.m);
    const int width = 2 * a.half + 1, rows = p.tile.rows;
    const int begin = p.m / kWarp * kWarp - p.m, end = begin + kWarp - 1 + rows;
    const auto c = [&](int i) {
      return static_cast<unsigned>(i) < static_cast<unsigned>(width) ? v[i * kPitch] : 0.0;
    };
    double wait[B], f[kAhead][B];
    FL_UNROLL_ALL
    for (int i = 0; i < B; ++i) wait[i] = c(begin + i);
    const double* l = p.l + (p.m + begin) * B;
    FL_UNROLL_ALL
    for (int r = 0; r < kAhead; ++r) ask(f[r], l + r * B);
    FL_NO_UNROLL
    for (int first = begin; first < end; first += kAhead) {
      FL_UNROLL_ALL
      for (int r = 0; r < kAhead; ++r) {
        const int i = first + r;
        const double x = wait[0], fresh = c(i + B);
        FL_UNROLL_ALL
        for (int k = 0; k < B; ++k) {
          wait[k] = (k + 1 < B ? wait[k + 1 < B ? k + 1 : k] : fresh) - f[r][k] * x;
        }
        const int next = i + kAhead < end ? i + kAhead : end - 1;
        ask(f[r], l + (next - begin) * B);
        if (static_cast<unsigned>(i) < static_cast<unsigned>(rows)) v[i * kPitch] = x;
      }
    }
  }
  FL_LANE_HD static void ask(double (&f)[B], const double* l) {
    FL_UNROLL_ALL
    for (int k = 0; k < B; k += 2) {
#if defined(__CUDA_ARCH__)
      const double2 two = *reinterpret_cast<const double2*>(l + k);
      f[k] = two.x;
      f[k + 1] = two.y;
#else
      f[k] = l[k];
      f[k + 1] = l[k + 1];
#endif
    }
  }
  /// V^T D^-1 V of the columns from m on, over a share of the rows of the first and those behind
  /// it that the others have.
  FL_LANE_HD static void multiply(const Place& p, State& state) {
    const int group = p.m % kGroups, share = p.m / kGroups, rows = p.tile.rows;
    if (group * kEach >= kGiven) return;
    const int all = rows + kEach - 1, mine = (all + kEach - 1) / kEach;
    const int end = (share + 1) * mine < all ? (share + 1) * mine : all;
    const double *v = p.v + group, *inv_d = p.inv_d + group * kEach;
    FL_UNROLL_ALL
    for (int j = 0; j < kEach; ++j) {
      FL_UNROLL_ALL
      for (int d = 0; d <= B; ++d) state.sum[j][d] = 0.0;
    }
    FL_NO_UNROLL
    for (int row = share * mine; row < end; ++row) {
      double x[kEach + B];
      FL_UNROLL_ALL
      for (int j = 0; j < kEach + B; ++j) {
        const int i = row - j;
        x[j] = static_cast<unsigned>(i) < static_cast<unsigned>(rows)
                   ? v[i * kPitch + sweep_tile<B>().place(j)]
                   : 0.0;
      }
      const double weight = inv_d[row];
      FL_UNROLL_ALL
      for (int j = 0; j < kEach; ++j) {
        const double own = x[j] * weight;
        FL_UNROLL_ALL
        for (int d = 0; d <= B; ++d) state.sum[j][d] += own * x[j + d];
      }
    }
  }
  FL_LANE_HD static void leave(const Place& p, int thread, const State& state) {
    if (p.m % kGroups * kEach >= kGiven) return;
    FL_UNROLL_ALL
    for (int j = 0; j < kEach; ++j) {
      FL_UNROLL_ALL
      for (int d = 0; d <= B; ++d) p.sums[(j * (B + 1) + d) * kThreads + thread] = state.sum[j][d];
    }
  }
  /// Adds the shares of a column of E.
  FL_LANE_HD static void give(const Place& p, int thread, const Args& a) {
    const int bin = p.first_bin + p.m;
    if (p.m >= kGiven || bin >= a.shape.nbin) return;
    const long row = bin + a.shape.margin;
    const double* sums = p.sums + p.m % kEach * (B + 1) * kThreads + (thread - p.m) + p.m / kEach;
    double e[B + 1];
    FL_UNROLL_ALL
    for (int d = 0; d <= B; ++d) {
      e[d] = sums[d * kThreads];
      FL_UNROLL_ALL
      for (int share = 1; share < kEach; ++share) {
        e[d] += sums[d * kThreads + share * kGroups];
      }
    }
    if ((a.step + 1) % kSweepGroup != 0) {  // the next step's matrix is loaded
      double* next = a.matrix.at(a.slot(a.step + 1, p.problem), row);
      double m[B + 1];
      FL_UNROLL_ALL
      for (int d = 0; d <= B; ++d) m[d] = next[d * kWarp];
      FL_UNROLL_ALL
      for (int d = 0; d <= B; ++d) next[d * kWarp] = m[d] - e[d];
    }
    const SweepStep s = SweepStep::of(p.problem, a.step, a);
    double* terms = s.terms.at(s.to, row);
    FL_UNROLL_ALL
    for (int d = 0; d <= B; ++d) terms[d * kWarp] = e[d];
  }
};

}  // namespace fiberloom::exact::gpu
