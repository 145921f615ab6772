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
  FiberSweep(const NormalEquations& n, const Windows& w, int band, const BandedKernels& k, MarginalWork& work)
      : n_(n), w_(w), band_(band), half_(n.cross_band), width_(band + 2 * n.cross_band), k_(k), work_(work) {
    const auto rows = static_cast<std::size_t>(w.rows) * kLanes;
    matrix_size_ = rows * static_cast<std::size_t>(band + 1);
    work.precision.resize(matrix_size_);
    work.schur.resize(matrix_size_);
    work.l.resize(rows * static_cast<std::size_t>(band));
    work.inv_d.resize(rows);
    work.inverse.resize(static_cast<std::size_t>(w.rows + width_) * static_cast<std::size_t>(width_ + 1) * kLanes, 0.0);
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
  void load_own(int f, double* m) const {
    std::fill(m, m + matrix_size_, 0.0);
    for (int i = 0; i < kLanes; ++i) {
      for (int a = 0; a <= n_.band; ++a) {
        const double* in = n_.own(f, a);
        double* out = m + a * kLanes + i;
        for (int row = 0; row < w_.rows; ++row) {
          const int j = w_.bin(i, row);
          if (!w_.inside(i, row)) {
            if (a == 0) out[row * (band_ + 1L) * kLanes] = 1.0;
          } else if (row + a < w_.rows) {
            out[row * (band_ + 1L) * kLanes] = in[j];
          }
        }
      }
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
    std::fill(schur, schur + matrix_size_, 0.0);
    k_.congruence(w_.rows, half_, work_.columns.data(), width_, work_.inverse.data(), band_,
                  work_.scratch.data(), schur);
    for (int row = 0; row < w_.rows; ++row) {
      for (int i = 0; i < 2 * kLanes; ++i) {
        report_.edge = std::max(report_.edge, std::abs(schur[(row * (band_ + 1L) + band_ - 1) * kLanes + i]));
      }
    }
  }

  /// columns(m, half + g) = N[(from, m + g), (to, m)].
  void load_columns(int from, int to) {
    double* columns = work_.columns.data();
    const long row_size = (2L * half_ + 1) * kLanes;
    for (int i = 0; i < kLanes; ++i) {
      for (int g = -half_; g <= half_; ++g) {
        double* out = columns + (half_ + g) * kLanes + i;
        for (int row = 0; row < w_.rows; ++row) {
          const int m = w_.bin(i, row);
          double value = 0.0;
          if (w_.inside(i, row) && row + g >= 0 && row + g < w_.rows && m + g >= 0 && m + g < n_.nbin) {
            value = from < to ? n_.cross(1, from, -g)[m + g] : n_.cross(1, to, g)[m];
          }
          out[row * row_size] = value;
        }
      }
    }
  }

  const NormalEquations& n_;
  const Windows& w_;
  int band_, half_, width_;
  const BandedKernels& k_;
  MarginalWork& work_;
  std::size_t matrix_size_ = 0;
  MarginalReport report_;
};

}  // namespace

MarginalReport marginal_precisions(const NormalEquations& n, const Windows& windows, int band,
                                   const BandedKernels& banded, Sweeps sweeps, MarginalWork& work,
                                   const std::function<void(int, const double*)>& use) {
  return FiberSweep(n, windows, band, banded, work).run(sweeps, use);
}

}  // namespace fiberloom::exact
