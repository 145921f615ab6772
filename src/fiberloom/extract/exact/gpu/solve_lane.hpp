// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on N x = y, all bundles at once, each with its own scalars: a bundle that has
// converged stands still. Preconditioner: each fibre's banded factor, cut into windows whose skirts
// make them agree to 1e-10.
#pragma once

#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "loom/linalg/pole_registers_lane.hpp"

namespace fiberloom::exact::gpu {

struct CgState {
  SolveProgress progress;
  double step, beta;
  int active;
};

struct CgArgs {
  Shape shape;
  NormalView n;
  Cut cut;               ///< of the preconditioner
  Packs l, inv_d, work;  ///< lanes (fibre pack, window, fibre); rows of a window
  Packs x, r, z, p, q;   ///< by bin
  Packs from, to;        ///< what ApplyKernel and PreconditionKernel read and write
  CgState* state;        ///< [nbundle]
  double* partial;       ///< [nbundle][nbin]
  double tolerance;
  int most_iterations;
};

/// (fibre, window) of a thread; threads: padded fibres x windows.
struct WindowLane {
  int fiber, window;
  long lane;
  FL_LANE_HD static WindowLane of(long thread, const Cut& cut) {
    const long rest = thread / kWarp;
    const int window = static_cast<int>(rest % cut.count);
    const int fiber = static_cast<int>(rest / cut.count * kWarp + thread % kWarp);
    return {fiber, window, thread};
  }
};

template <int B>
struct PreconditionFactorKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const WindowLane w = WindowLane::of(thread, a.cut);
    if (w.fiber >= a.shape.nfiber) return;
    lane::factor_somewhere<WarpLane, B>(a.cut.rows,
                                        a.n.own.at(w.fiber, a.shape.margin + a.cut.first(w.window)),
                                        WarpLane(0.0), a.l.at(w.lane, 0), a.inv_d.at(w.lane, 0));
  }
};

/// to = M^-1 from.
template <int B>
struct PreconditionKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const WindowLane w = WindowLane::of(thread, a.cut);
    if (w.fiber >= a.shape.nfiber || !a.state[a.shape.bundle_of[w.fiber]].active) return;
    const int first = a.cut.first(w.window);
    const double* from = a.from.at(w.fiber, a.shape.margin + first);
    double* to = a.to.at(w.fiber, a.shape.margin + first);
    const int begin = a.cut.skirt, last = begin + a.cut.stride, over = a.shape.nbin - first;
    const int end = last < over ? last : over;
    lane::solve_somewhere<WarpLane, B>(
        a.cut.rows, a.l.at(w.lane, 0), a.inv_d.at(w.lane, 0),
        [=](int row) { return WarpLane(from[row * kWarp]); }, a.work.at(w.lane, 0),
        [=](int row, WarpLane x) {
          if (row < end) to[row * kWarp] = x.v;
        },
        begin);
  }
};

/// to = N from. Threads: nbin x padded fibres.
struct ApplyKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.shape.nfiber);
    const int bin = static_cast<int>(thread / pitch), f = static_cast<int>(thread % pitch);
    if (bin >= a.shape.nbin || f >= a.shape.nfiber || !a.state[a.shape.bundle_of[f]].active) return;
    const long j = bin + a.shape.margin;
    double sum = *a.n.own.at(f, j) * *a.from.at(f, j);
    for (int d = 1; d <= a.shape.band; ++d) {
      sum += *a.n.own.at(f, j, d) * *a.from.at(f, j + d);
      sum += *a.n.own.at(f, j - d, d) * *a.from.at(f, j - d);
    }
    const int cb = a.shape.cross_band;
    for (int r = 1; r <= a.shape.reach; ++r) {
      const bool right = a.shape.neighbours(f, f + r), left = a.shape.neighbours(f, f - r);
      for (int d = -cb; d <= cb; ++d) {
        if (right) sum += *a.n.cross[r - 1].at(f, j, cb + d) * *a.from.at(f + r, j + d);
        if (left) sum += *a.n.cross[r - 1].at(f - r, j - d, cb + d) * *a.from.at(f - r, j - d);
      }
    }
    *a.to.at(f, j) = sum;
  }
};

