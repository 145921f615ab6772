// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on N x = y, all bundles at once, each with its own scalars: a bundle that has
// converged stands still. As in the CPU's solve.cpp every second fibre of a bundle is eliminated;
// each fibre's banded factor is cut into windows whose skirts make them agree to 1e-13.
#pragma once

#include "fiberloom/extract/exact/gpu/factor_lane.hpp"

namespace fiberloom::exact::gpu {

struct CgState {
  SolveProgress progress;
  double step, beta;
  int active;
};

/// Some of the places of CgArgs::fiber: whole packs.
struct Slots {
  int first, count;
};

/// What an ApplyKernel multiplies by, and what becomes of it.
enum class Product {
  kRestOfY,          ///< y - (N - own blocks) from
  kResidual,         ///< y - N from
  kFollow,           ///< -(N - own blocks) from
  kWithOwnDirection  ///< own_p + (N - own blocks) from
};

struct CgArgs {
  Shape shape;
  NormalView n;
  Cut cut;              ///< of the own blocks
  const int* fiber;     ///< Problem::solve_fiber
  const int* step;      ///< [nbundle] every which fibre is iterated
  Slots slots;          ///< fibres of this launch
  Packs l, inv_d;       ///< by place of `fiber` and bin
  Packs work;           ///< lanes (slot pack, window, slot); rows of a window
  Packs x, r, z, p, q;  ///< by bin
  Packs own_p;          ///< own block times p, by bin
  Packs from, to;       ///< what ApplyKernel and OwnSolveKernel read and write
  Product product;
  CgState* state;   ///< [nbundle]
  double* partial;  ///< [nbundle][nbin]
  double tolerance;
  int most_iterations;
};

/// (fibre, window) of a thread; threads: slots x windows. No fibre: -1.
struct WindowLane {
  int fiber, window;
  long slot, lane;
  FL_LANE_HD static WindowLane of(long thread, const CgArgs& a) {
    const long lane = thread + static_cast<long>(a.slots.first) * a.cut.count, rest = lane / kWarp;
    const long slot = rest / a.cut.count * kWarp + lane % kWarp;
    return {a.fiber[slot], static_cast<int>(rest % a.cut.count), slot, lane};
  }
};

/// (fibre, row) of a thread of an active bundle; threads: nbin x slots.
struct CgPlace {
  int fiber = -1;
  long row = 0;
  FL_LANE_HD static CgPlace of(long thread, const CgArgs& a) {
    const long bin = thread / a.slots.count;
    if (bin >= a.shape.nbin) return {};
    const int f = a.fiber[a.slots.first + thread % a.slots.count];
    if (f < 0 || !a.state[a.shape.bundle_of[f]].active) return {};
    return {f, bin + a.shape.margin};
  }
};

/// Own blocks: what windows beyond the ends of the grid read is kept too.
struct OfSolve {
  using Args = CgArgs;
  FL_LANE_HD static int most_rows(const Args& a) { return a.cut.rows; }
  FL_LANE_HD static FactorTask task(long number, const Args& a) {
    const WindowLane w = WindowLane::of(number, a);
    if (w.fiber < 0) return {};
    const long row = a.shape.margin + a.cut.first(w.window);
    const bool is_last = w.window + 1 == a.cut.count;
    return {a.n.own.at(w.fiber, row), a.l.at(w.slot, row), a.inv_d.at(w.slot, row),
            is_last ? a.cut.rows : a.cut.skirt + a.cut.stride, w.window == 0 ? 0 : a.cut.skirt};
  }
};
template <int B>
struct OwnFactorKernel : WindowFactorKernel<B, OfSolve> {};

/// to = (own block)^-1 from.
template <int B>
struct OwnSolveKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const WindowLane w = WindowLane::of(thread, a);
    if (w.fiber < 0 || !a.state[a.shape.bundle_of[w.fiber]].active) return;
    const int first = a.cut.first(w.window);
    const double* from = a.from.at(w.fiber, a.shape.margin + first);
    double* to = a.to.at(w.fiber, a.shape.margin + first);
    const int begin = a.cut.skirt, last = begin + a.cut.stride, over = a.shape.nbin - first;
    const int end = last < over ? last : over;
    lane::solve_somewhere<WarpLane, B>(
        a.cut.rows, a.l.at(w.slot, a.shape.margin + first),
        a.inv_d.at(w.slot, a.shape.margin + first),
        [=](int row) { return WarpLane(from[row * kWarp]); }, a.work.at(w.lane, 0),
        [=](int row, WarpLane x) {
          if (row < end) to[row * kWarp] = x.v;
        },
        begin);
  }
};

/// to = what `product` says.
struct ApplyKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [f, j] = CgPlace::of(thread, a);
    if (f < 0) return;
    double sum = 0;
    if (a.product == Product::kResidual) {
      sum = *a.n.own.at(f, j) * *a.from.at(f, j);
      for (int d = 1; d <= a.shape.band; ++d) {
        sum += *a.n.own.at(f, j, d) * *a.from.at(f, j + d);
        sum += *a.n.own.at(f, j - d, d) * *a.from.at(f, j - d);
      }
    }
    const int cb = a.shape.cross_band;
    for (int r = 1; r <= a.shape.reach; ++r) {
      const bool right = a.shape.neighbours(f, f + r), left = a.shape.neighbours(f, f - r);
      for (int d = -cb; d <= cb; ++d) {
        if (right) sum += *a.n.cross[r - 1].at(f, j, cb + d) * *a.from.at(f + r, j + d);
        if (left) sum += *a.n.cross[r - 1].at(f - r, j - d, cb + d) * *a.from.at(f - r, j - d);
      }
    }
    *a.to.at(f, j) = a.product == Product::kFollow             ? -sum
                     : a.product == Product::kWithOwnDirection ? *a.own_p.at(f, j) + sum
                                                               : *a.n.rhs.at(f, j) - sum;
  }
};

/// partial[bundle][bin] of from . to, of the fibres that are iterated. Threads: nbin x nbundle.
struct DotKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const int bundle = static_cast<int>(thread % a.shape.nbundle);
    const long bin = thread / a.shape.nbundle, j = bin + a.shape.margin;
    if (bin >= a.shape.nbin || !a.state[bundle].active) return;
    double sum = 0;
    FL_UNROLL
    for (int f = a.shape.bundle_first[bundle]; f < a.shape.bundle_first[bundle + 1];
         f += a.step[bundle]) {
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

/// x += step p, of all fibres. Threads: nbin x slots.
struct CgMoveKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [f, j] = CgPlace::of(thread, a);
    if (f >= 0) *a.x.at(f, j) += a.state[a.shape.bundle_of[f]].step * *a.p.at(f, j);
  }
};

/// r -= step q. Threads: nbin x slots.
struct CgResidualKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [f, j] = CgPlace::of(thread, a);
    if (f >= 0) *a.r.at(f, j) -= a.state[a.shape.bundle_of[f]].step * *a.q.at(f, j);
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

/// p = z + beta p, and with it own_p. Threads: nbin x slots.
struct CgDirectionKernel {
  using Args = CgArgs;
  FL_LANE_HD static void run(long thread, const Args& a) {
    const auto [f, j] = CgPlace::of(thread, a);
    if (f < 0) return;
    const double beta = a.state[a.shape.bundle_of[f]].beta;
    *a.p.at(f, j) = *a.z.at(f, j) + beta * *a.p.at(f, j);
    *a.own_p.at(f, j) = *a.r.at(f, j) + beta * *a.own_p.at(f, j);
  }
};

}  // namespace fiberloom::exact::gpu
