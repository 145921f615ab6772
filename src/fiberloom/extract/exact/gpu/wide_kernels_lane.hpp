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
