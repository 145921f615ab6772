// SPDX-License-Identifier: BSD-3-Clause
// The kernels of wide bands, a block where narrow ones have a thread: the factor of a sweep, bounds
// on a spectrum, a pole. What the problem of a block is, its first phase finds.
#pragma once

#include "fiberloom/extract/exact/gpu/root_lane.hpp"
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

/// As SweepFactorKernel. Blocks: windows x problems.
template <int B>
struct WideSweepFactorKernel {
  using Args = SweepArgs;
  using Factor = WideFactor<B, 0>;
  static constexpr int kThreads = Factor::kThreads;
  static std::size_t shared_bytes(const Args&) {
    return (WideTask::kDoubles + Factor::kShared) * sizeof(double);
  }
  FL_LANE_HD static int phases(const Args& a) { return 1 + Factor::phases(a.cut.rows); }
  FL_LANE_HD static void run(int phase, long block, int thread, const Args& a, double* shared) {
    WideTask& task = wide_task(shared);
    if (phase == 0) {
      if (thread == 0) task = find(block, a);
      return;
    }
    if (task.matrix == nullptr) return;
    double *l = task.l, *inv_d = task.inv_d;
    const int skirt = a.cut.skirt;
    Factor::run(
        phase - 1, a.cut.rows, thread, shared + WideTask::kDoubles, 0.0, WideMatrix<B>{task.matrix},
        [](int, int) { return 0.0; },
        [=](int j, int k, double f) {
          if (j >= skirt) l[(j * long{B} + k - 1) * kWarp] = f;
        },
        [=](int j, const double*, double inverse) {
          if (j >= skirt) inv_d[j * long{kWarp}] = inverse;
        });
  }

 private:
  FL_LANE_HD static WideTask find(long block, const Args& a) {
    const int problem = static_cast<int>(block % a.problems());
    const int window = static_cast<int>(block / a.problems());
    WideTask t{};
    if (window >= a.cut.count || SweepStep::of(problem, a.step, a).to < 0) return t;
    const long row = a.shape.margin + a.cut.first(window);
    t.matrix = a.matrix.at(a.slot(a.step, problem), row);
    t.l = a.l.at(problem, row);
    t.inv_d = a.inv_d.at(problem, row);
    return t;
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
  using Factor = WideFactor<B, 0>;
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
          [](int, int) { return 0.0; }, [](int, int, double) {}, [](int, const double*, double) {});
    } else if (thread == 0) {
      a.pivot[lane] = Factor::smallest(memory);
    }
  }
};

/// As RootFactorKernel of S itself and RootAlternateKernel after it. Blocks: lanes.
template <int B>
struct WideAlternateKernel {
  using Args = RootArgs;
  using Factor = WideFactor<B, 1>;
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
          [=](int j, const double* u, double inverse) {
            l[j * long{Factor::kRow} + B] = inverse;
            l[j * long{Factor::kRow} + B + 1] = u[B + 1];
          });
      if (phase == there && thread == 0) a.pivot[lane] = Factor::smallest(memory);
    } else if (phase <= there + Back::phases(n)) {
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
  using Factor = WideFactor<B, 2>;
  using Back = WideBack<B, 2, true>;
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
    const int n = a.root.cut.rows, there = Factor::phases(n);
    double* l = task.l;
    const double *x = task.x, *ones = task.ones;
    if (phase <= there) {
      Factor::run(
          phase - 1, n, thread, memory, task.shift, WideMatrix<B>{task.matrix},
          [=](int r, int i) { return (i == 0 ? ones : x)[r * long{kWarp}]; },
          [=](int j, int k, double f) { l[j * long{Factor::kRow} + k - 1] = f; },
          [=](int j, const double* u, double inverse) {
            l[j * long{Factor::kRow} + B] = inverse;
            l[j * long{Factor::kRow} + B + 1] = u[B + 1];
            l[j * long{Factor::kRow} + B + 2] = u[B + 2];
          });
      return;
    }
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
          if (is_wanted(j) && thread >= 1 && thread <= nd) place(j, thread) = -ct * entry(thread);
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
    t.x = r.x.at(r.fiber[p.position], row);
    t.ones = r.ones + row * kWarp + p.position % kWarp;
    t.shift = a.t[p.position * kMostPoles + p.pole];
    t.scale = a.c[p.position * kMostPoles + p.pole];
    t.l = a.l.alone(block);
    return t;
  }
};

}  // namespace fiberloom::exact::gpu
