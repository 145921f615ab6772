// SPDX-License-Identifier: BSD-3-Clause
// The poles of the roots: which, and one (fibre, window, pole) a thread, then sums over the poles
// in fixed order (wide bands: wide_kernels_lane.hpp).
#pragma once

#include "fiberloom/extract/exact/gpu/root_lane.hpp"

namespace fiberloom::exact::gpu {

/// Threads of a block of PoleKernel, and rows of which it adds up the poles at once.
inline constexpr int kPoleThreads = 64, kPoleRows = 2;
/// Numbers that it keeps of a row (RegisterPole::kWork).
FL_LANE_HD constexpr int pole_row(int band) { return band + 3; }
/// pole_count() begins with as many.
inline constexpr int kLeastPoles = 4;

struct PoleArgs {
  RootArgs root;
  int first, last;  ///< positions of this launch
  int nd;
  const long* task;        ///< of wide bands: [last - first + 1] first task of a position
  const long* block_item;  ///< of narrow ones: [blocks + 1] first (position - first, window)
  const int* poles;        ///< [count], 0: not taken here
  const int* rows;      ///< [count] of an axis that is shorter than the others'; null: all the same
  const double *t, *c;  ///< [count][kMostPoles]
  // lanes: tasks, or threads of PoleKernel; rows of a window
  Packs l;                  ///< what is kept of a factor
  Packs out;                ///< of wide bands: rows [skirt - 1, skirt + stride], nd + 3 wide
  Packs sums;               ///< lanes of root, rows as out
  int out_first, out_rows;  ///< those rows, as far as they are there
};

struct ChosenPoles {
  double error;  ///< relative, of the root
  int count;
};
struct RootPolesArgs {
  RootArgs root;
  const int* wanted;  ///< [count]
  double tolerance;   ///< sigma
  int* poles;
  double *t, *c;        ///< as PoleArgs has them
  ChosenPoles* chosen;  ///< [count]
};
/// As choose_poles(), from the states. Threads: count x kMostPoles.
struct RootPolesKernel {
  using Args = RootPolesArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int i = static_cast<int>(thread / kMostPoles), k = static_cast<int>(thread % kMostPoles);
    if (i >= a.root.count) return;
    const RootState& s = a.root.state[i];
    const double kappa = s.high / s.low;
    const int n = a.wanted[i] != 0 ? pole_count(kappa, pole_tolerance(a.tolerance, s.signal)) : 0;
    if (k == 0) {
      a.poles[i] = n;
      a.chosen[i] = {n > 0 ? root_error(kappa, n) : 0.0, n};
    }
    if (k >= n) return;
    const RootPole pole = RootNodes(s.low, s.high, n)[k];
    a.t[thread] = pole.t;
    a.c[thread] = pole.c;
  }
};

/// Whose pole a task is.
struct PolePlace {
  int position, window, pole;
  FL_LANE_HD static PolePlace of(long task, const PoleArgs& a) {
    int low = 0, high = a.last - a.first;  // position whose tasks hold this one
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (a.task[middle] <= task ? low : high) = middle;
    }
    const int position = a.first + low, poles = a.poles[position];
    const int rest = static_cast<int>(task - a.task[low]);
    return {position, rest / poles, rest % poles};
  }
};

/// Who is in a block of PoleKernel: of a window, in the block's memory.
struct PoleItem {
  int position, window, first, poles;  ///< threads [first, first + poles)
  static constexpr int kDoubles = 2;
};
static_assert(sizeof(PoleItem) == PoleItem::kDoubles * sizeof(double));