/// partial[bundle][bin] of from . to. Threads: nbin x nbundle.
struct DotKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int bundle = static_cast<int>(thread % a.shape.nbundle);
    const long bin = thread / a.shape.nbundle, j = bin + a.shape.margin;
    if (bin >= a.shape.nbin || !a.state[bundle].active) return;
    double sum = 0;
    FL_UNROLL
    for (int f = a.shape.bundle_first[bundle]; f < a.shape.bundle_first[bundle + 1]; ++f) {
      sum += *a.from.at(f, j) * *a.to.at(f, j);
    }
    a.partial[static_cast<long>(bundle) * a.shape.nbin + bin] = sum;
  }
};

/// What follows from the sum of a bundle's partials, which is always added up in the same order.
/// Blocks: nbundle.
template <class Then>
struct CgSumKernel {
  using Args = CgArgs;
  static constexpr int kThreads = 128;
  static std::size_t shared_bytes(const Args&) { return kThreads * sizeof(double); }
  FL_LANE_HD static int phases(const Args&) { return 2; }
  FL_LANE_HD static void run(int phase, long bundle, int thread, const Args& a, double* shared) {
    if (phase == 0) {
      const double* partial = a.partial + bundle * a.shape.nbin;
      double sum = 0;
      FL_UNROLL
      for (int bin = thread; bin < a.shape.nbin; bin += kThreads) sum += partial[bin];
      shared[thread] = sum;
    } else if (thread == 0) {
      double sum = 0;
      FL_UNROLL
      for (int t = 0; t < kThreads; ++t) sum += shared[t];
      Then::run(a.state[bundle], sum, a);
    }
  }
};

/// All bundles active, before anything. Threads: nbundle.
struct CgActivateKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    if (thread < a.shape.nbundle) a.state[thread] = {SolveProgress{}, 0, 0, 1};
  }
};

/// r = y - q. Threads: nbin x padded fibres.
struct CgResidualKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.shape.nfiber), j = thread / pitch + a.shape.margin;
    const int f = static_cast<int>(thread % pitch);
    if (j >= a.shape.margin + a.shape.nbin || f >= a.shape.nfiber) return;
    *a.r.at(f, j) = *a.n.rhs.at(f, j) - *a.q.at(f, j);
  }
};

/// After the first z: rz, and who needs no iteration.
struct CgBegin {
  FL_LANE_HD static void run(CgState& s, double rz, const CgArgs& a) {
    s.progress = begin_solve(rz);
    s.beta = 0;
    s.active = goes_on(s.progress, a.tolerance, a.most_iterations);
  }
};

/// After q = N p: the step.
struct CgStep {
  FL_LANE_HD static void run(CgState& s, double pq, const CgArgs&) {
    if (!s.active) return;
    if (pq > 0) {
      s.step = s.progress.rz / pq;
    } else {
      s.active = 0;
    }
  }
};

/// x += step p, r -= step q. Threads: nbin x padded fibres.
struct CgUpdateKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.shape.nfiber), j = thread / pitch + a.shape.margin;
    const int f = static_cast<int>(thread % pitch);
    if (j >= a.shape.margin + a.shape.nbin || f >= a.shape.nfiber) return;
    const CgState& s = a.state[a.shape.bundle_of[f]];
    if (!s.active) return;
    *a.x.at(f, j) += s.step * *a.p.at(f, j);
    *a.r.at(f, j) -= s.step * *a.q.at(f, j);
  }
};

/// After z = M^-1 r: beta, and whether to go on.
struct CgNext {
  FL_LANE_HD static void run(CgState& s, double rz, const CgArgs& a) {
    if (!s.active) return;
    s.beta = note_iteration(s.progress, rz);
    s.active = goes_on(s.progress, a.tolerance, a.most_iterations);
  }
};

/// p = z + beta p. Threads: nbin x padded fibres.
struct CgDirectionKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const long pitch = padded(a.shape.nfiber), j = thread / pitch + a.shape.margin;
    const int f = static_cast<int>(thread % pitch);
    if (j >= a.shape.margin + a.shape.nbin || f >= a.shape.nfiber) return;
    const CgState& s = a.state[a.shape.bundle_of[f]];
    if (s.active) *a.p.at(f, j) = *a.z.at(f, j) + s.beta * *a.p.at(f, j);
  }
};

}  // namespace fiberloom::exact::gpu
