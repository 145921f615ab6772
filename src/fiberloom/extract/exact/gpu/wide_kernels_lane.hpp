// SPDX-License-Identifier: BSD-3-Clause
// The kernels of wide bands, a block where narrow ones have a thread: factors of windows, bounds
// on a spectrum, a pole. What the problem of a block is, its first phase finds.
#pragma once

#include "fiberloom/extract/exact/gpu/pole_lane.hpp"
#include "fiberloom/extract/exact/gpu/solve_lane.hpp"
#include "fiberloom/extract/exact/gpu/sweep_lane.hpp"
#include "fiberloom/extract/exact/gpu/wide_band_lane.hpp"

namespace fiberloom::exact::gpu {

/// The problem of a block, at the head of its memory.
struct WideTask {
  const double* matrix;  ///< null: nothing to do
  const double *x, *ones;
  double *l, *inv_d;
  double shift, scale, norm;
  int first;  ///< bin of row 0
  int rows;   ///< of a pole
  static constexpr int kDoubles = 10;
};
static_assert(sizeof(WideTask) <= WideTask::kDoubles * sizeof(double));
FL_LANE_HD inline WideTask& wide_task(double* shared) {
  return *reinterpret_cast<WideTask*>(shared);
}

/// A symmetric matrix as lanes have it.
template <int B>
struct WideMatrix {
  const double* data;
  FL_LANE_HD double operator()(int row, int d) const { return data[(row * (B + 1L) + d) * kWarp]; }
};

/// As WindowFactorKernel. Blocks: windows x matrices.
template <int B, class Of>
struct WideWindowFactorKernel {
  using Args = typename Of::Args;
  using Factor = WideFactor<B, 0, B / 8>;
  static constexpr int kThreads = Factor::kThreads, kTask = sizeof(FactorTask) / sizeof(double);
  static_assert(sizeof(FactorTask) % sizeof(double) == 0);
  static std::size_t shared_bytes(const Args&) {
    return (kTask + Factor::kShared) * sizeof(double);
  }
  FL_LANE_HD static int phases(const Args& a) { return 1 + Factor::phases(Of::most_rows(a)); }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    FactorTask& task = *reinterpret_cast<FactorTask*>(shared);
    if (phase == 0) {
      if (thread == 0) task = Of::task(block, a);
      return;
    }
    if (task.matrix == nullptr || phase > Factor::phases(task.rows)) return;
    double *l = task.l, *inv_d = task.inv_d;
    const int first = task.first;
    Factor::run(
        phase - 1, task.rows, thread, shared + kTask, 0.0, WideMatrix<B>{task.matrix},
        [](int, int) { return 0.0; },
        [=](int j, int k, double f) {
          if (j >= first) l[(j * long{B} + k - 1) * kWarp] = f;
        },
        [=](int j, double inverse, const double*) {
          if (j >= first) inv_d[j * long{kWarp}] = inverse;
        });
  }
};
template <int B>
struct WideSweepFactorKernel : WideWindowFactorKernel<B, OfSweep> {};
template <int B>
struct WideOwnFactorKernel : WideWindowFactorKernel<B, OfSolve> {};