/// All poles of a few windows, and the sums over them in their order: of the poles themselves
/// nothing is stored. Threads: a pole of a window. Blocks: as block_item has them.
template <int B>
struct PoleKernel {
  using Args = PoleArgs;
  using Pole = lane::RegisterPole<WarpLane, B>;
  static constexpr int kThreads = kPoleThreads, kBlocks = 4, kRows = kPoleRows;
  static_assert(kRows % Pole::kSlots == 0 && pole_row(B) == Pole::kWork);
  static constexpr int kPitch = kThreads + 1;  ///< odd: neighbouring items in other banks
  struct State {
    Pole pole;
    int is_pole;
  };
  static int items(const Args& a) { return kRows * (a.nd + 3); }
  static std::size_t shared_bytes(const Args& a) {
    return sizeof(double) * static_cast<std::size_t>(kHead + 2 * items(a) * kPitch);
  }
  /// Rows that nobody reads at the end of a window, in whole groups; groups of rows with sums.
  FL_LANE_HD static int quiet_rows(const Args& a) {
    return (a.root.cut.rows - a.out_first - a.out_rows) / kRows * kRows;
  }
  FL_LANE_HD static int groups(const Args& a) {
    return (a.root.cut.rows - quiet_rows(a) - a.out_first + kRows - 1) / kRows;
  }
  FL_LANE_HD static int phases(const Args& a) { return 3 + groups(a); }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared,
                             State& state) {
    if (phase == 0) {
      if (thread == 0) find(block, a, shared);
      return;
    }
    const int n = a.root.cut.rows, first = a.out_first, width = a.nd + 3;
    if (phase == 1) return begin(block, thread, a, shared, state);
    const int group = phase - 2, row = n - 1 - quiet_rows(a) - group * kRows;
    double* const sums = shared + kHead;
    if (group < groups(a) && state.is_pole != 0) {
      double* to = sums + group % 2 * kRows * width * kPitch + thread;
      FL_UNROLL_ALL
      for (int g = 0; g < kRows; g += Pole::kSlots) {
        state.pole.next_rows(row - g, first, [&](int r, int e, WarpLane v) {
          const int item = e <= B ? e : e - B + a.nd;
          if (e <= a.nd || e > B) to[((g + r) * width + item) * kPitch] = v.v;
        });
      }
    }
    if (group > 0)
      add_up(row + kRows, thread, a, shared, sums + (group - 1) % 2 * kRows * width * kPitch);
  }

 private:
  /// As many windows as there may be, and how many there are.
  static constexpr int kMostItems = kThreads / kLeastPoles;
  static constexpr int kHead = kMostItems * PoleItem::kDoubles + 1;
  FL_LANE_HD static PoleItem* table(double* shared) { return reinterpret_cast<PoleItem*>(shared); }
  FL_LANE_HD static double& count(double* shared) { return shared[kHead - 1]; }

  FL_LANE_HD static void find(long block, const Args& a, double* shared) {
    PoleItem* table = PoleKernel::table(shared);
    int found = 0, used = 0;
    for (long item = a.block_item[block]; item < a.block_item[block + 1]; ++item) {
      const int position = a.first + static_cast<int>(item / a.root.cut.count);
      const int poles = a.poles[position];
      if (poles == 0) continue;
      table[found++] = {position, static_cast<int>(item % a.root.cut.count), used, poles};
      used += poles;
    }
    count(shared) = found;
  }
  /// The way there, and back over the rows that nobody reads.
  FL_LANE_HD static void begin(long block, int thread, const Args& a, double* shared,
                               State& state) {
    const PoleItem* item = table(shared);
    const PoleItem* const end = item + static_cast<int>(count(shared));
    while (item < end && thread >= item->first + item->poles) ++item;
    state.is_pole = item < end ? 1 : 0;
    if (item == end) return;
    const RootArgs& r = a.root;
    const long row = r.shape.margin + r.cut.first(item->window);
    const int pole = item->position * kMostPoles + thread - item->first, n = r.cut.rows;
    (void)state.pole.factor(n, r.s.at(item->position, row), WarpLane(a.t[pole]),
                            WarpLane(a.c[pole]), r.ones_at(item->position, row),
                            r.x_at(item->position, row), a.out_first,
                            a.l.at(block * kThreads + thread, 0));
    for (int j = n - 1; j > n - 1 - quiet_rows(a); j -= Pole::kSlots)
      state.pole.next_rows(j, a.out_first, [](int, int, WarpLane) {});
  }
  /// Of the rows from `row` on down.
  FL_LANE_HD static void add_up(int row, int thread, const Args& a, double* shared,
                                const double* found) {
    const PoleItem* table = PoleKernel::table(shared);
    const int width = a.nd + 3, of_window = kRows * width;
    const int all = of_window * static_cast<int>(count(shared));
    for (int i = thread; i < all; i += kThreads) {
      const PoleItem& item = table[i / of_window];
      const int at = i % of_window, j = row - at / width;
      if (j < a.out_first || j >= a.out_first + a.out_rows) continue;
      const double* from = found + at * kPitch + item.first;
      double sum = 0;
      FL_UNROLL
      for (int k = 0; k < item.poles; ++k) sum += from[k];
      *a.sums.at(root_lane(item.position, item.window, a.root.cut), j - a.out_first, at % width) =
          sum;
    }
  }
};

/// Of wide bands: sums over the poles in their order. The threads of a warp read neighbouring
/// poles; then a thread adds up those of an item in the block's memory. Blocks: positions of the
/// launch x windows x groups of items.
struct PoleSumKernel {
  using Args = PoleArgs;
  static constexpr int kThreads = 128, kItems = 64, kPitch = kMostPoles + 1 + kMostPoles % 2;
  static std::size_t shared_bytes(const Args&) { return kItems * kPitch * sizeof(double); }
  FL_LANE_HD static int items(const Args& a) { return a.out_rows * (a.nd + 3); }
  FL_LANE_HD static long blocks(const Args& a) {
    return static_cast<long>(a.last - a.first) * a.root.cut.count *
           ((items(a) + kItems - 1) / kItems);
  }
  FL_LANE_HD static int phases(const Args&) { return 2; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    const RootArgs& r = a.root;
    const int places = a.last - a.first, in_order = static_cast<int>(block);
    const int window = in_order % r.cut.count, place = in_order / r.cut.count % places;
    const int begin = in_order / r.cut.count / places * kItems;
    const int n = begin + kItems < items(a) ? kItems : items(a) - begin;
    const int poles = a.poles[a.first + place];
    if (phase == 0) {
      const long task = a.task[place] + static_cast<long>(window) * poles;
      for (int k = thread % kWarp; k < poles; k += kWarp) {
        const double* from = a.out.at(task + k, 0);
        double* to = shared + k;
        FL_UNROLL
        for (int i = thread / kWarp; i < kItems; i += kThreads / kWarp) {
          if (i < n) to[i * kPitch] = from[static_cast<long>(begin + i) * kWarp];
        }
      }
    } else if (thread < n) {
      double sum = 0;
      FL_UNROLL
      for (int k = 0; k < poles; ++k) sum += shared[thread * kPitch + k];
      const long lane = root_lane(a.first + place, window, r.cut);
      a.sums.at(lane, 0)[static_cast<long>(begin + thread) * kWarp] = sum;
    }
  }
};

}  // namespace fiberloom::exact::gpu
