// SPDX-License-Identifier: BSD-3-Clause
// One pole after the other: two solutions, one pair of sweeps.
#include "fiberloom/extract/exact/bundle_root.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/recipe.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom::exact {

namespace {

/// Gershgorin: the largest sum of absolute values of a row of N.
double largest_row_sum(const NormalEquations& n) {
  double largest = 0;
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) {
      double sum = std::abs(n.own(f, 0)[j]);
      for (int d = 1; d <= n.band; ++d)  // zeros beyond the ends
        sum += std::abs(n.own(f, d)[j]) + std::abs(n.own(f, d)[j - d]);
      for (int r = 1; r <= n.reach; ++r) {
        for (int d = -n.cross_band; d <= n.cross_band; ++d) {
          if (f + r < n.nfiber) sum += std::abs(n.cross(r, f, d)[j]);
          if (f - r >= 0) sum += std::abs(n.cross(r, f - r, d)[j - d]);
        }
      }
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

double largest_of(const double* v, std::size_t n) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(v[i]));
  return largest;
}

double norm_of(const double* v, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += v[i] * v[i];
  return std::sqrt(sum);
}

class PoleSums {
 public:
  PoleSums(const BundleRootTask& task, const Windows& windows, const double* x,
           const BandedKernels& banded, const PixelKernels& pixel, NormalEquations& n,
           MarginalWork& sweeps, RootBuffers& root, BundleRootWork& work)
      : task_(task),
        w_(windows),
        banded_(banded),
        pixel_(pixel),
        n_(n),
        sweeps_(sweeps),
        root_(root),
        work_(work),
        size_(static_cast<std::size_t>(n.nfiber) * static_cast<std::size_t>(n.pitch)),
        x_(x),
        ones_(size_, 0.0) {
    for (int f = 0; f < n.nfiber; ++f)
      std::fill_n(ones_.begin() + f * n.pitch + n.margin, n.nbin, 1.0);
    work.rhs.assign(n.rhs_.data(), n.rhs_.data() + size_);
    keep_diagonal(n, work.diagonal);
    work.q1.assign(size_, 0.0);
    work.qx.assign(size_, 0.0);
    const auto rows = static_cast<std::size_t>(windows.rows) * kLanes;
    work.q.assign(static_cast<std::size_t>(n.nfiber) * rows * static_cast<std::size_t>(task.nd + 1),
                  0.0);
    work.zeros.assign(rows, 0.0);
    work.unread.assign(rows, 0.0);
    work.unshifted.resize(rows * static_cast<std::size_t>(task.band + 1));
  }
  PoleSums(const PoleSums&) = delete;
  PoleSums& operator=(const PoleSums&) = delete;
  /// N as it was, also where a stop ends the work.
  ~PoleSums() {
    std::copy(work_.rhs.begin(), work_.rhs.end(), n_.rhs_.data());
    set_diagonal(n_, work_.diagonal);
  }

  BundleRootReport run() {
    BundleRootReport report;
    report.high = largest_row_sum(n_) + task_.shift;
    const double low = std::min(task_.low, 0.9 * report.high);
    const RationalRoot poles = choose_poles(low, report.high, task_.signal, task_.root_tolerance);
    report.poles = static_cast<int>(poles.t.size());
    report.error = poles.error;
    const double brightest = largest_of(x_, size_);
    const double norm_of_x = norm_of(x_, size_), norm_of_ones = norm_of(ones_.data(), size_);
    for (std::size_t k = 0; k < poles.t.size(); ++k) {
      stop_if_asked(task_.observer);
      const double t = poles.t[k], c = poles.c[k];
      set_diagonal(n_, work_.diagonal, t + task_.shift);
      // an error of norm e in a solution is one of at most c t e in a bin of Q x; one of Q 1
      // changes the flux in proportion to it
      const double in_sigma = c * t / std::sqrt(low + t);
      const double share = task_.solve_tolerance / (2 * report.poles) / in_sigma;
      const double floor = 1e-15 / std::sqrt(report.high + t);  // what rounding lets happen
      const double of_x = add_solution(x_, t, c, std::max(share, floor * norm_of_x), work_.qx);
      const double of_ones = add_solution(
          ones_.data(), t, c, std::max(share / (1 + brightest), floor * norm_of_ones), work_.q1);
      report.solve_sigma += in_sigma * (of_x + of_ones * (1 + brightest));
      add_entries(t, c);
    }
    return report;
  }