/// As SweepTermKernel, but one way: E = V^T D^-1 V of V = L^-1 C. A block has some bins of a
/// problem; a thread a column of C: those of the bins, and those behind which they meet. Blocks:
/// groups of bins x problems.
template <int B>
struct WideTermKernel {
  using Args = SweepArgs;
  static constexpr int kBins = B == 16 || B == 32 ? 16 : 8, kColumns = B + kBins, kThreads = 128,
                       kBlocks = B < 32    ? 6
                                 : B == 32 ? 3
                                           : 2;
  /// Odd, so that neither rows nor columns are in one bank.
  static constexpr int kFactor = B + 1, kRow = kColumns + 1;
  static_assert(kFactor % 2 == 1 && kRow % 2 == 1);
  /// Rows of the factor that the columns see; 1 / D behind l.
  FL_LANE_HD static int rows(const Args& a) { return a.column_rows() + kColumns - 1; }
  static std::size_t shared_bytes(const Args& a) {
    const int doubles = 1 + rows(a) * kFactor + a.column_rows() * kRow;
    return static_cast<std::size_t>(doubles) * sizeof(double);
  }
  static long blocks(const Args& a) {
    return static_cast<long>((a.shape.nbin + kBins - 1) / kBins) * a.problems();
  }
  FL_LANE_HD static int phases(const Args&) { return 3; }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    const int problem = static_cast<int>(block % a.problems()), n = a.column_rows();
    const long first_bin = block / a.problems() * kBins;
    double *l = shared + 1, *v = l + rows(a) * kFactor;
    if (phase == 0) {
      const SweepStep step = SweepStep::of(problem, a);
      if (thread == 0) shared[0] = step.to >= 0 ? 1.0 : 0.0;
      if (step.to >= 0) load_all(problem, step, first_bin, thread, a, l, v);
      return;
    }
    if (shared[0] == 0.0) return;
    if (phase == 1) {
      if (thread < kColumns) solve(n, l + thread * kFactor, v + thread);
      return;
    }
    const SweepStep step = SweepStep::of(problem, a);
    for (int i = thread; i < kBins * (B + 1); i += kThreads) {
      const int of = i % kBins, d = i / kBins;
      if (first_bin + of >= a.shape.nbin) continue;
      const long row = first_bin + of + a.shape.margin;
      const double e = product(n, d, v + of, l + of * kFactor + B);
      *step.terms(a).at(step.to, row, d) = *a.own.at(step.to, row, d) - e;
    }
  }

 private:
  FL_LANE_HD static void load_all(int problem, const SweepStep& step, long first_bin, int thread,
                                  const Args& a, double* l, double* v) {
    const int width = 2 * a.half + 1;
    const long first = a.shape.margin + first_bin - a.half, there = a.shape.rows() - first;
    const int last = there < rows(a) ? static_cast<int>(there) : rows(a);  // then the last again
    const auto as_it_lies = [](int at) { return at * long{kWarp}; };
    load(thread, rows(a) * B, a.l.at(problem, first), last * B - 1, as_it_lies,
         [=](int at, double x) { l[at / B * kFactor + at % B] = x; });
    load(thread, rows(a), a.inv_d.at(problem, first), last - 1, as_it_lies,
         [=](int at, double x) { l[at * kFactor + B] = x; });
    const long bins = a.shape.nbin - first_bin;
    const int columns = bins < kColumns ? static_cast<int>(bins) : kColumns, half = a.half;
    const SweepColumn coupling = step.column(first_bin + a.shape.margin, a);
    load(
        thread, columns * width, coupling.middle, columns * width - 1,
        [=](int at) {
          return at / width * (width * long{kWarp}) + (at % width - half) * coupling.along;
        },
        [=](int at, double x) { v[at % width * kRow + at / width] = x; });
    for (int at = thread; at < a.column_rows() * kColumns; at += kThreads) {
      const int i = at / kColumns, column = at % kColumns;
      if (i >= width || column >= columns) v[i * kRow + column] = 0.0;
    }
  }
  /// Numbers from where `offset` has them, a few of a thread asked for at once and without a
  /// branch.
  template <class Offset, class Put>
  FL_LANE_HD static void load(int thread, int count, const double* from, int last, Offset offset,
                              Put put) {
    constexpr int kAtOnce = 8;
    for (int begin = thread; begin < count; begin += kAtOnce * kThreads) {
      double found[kAtOnce];
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        const int at = begin + i * kThreads;
        found[i] = from[offset(at < last ? at : last)];
      }
      FL_UNROLL_ALL
      for (int i = 0; i < kAtOnce; ++i) {
        if (begin + i * kThreads < count) put(begin + i * kThreads, found[i]);
      }
    }
  }
  /// L^-1 of a column, in place; `l` begins with the column's first row. What a row takes from
  /// those behind it moves on in registers.
  FL_LANE_HD static void solve(int n, const double* l, double* v) {
    double rest[B + 1];
    FL_UNROLL_ALL
    for (int k = 0; k <= B; ++k) rest[k] = k < n ? v[k * kRow] : 0.0;
    FL_UNROLL_FEW
    for (int i = 0; i < n; ++i) {
      const double x = rest[0];
      v[i * kRow] = x;
      FL_UNROLL_ALL
      for (int k = 1; k <= B; ++k) rest[k - 1] = rest[k] - l[i * kFactor + k - 1] * x;
      rest[B] = i + 1 + B < n ? v[(i + 1 + B) * kRow] : 0.0;
    }
  }
  /// Of a column and the one d bins behind it.
  FL_LANE_HD static double product(int n, int d, const double* v, const double* inv_d) {
    double sum[2] = {0.0, 0.0};
    int i = d;
    FL_NO_UNROLL
    for (; i + 1 < n; i += 2) {
      FL_UNROLL_ALL
      for (int k = 0; k < 2; ++k)
        sum[k] += v[(i + k) * kRow] * v[(i + k - d) * kRow + d] * inv_d[(i + k) * kFactor];
    }
    if (i < n) sum[0] += v[i * kRow] * v[(i - d) * kRow + d] * inv_d[i * kFactor];
    return sum[0] + sum[1];
  }
};

