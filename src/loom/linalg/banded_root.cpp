// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/banded_root.hpp"

#include <algorithm>
#include <cmath>

#include "loom/linalg/banded.hpp"
#include "loom/linalg/banded_solver.hpp"
#include "loom/simd/isa.hpp"

namespace loom {
namespace {

BandedRoot empty_root(std::size_t n, std::size_t half) {
  return {Array2D<double>(half + 1, n, 0.0), std::vector<double>(n, 0.0),
          std::vector<double>(n, 0.0)};
}

/// One pole after the other: for bands that no kernel is compiled for.
BandedRoot root_by_poles(const Array2D<double>& a, std::span<const double> y, std::size_t half,
                         const RationalRoot& poles) {
  const std::size_t n = a.cols(), band = a.rows() - 1;
  BandedRoot out = empty_root(n, half);
  for (std::size_t k = 0; k < poles.t.size() && out.definite; ++k) {
    const double t = poles.t[k], c = poles.c[k];
    Array2D<double> shifted = a;
    for (std::size_t j = 0; j < n; ++j) shifted(0, j) += t;
    const BandedSolver solver(shifted);
    out.definite = solver.positive_definite();
    std::vector<double> one(n, 1.0), x(y.begin(), y.end());
    solver.solve(one);
    solver.solve(x);
    const Array2D<double> z = solver.inverse(std::max(half, band));
    for (std::size_t j = 0; j < n; ++j) {
      out.sums[j] += c * (1 - t * one[j]);
      out.along[j] += c * x[j];
      out.q(0, j) += c * (1 - t * z(0, j));
    }
    for (std::size_t d = 1; d <= half; ++d) {
      for (std::size_t j = 0; j + d < n; ++j) out.q(d, j) -= c * t * z(d, j);
    }
  }
  return out;
}

/// The same matrix, ones and y in each lane, another pole in each.
class LanesOfPoles {
 public:
  LanesOfPoles(const Array2D<double>& a, std::span<const double> y, std::size_t half,
               RootSpace& space)
      : n_(a.cols()),
        entries_(half + 1),
        band_(static_cast<std::size_t>(
            round_up_band(static_cast<int>(std::max(a.rows() - 1, half))))) {
    const auto lanes = [&](std::size_t slot, std::size_t of_a_row) {
      return space.get(slot, n_ * of_a_row * kLanes);
    };
    s_ = lanes(0, band_ + 1);
    ones_ = lanes(1, 1);
    y_ = lanes(2, 1);
    work_ = {lanes(3, band_), lanes(4, 1), lanes(5, 1), lanes(6, 1)};
    q_ = lanes(7, entries_);
    sums_ = lanes(8, 1);
    qy_ = lanes(9, 1);
    double* to = s_;
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t d = 0; d <= band_; ++d, to += kLanes) {
        std::fill_n(to, kLanes, d < a.rows() && j + d < n_ ? a(d, j) : 0.0);
      }
    }
    std::fill_n(ones_, n_ * kLanes, 1.0);
    for (std::size_t j = 0; j < n_; ++j) std::fill_n(y_ + j * kLanes, kLanes, y[j]);
    std::fill_n(q_, n_ * entries_ * kLanes, 0.0);
    std::fill_n(sums_, n_ * kLanes, 0.0);
    std::fill_n(qy_, n_ * kLanes, 0.0);
  }

  /// Adds poles [first, first + kLanes); lanes without one weigh nothing.
  void add(const RationalRoot& poles, std::size_t first, BandedRoot& out) {
    double t[kLanes], c[kLanes], pivot[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) {
      const bool there = first + i < poles.t.size();
      t[i] = there ? poles.t[first + i] : poles.t.back();
      c[i] = there ? poles.c[first + i] : 0.0;
    }
    const BandedKernels& kernels = banded_kernels(active_isa());
    const auto band = static_cast<int>(band_), n = static_cast<int>(n_);
    kernels.root_pole(band, n, s_, t, c, ones_, y_, static_cast<int>(entries_) - 1, work_, q_,
                      sums_, qy_, pivot);
    for (int i = 0; i < kLanes; ++i) out.definite = out.definite && pivot[i] > 0;
    // Z y by the factors that are left: what Q y has of it drowns where t is small
    std::copy(y_, y_ + n_ * kLanes, work_.vx);
    kernels.solve(band, n, work_.l, work_.inv_d, work_.vx);
    for (std::size_t j = 0; j < n_; ++j) {
      const double* z = work_.vx + j * kLanes;
      double sum = 0;
      for (int i = 0; i < kLanes; ++i) sum += c[i] * z[i];
      out.along[j] += sum;
    }
  }

  /// What all poles said together, lane after lane.
  void finish(BandedRoot& out) const {
    const auto sum_of = [](const double* lanes) {
      double sum = 0;
      for (int i = 0; i < kLanes; ++i) sum += lanes[i];
      return sum;
    };
    for (std::size_t j = 0; j < n_; ++j) {
      out.sums[j] = sum_of(sums_ + j * kLanes);
      for (std::size_t d = 0; d < entries_ && j + d < n_; ++d) {
        out.q(d, j) = sum_of(q_ + (j * entries_ + d) * kLanes);
      }
      out.definite = out.definite && std::isfinite(out.sums[j]) && std::isfinite(out.q(0, j));
    }
  }

 private:
  std::size_t n_, entries_, band_;
  double *s_, *ones_, *y_, *q_, *sums_, *qy_;
  RootWork work_;
};

}  // namespace

double* RootSpace::get(std::size_t slot, std::size_t n) {
  if (buffers_.size() <= slot) buffers_.resize(slot + 1);
  if (buffers_[slot].size() < n) buffers_[slot] = Buffer<double>(n);
  return buffers_[slot].data();
}

BandedRoot banded_root(const Array2D<double>& a, std::span<const double> y, std::size_t half,
                       const RationalRoot& poles, RootSpace& space) {
  if (std::max(a.rows() - 1, half) > static_cast<std::size_t>(kBands.back())) {
    return root_by_poles(a, y, half, poles);
  }
  BandedRoot out = empty_root(a.cols(), half);
  LanesOfPoles lanes(a, y, half, space);
  for (std::size_t k = 0; k < poles.t.size(); k += kLanes) lanes.add(poles, k, out);
  lanes.finish(out);
  return out;
}

}  // namespace loom