 private:
  /// sum += c (b - t (N + t)^-1 b); returns sqrt(r^T M^-1 r) of the solution.
  double add_solution(const double* b, double t, double c, double tolerance,
                      std::vector<double>& sum) {
    std::copy_n(b, size_, n_.rhs_.data());
    const SolveReport solved = solve_bundle(n_, banded_, pixel_, tolerance, task_.most_iterations,
                                            task_.observer, work_.solve);
    const double* v = work_.solve.x.data();
    for (std::size_t i = 0; i < size_; ++i) sum[i] += c * (b[i] - t * v[i]);
    return solved.error_sigma;
  }

  void add_entries(double t, double c) {
    double ts[kLanes], cs[kLanes], pivot[kLanes];
    std::fill(ts, ts + kLanes, t);
    std::fill(cs, cs + kLanes, c);
    const std::size_t per_fiber = work_.q.size() / static_cast<std::size_t>(n_.nfiber);
    const long row = (task_.band + 1L) * kLanes;
    const auto use = [&](int f, const double* s) {
      double* own = work_.unshifted.data();  // the kernel adds t itself
      std::copy_n(s, work_.unshifted.size(), own);
      for (int r = 0; r < w_.rows; ++r) {
        for (int i = 0; i < kLanes; ++i) own[r * row + i] -= t;
      }
      const double* zeros = work_.zeros.data();
      banded_.root_pole(task_.band, w_.rows, own, ts, cs, zeros, zeros, task_.nd,
                        {root_.l.data(), root_.inv_d.data(), root_.v1.data(), root_.vx.data()},
                        work_.q.data() + static_cast<std::size_t>(f) * per_fiber,
                        work_.unread.data(), work_.unread.data(), pivot);
    };
    marginal_precisions(n_, task_.sweep_reach, w_, task_.band, banded_, pixel_, task_.sweeps,
                        task_.observer, sweeps_, use);
  }

  const BundleRootTask& task_;
  const Windows& w_;
  const BandedKernels& banded_;
  const PixelKernels& pixel_;
  NormalEquations& n_;
  MarginalWork& sweeps_;
  RootBuffers& root_;
  BundleRootWork& work_;
  std::size_t size_;
  const double* x_;
  std::vector<double> ones_;
};

}  // namespace

BundleRootReport bundle_root(const BundleRootTask& task, const Windows& windows, const double* x,
                             const BandedKernels& banded, const PixelKernels& pixel,
                             NormalEquations& n, MarginalWork& sweeps, RootBuffers& root,
                             BundleRootWork& work) {
  return PoleSums(task, windows, x, banded, pixel, n, sweeps, root, work).run();
}

void load_root(const Windows& w, const BundleRootTask& task, int fiber, const NormalEquations& n,
               const BundleRootWork& work, RootBuffers& root) {
  const std::size_t rows = static_cast<std::size_t>(w.rows) * kLanes;
  const std::size_t per_fiber = rows * static_cast<std::size_t>(task.nd + 1);
  std::copy_n(work.q.data() + static_cast<std::size_t>(fiber) * per_fiber, per_fiber,
              root.q.resize(per_fiber));
  double *q1 = root.q1.resize(rows, 0.0), *qx = root.qx.resize(rows, 0.0);
  unsigned char* drowned = root.drowned.resize(rows, 0);
  for (int row = 0; row < w.rows; ++row) {
    for (int i = 0; i < kLanes; ++i) {
      if (!w.inside(i, row)) continue;
      const auto lane = static_cast<std::size_t>(row * kLanes + i);
      const auto at = static_cast<std::size_t>(fiber * n.pitch + n.margin + w.bin(i, row));
      q1[lane] = work.q1[at];
      qx[lane] = work.qx[at];
      const bool known = task.shift == 0 || task.shift < kMostShift * work.marginal[at];
      drowned[lane] = known ? 0 : 1;
    }
  }
}

}  // namespace fiberloom::exact