/// Of a lane of a batch of roots.
FL_LANE_HD inline WideTask wide_task_of(long lane, const RootArgs& a) {
  const RootLane p = RootLane::of(lane, a.cut);
  WideTask t{};
  if (p.position >= a.count || !a.state[p.position].trying) return t;
  t.first = a.cut.first(p.window);
  t.matrix = a.s.at(p.position, a.shape.margin + t.first);
  t.shift = a.state[p.position].shift;
  return t;
}
/// As RootFactorKernel, but of the factor nothing is kept. Blocks: lanes.
template <int B>
struct WideProofKernel {
  using Args = RootArgs;
  using Factor = WideFactor<B, 0, B / 8>;
  static constexpr int kThreads = Factor::kThreads;
  static std::size_t shared_bytes(const Args&) {
    return (WideTask::kDoubles + Factor::kShared) * sizeof(double);
  }
  FL_LANE_HD static int phases(const Args& a) { return 2 + Factor::phases(a.cut.rows); }
  FL_LANE_HD static void run(int phase, long lane, int thread, const Args& a, double* shared) {
    WideTask& task = wide_task(shared);
    double* memory = shared + WideTask::kDoubles;
    if (phase == 0) {
      if (thread == 0) task = wide_task_of(lane, a);
      return;
    }
    if (task.matrix == nullptr) return;
    if (phase <= Factor::phases(a.cut.rows)) {
      Factor::run(
          phase - 1, a.cut.rows, thread, memory, task.shift, WideMatrix<B>{task.matrix},
          [](int, int) { return 0.0; }, [](int, int, double) {}, [](int, double, const double*) {});
    } else if (thread == 0) {
      a.pivot[lane] = Factor::definite(memory);
    }
  }
};

/// As RootFactorKernel of S itself and RootAlternateKernel after it. Blocks: lanes.
template <int B>
struct WideAlternateKernel {
  using Args = RootArgs;
  using Factor = WideFactor<B, 1, B / 8>;
  using Back = WideBack<B, 1, false>;
  static constexpr int kThreads = Factor::kThreads;
  static constexpr int kShared = Factor::kShared > Back::kShared ? Factor::kShared : Back::kShared;
  static std::size_t shared_bytes(const Args&) {
    return (WideTask::kDoubles + kShared) * sizeof(double);
  }
  FL_LANE_HD static int phases(const Args& a) {
    return 2 + Factor::phases(a.cut.rows) + Back::phases(a.cut.rows);
  }
  FL_LANE_HD static void run(int phase, long lane, int thread, const Args& a, double* shared) {
    WideTask& task = wide_task(shared);
    double* memory = shared + WideTask::kDoubles;
    if (phase == 0) {
      if (thread == 0) task = wide_task_of(lane, a);
      if (thread == 0) task.l = a.l.alone(lane);
      return;
    }
    if (task.matrix == nullptr) return;
    const int n = a.cut.rows, there = Factor::phases(n);
    double* l = task.l;
    if (phase <= there) {
      const int first = task.first;
      Factor::run(
          phase - 1, n, thread, memory, task.shift, WideMatrix<B>{task.matrix},
          [=](int r, int) { return ((first + r) & 1) != 0 ? -1.0 : 1.0; },
          [=](int j, int k, double f) { l[j * long{Factor::kRow} + k - 1] = f; },
          [=](int j, double inverse, const double* sides) {
            l[j * long{Factor::kRow} + B] = inverse;
            l[j * long{Factor::kRow} + B + 1] = sides[0];
          });
      if (phase == there && thread == 0) a.pivot[lane] = Factor::definite(memory);
    } else if (phase <= there + Back::phases(n)) {
      if (thread >= Back::kThreads) return;
      double* solution = a.solution.at(lane, 0);
      Back::run(
          phase - there - 1, n, thread, memory, l, [](int, int) { return 0.0; }, [](int, auto) {},
          [](int, double) {},
          [&](int j, int, double x, double) {
            const int bin = task.first + j;
            solution[j * long{kWarp}] = x;
            if (bin >= 0 && bin < a.shape.nbin) task.norm = largest(task.norm, absolute(x));
          });
    } else if (thread == 0) {
      a.norm[lane] = task.norm;
    }
  }
};

