// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps. With reach 1 a block is one fibre; where second neighbours matter a block is `reach` fibres,
// their bins interleaved, and each fibre of a block is then marginalised over the others in it.
#include "fiberloom/extract/exact/marginal.hpp"

#include <algorithm>
#include <cmath>

namespace fiberloom::exact {

namespace {

/// Sweeps over single fibres (reach 1).
class FiberSweep {
 public:
  FiberSweep(const NormalEquations& n, const Windows& w, int band, const BandedKernels& k,
             const PixelKernels& pixel, MarginalWork& work)
      : n_(n), w_(w), band_(band), half_(round_up_coupling(n.cross_band)), width_(band + 2 * half_), k_(k), pixel_(pixel), work_(work) {
    const auto rows = static_cast<std::size_t>(w.rows) * kLanes;
    matrix_size_ = rows * static_cast<std::size_t>(band + 1);
    work.precision.resize(matrix_size_);
    work.schur.resize(matrix_size_);
    work.l.resize(rows * static_cast<std::size_t>(band));
    work.inv_d.resize(rows);
    work.inverse.resize(static_cast<std::size_t>(w.rows + width_) * static_cast<std::size_t>(2 * width_ + 1) * kLanes, 0.0);
    work.columns.resize(rows * static_cast<std::size_t>(2 * half_ + 1));
    work.scratch.resize(static_cast<std::size_t>(band + 2 * half_ + 1) * kLanes);
    work.left.resize(matrix_size_ * static_cast<std::size_t>(n.nfiber));
  }

  MarginalReport run(Sweeps sweeps, const std::function<void(int, const double*)>& use) {
    double* left = work_.left.data();
    std::fill(left, left + matrix_size_, 0.0);
    for (int f = 0; f + 1 < n_.nfiber; ++f) {
      double* next = left + static_cast<std::size_t>(f + 1) * matrix_size_;
      if (sweeps == Sweeps::kNone) {
        std::fill(next, next + matrix_size_, 0.0);
        continue;
      }
      load_own(f, work_.precision.data());
      subtract(left + static_cast<std::size_t>(f) * matrix_size_, work_.precision.data());
      eliminate(f, f + 1, next);
    }
    double* right = work_.schur.data();
    std::fill(right, right + matrix_size_, 0.0);
    for (int f = n_.nfiber - 1; f >= 0; --f) {
      double* s = work_.precision.data();
      load_own(f, s);
      subtract(right, s);
      if (f > 0 && sweeps == Sweeps::kBoth) {
        eliminate(f, f - 1, right);
        // `right` now belongs to fibre f - 1; s still holds N_ff minus what lies to the right of f
      }
      subtract(left + static_cast<std::size_t>(f) * matrix_size_, s);
      use(f, s);
    }
    return report_;
  }

 private:
  /// One diagonal, given by bin, into the windows' lanes. Entries that leave the matrix are zeros or never read.
  void interleave(const double* diagonal, long offset, double* out, long stride) const {
    const double* in[kLanes];
    for (int i = 0; i < kLanes; ++i) in[i] = diagonal + w_.bin(std::min(i, w_.count - 1), 0) + offset;
    pixel_.interleave(in, w_.rows, out, stride);
  }

  void load_own(int f, double* m) const {
    const long stride = (band_ + 1L) * kLanes;
    for (int a = 0; a <= n_.band; ++a) interleave(n_.own(f, a), 0, m + a * kLanes, stride);
    for (int row = 0; row < w_.rows; ++row) {
      std::fill(m + row * stride + (n_.band + 1) * kLanes, m + (row + 1) * stride, 0.0);
    }
    // padding: rows before the first and behind the last bin are those of the identity
    for (int i = 0; i < kLanes; ++i) {
      const int before = -w_.bin(i, 0), inside_until = n_.nbin - w_.bin(i, 0);
      for (int row = 0; row < std::min(before, w_.rows); ++row) m[row * stride + i] = 1.0;
      for (int row = std::max(0, inside_until); row < w_.rows; ++row) m[row * stride + i] = 1.0;
    }
  }

  void subtract(const double* e, double* m) const {
    for (std::size_t i = 0; i < matrix_size_; ++i) m[i] -= e[i];
  }

  /// schur = N_(to,from) M^-1 N_(from,to), M being in work_.precision.
  void eliminate(int from, int to, double* schur) {
    const double shift[kLanes] = {};
    double pivot[kLanes];
    k_.factor(band_, w_.rows, work_.precision.data(), shift, work_.l.data(), work_.inv_d.data(), pivot);
    k_.selected_inverse(band_, w_.rows, work_.l.data(), work_.inv_d.data(), width_, work_.inverse.data());
    load_columns(from, to);
    // what lies behind the last row is never written
    std::fill(schur + matrix_size_ - static_cast<std::size_t>(band_ * (band_ + 1) * kLanes), schur + matrix_size_, 0.0);
    k_.congruence(half_, w_.rows, work_.columns.data(), work_.inverse.data(), band_, work_.scratch.data(),
                  schur);
    for (int row = 0; row < w_.rows; ++row) {
      for (int i = 0; i < 2 * kLanes; ++i) {
        report_.edge = std::max(report_.edge, std::abs(schur[(row * (band_ + 1L) + band_ - 1) * kLanes + i]));
      }
    }
  }

  /// columns(m, half + g) = N[(from, m + g), (to, m)].
  void load_columns(int from, int to) {
    double* columns = work_.columns.data();
    const long stride = (2L * half_ + 1) * kLanes;
    for (int g = -half_; g <= half_; ++g) {
      double* out = columns + (half_ + g) * kLanes;
      if (std::abs(g) > n_.cross_band) {
        for (int row = 0; row < w_.rows; ++row) std::fill(out + row * stride, out + row * stride + kLanes, 0.0);
      } else if (from < to) {
        interleave(n_.cross(1, from, -g), g, out, stride);
      } else {
        interleave(n_.cross(1, to, g), 0, out, stride);
      }
    }
  }

  const NormalEquations& n_;
  const Windows& w_;
  int band_, half_, width_;
  const BandedKernels& k_;
  const PixelKernels& pixel_;
  MarginalWork& work_;
  std::size_t matrix_size_ = 0;
  MarginalReport report_;
};

}  // namespace

MarginalReport marginal_precisions(const NormalEquations& n, const Windows& windows, int band,
                                   const BandedKernels& banded, const PixelKernels& pixel,
                                   Sweeps sweeps, MarginalWork& work,
                                   const std::function<void(int, const double*)>& use) {
  return FiberSweep(n, windows, band, banded, pixel, work).run(sweeps, use);
}

}  // namespace fiberloom::exact