/// As PoleKernel. Blocks: tasks.
template <int B>
struct WidePoleKernel {
  using Args = PoleArgs;
  using Factor = WideFactor<B, 2, 1>;
  using Back = WideBack<B, 2, true>;
  /// Tasks are many: registers for so many blocks, and no more.
  static constexpr int kBlocks = B < 32 ? 24 : B == 32 ? 12 : B == 48 ? 8 : 5;
  static constexpr int kThreads = Factor::kThreads;
  static constexpr int kShared = Factor::kShared > Back::kShared ? Factor::kShared : Back::kShared;
  static std::size_t shared_bytes(const Args&) {
    return (WideTask::kDoubles + kShared) * sizeof(double);
  }
  FL_LANE_HD static int phases(const Args& a) {
    const int n = a.root.cut.rows;  // of the way back, down to the first row that somebody reads
    return 1 + Factor::phases(n) + Back::phases(n - a.out_first);
  }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    WideTask& task = wide_task(shared);
    double* memory = shared + WideTask::kDoubles;
    if (phase == 0) {
      if (thread == 0) task = find(block, a);
      return;
    }
    const int n = task.rows, there = Factor::phases(a.root.cut.rows);
    double* l = task.l;
    const double *x = task.x, *ones = task.ones;
    if (phase <= there) {
      Factor::run(
          phase - 1, n, thread, memory, task.shift, WideMatrix<B>{task.matrix},
          [=](int r, int i) { return (i == 0 ? ones : x)[r * long{kWarp}]; },
          [=](int j, int k, double f) { l[j * long{Factor::kRow} + k - 1] = f; },
          [=](int j, double inverse, const double* sides) {
            l[j * long{Factor::kRow} + B] = inverse;
            l[j * long{Factor::kRow} + B + 1] = sides[0];
            l[j * long{Factor::kRow} + B + 2] = sides[1];
          });
      return;
    }
    if (phase - there > Back::phases(n - a.out_first)) return;
    // c (I - t (S + t I)^-1), of the rows that somebody reads
    const double c = task.scale, ct = c * task.shift;
    const auto is_wanted = [&](int j) { return j >= a.out_first && j < a.out_first + a.out_rows; };
    double* out = a.out.at(block, 0);
    const int width = a.nd + 3, first = a.out_first, nd = a.nd;
    const auto place = [=](int j, int item) -> double& {
      return out[(static_cast<long>(j - first) * width + item) * kWarp];
    };
    Back::run(
        phase - there - 1, n, thread, memory, l,
        [&](int j, int i) { return (i == 0 ? ones : x)[j * long{kWarp}]; },
        [&](int j, auto entry) {
          if (!is_wanted(j)) return;
          for (int e = thread; e <= nd; e += kThreads) {
            if (e > 0) place(j, e) = -ct * entry(e);
          }
        },
        [&](int j, double own) {
          if (is_wanted(j)) place(j, 0) = c - ct * own;
        },
        [&](int j, int i, double found, double given) {
          if (is_wanted(j)) place(j, nd + 1 + i) = c * given - ct * found;
        });
  }

 private:
  FL_LANE_HD static WideTask find(long block, const Args& a) {
    const PolePlace p = PolePlace::of(block, a);
    const RootArgs& r = a.root;
    const long row = r.shape.margin + r.cut.first(p.window);
    WideTask t{};
    t.matrix = r.s.at(p.position, row);
    t.x = r.x_at(p.position, row);
    t.ones = r.ones_at(p.position, row);
    t.shift = a.t[p.position * kMostPoles + p.pole];
    t.scale = a.c[p.position * kMostPoles + p.pole];
    t.l = a.l.alone(block);
    t.rows = a.rows != nullptr ? a.rows[p.position] : r.cut.rows;
    return t;
  }
};

}  // namespace fiberloom::exact::gpu
