// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps. With reach 1 a block is one fibre. Where second neighbours matter a block is a
// pair of fibres, their bins interleaved (row 2 j + fibre), so that the chain of blocks stays
// tridiagonal; each fibre of a pair is then marginalised over the other.
#include "fiberloom/extract/exact/marginal.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/stop.hpp"
#include "loom/linalg/congruence_lane.hpp"

namespace fiberloom::exact {

namespace {

class BlockSweep {
 public:
  BlockSweep(const NormalEquations& n, int reach, const Windows& w, int band,
             const BandedKernels& k, const PixelKernels& pixel, const Observer* observer,
             MarginalWork& work, const Pairs& pairs)
      : n_(n),
        w_(w),
        pairs_(pairs),
        fibers_(reach),
        blocks_((n.nfiber - pairs.first + fibers_ - 1) / fibers_),
        rows_(w.rows * fibers_),
        fiber_band_(band),
        band_(fibers_ == 1 ? band : round_up_band(std::min(kBands.back(), 2 * band + 1))),
        half_(round_up_coupling(fibers_ * (n.cross_band + 1) - 1)),
        width_(band_ + 2 * half_),
        k_(k),
        pixel_(pixel),
        observer_(observer),
        work_(work) {
    const auto rows = static_cast<std::size_t>(rows_) * kLanes;
    matrix_size_ = rows * static_cast<std::size_t>(band_ + 1);
    work.precision.resize(matrix_size_);
    work.schur.resize(matrix_size_);
    work.l.resize(rows * static_cast<std::size_t>(band_));
    work.inv_d.resize(rows);
    work.inverse.resize(static_cast<std::size_t>(rows_ + width_) *
                            static_cast<std::size_t>(lane::inverse_row<ScalarLane>(width_)) *
                            kLanes,
                        0.0);
    work.columns.resize(rows * static_cast<std::size_t>(2 * half_ + 1));
    work.scratch.resize(static_cast<std::size_t>(lane::kTogether * (width_ + 1)) * kLanes);
    work.left.resize(matrix_size_ * static_cast<std::size_t>(blocks_));
  }

  void run(Sweeps sweeps, const std::function<void(int, const double*)>& use) {
    double* left = work_.left.data();
    std::fill(left, left + matrix_size_, 0.0);
    for (int b = 0; b + 1 < blocks_; ++b) {
      double* next = left + static_cast<std::size_t>(b + 1) * matrix_size_;
      if (sweeps == Sweeps::kNone) {
        std::fill(next, next + matrix_size_, 0.0);
        continue;
      }
      stop_if_asked(observer_);
      load_own(b, work_.precision.data());
      subtract(left + static_cast<std::size_t>(b) * matrix_size_, work_.precision.data());
      eliminate(b, b + 1, next);
    }
    double* right = work_.schur.data();
    std::fill(right, right + matrix_size_, 0.0);
    for (int b = blocks_ - 1; b >= 0; --b) {
      stop_if_asked(observer_);
      double* s = work_.precision.data();
      load_own(b, s);
      subtract(right, s);
      if (b > 0 && sweeps == Sweeps::kBoth)
        eliminate(b, b - 1, right);  // from here on `right` is block b - 1's
      subtract(left + static_cast<std::size_t>(b) * matrix_size_, s);
      if (fibers_ == 1) {
        use(b, s);
      } else {
        split_pair(b, s, use);
      }
    }
  }

 private:
  /// One diagonal, given by bin, into the windows' lanes. Entries that leave the matrix are zeros
  /// or never read.
  void interleave(const double* diagonal, long offset, double* out, long stride) const {
    const double* in[kLanes];
    for (int i = 0; i < kLanes; ++i) in[i] = diagonal + w_.bin(i, 0) + offset;
    pixel_.interleave(in, w_.rows, out, stride);
  }

  /// Entry of N between bins j and k of two fibres; bins and fibres that do not exist are the
  /// identity's, times the median diagonal.
  [[nodiscard]] double entry(int f, int j, int g, int k) const {
    if (j < 0 || k < 0 || j >= n_.nbin || k >= n_.nbin || !exists(f) || !exists(g)) {
      return f == g && j == k ? n_.scale : 0.0;
    }
    if (f == g)
      return std::abs(j - k) <= n_.band ? n_.own(f, std::abs(j - k))[std::min(j, k)] : 0.0;
    if (std::abs(f - g) > fibers_ || std::abs(j - k) > n_.cross_band) return 0.0;
    return f < g ? n_.cross(g - f, f, k - j)[j] : n_.cross(f - g, g, j - k)[k];
  }
  [[nodiscard]] bool exists(int f) const { return f >= 0 && f < n_.nfiber; }
  /// Fibre of a row of a block.
  [[nodiscard]] int fiber_of(int block, int row) const {
    return pairs_.first + block * fibers_ + row % fibers_;
  }
  /// The same between rows of lane i of two blocks.
  [[nodiscard]] double entry_of_rows(int lane, int block, int row, int other, int other_row) const {
    return entry(fiber_of(block, row), w_.bin(lane, row / fibers_), fiber_of(other, other_row),
                 w_.bin(lane, other_row / fibers_));
  }

  void load_own(int block, double* m) const {
    if (fibers_ == 1) return load_fiber(block, m);
    for (int row = 0; row < rows_; ++row) {
      for (int d = 0; d <= band_; ++d) {
        for (int i = 0; i < kLanes; ++i) {
          m[(row * (band_ + 1L) + d) * kLanes + i] =
              row + d < rows_ ? entry_of_rows(i, block, row, block, row + d) : 0.0;
        }
      }
    }
  }

  void load_fiber(int f, double* m) const {
    const long stride = (band_ + 1L) * kLanes;
    for (int a = 0; a <= n_.band; ++a) interleave(n_.own(f, a), 0, m + a * kLanes, stride);
    for (int row = 0; row < w_.rows; ++row) {
      std::fill(m + row * stride + (n_.band + 1) * kLanes, m + (row + 1) * stride, 0.0);
    }
    // padding: rows before the first and behind the last bin are multiples of the identity's
    for (int i = 0; i < kLanes; ++i) {
      const int before = -w_.bin(i, 0), inside_until = n_.nbin - w_.bin(i, 0);
      for (int row = 0; row < std::min(before, w_.rows); ++row) m[row * stride + i] = n_.scale;
      for (int row = std::max(0, inside_until); row < w_.rows; ++row)
        m[row * stride + i] = n_.scale;
    }
  }

  void subtract(const double* e, double* m) const {
    k_.subtract(static_cast<long>(matrix_size_), e, m);
  }

  /// schur = N_(to,from) M^-1 N_(from,to), M being in work_.precision.
  void eliminate(int from, int to, double* schur) {
    const double shift[kLanes] = {};
    double pivot[kLanes];
    k_.factor(band_, rows_, work_.precision.data(), shift, work_.l.data(), work_.inv_d.data(),
              pivot);
    k_.selected_inverse(band_, rows_, work_.l.data(), work_.inv_d.data(), width_,
                        work_.inverse.data());
    load_columns(from, to);
    // what lies behind the last row is never written
    const auto behind = static_cast<std::size_t>(std::min(band_, rows_) * (band_ + 1) * kLanes);
    std::fill(schur + matrix_size_ - behind, schur + matrix_size_, 0.0);
    k_.congruence(half_, rows_, work_.columns.data(), work_.inverse.data(), band_,
                  work_.scratch.data(), schur);
  }

  /// columns(m, half + g) = N[(from, m + g), (to, m)].
  void load_columns(int from, int to) {
    double* columns = work_.columns.data();
    const long stride = (2L * half_ + 1) * kLanes;
    if (fibers_ > 1) {
      for (int m = 0; m < rows_; ++m) {
        for (int g = -half_; g <= half_; ++g) {
          for (int i = 0; i < kLanes; ++i) {
            const bool there = m + g >= 0 && m + g < rows_;
            columns[m * stride + (half_ + g) * kLanes + i] =
                there ? entry_of_rows(i, from, m + g, to, m) : 0.0;
          }
        }
      }
      return;
    }
    for (int g = -half_; g <= half_; ++g) {
      double* out = columns + (half_ + g) * kLanes;
      if (std::abs(g) > n_.cross_band) {
        for (int row = 0; row < w_.rows; ++row)
          std::fill(out + row * stride, out + row * stride + kLanes, 0.0);
      } else if (from < to) {
        interleave(n_.cross(1, from, -g), g, out, stride);
      } else {
        interleave(n_.cross(1, to, g), 0, out, stride);
      }
    }
  }

  /// S of each fibre of a pair: its own part minus what the other's elimination adds.
  void split_pair(int block, const double* s, const std::function<void(int, const double*)>& use) {
    const int own_band = round_up_band(std::max(band_ / 2, fiber_band_)),
              half = round_up_coupling(band_ / 2);
    const int width = fiber_band_ + 2 * half;
    const auto lanes = static_cast<std::size_t>(w_.rows) * kLanes;
    PairWork& p = work_.pair;
    p.other.resize(lanes * static_cast<std::size_t>(own_band + 1));
    p.columns.resize(lanes * static_cast<std::size_t>(2 * half + 1));
    p.l.resize(lanes * static_cast<std::size_t>(own_band));
    p.inv_d.resize(lanes);
    p.inverse.resize(
        static_cast<std::size_t>((w_.rows + width) * lane::inverse_row<ScalarLane>(width)) * kLanes,
        0.0);
    p.scratch.resize(static_cast<std::size_t>(lane::kTogether * (width + 1)) * kLanes);
    p.schur.resize(lanes * static_cast<std::size_t>(fiber_band_ + 1), 0.0);
    p.result.resize(lanes * static_cast<std::size_t>(fiber_band_ + 1));
    const auto pair_entry = [&](int a, int j, int b, int k, int lane) {
      const int first = 2 * j + a, second = 2 * k + b, low = std::min(first, second),
                gap = std::abs(first - second);
      const bool there = j >= 0 && k >= 0 && j < w_.rows && k < w_.rows && gap <= band_;
      return there ? s[(low * (band_ + 1L) + gap) * kLanes + lane] : 0.0;
    };
    for (int a = 1; a >= 0; --a) {
      const int f = fiber_of(block, a), b = 1 - a;
      if (!exists(f)) continue;
      for (int j = 0; j < w_.rows; ++j) {
        for (int i = 0; i < kLanes; ++i) {
          for (int d = 0; d <= own_band; ++d) {
            p.other[static_cast<std::size_t>((j * (own_band + 1) + d) * kLanes + i)] =
                pair_entry(b, j, b, j + d, i);
          }
          for (int g = -half; g <= half; ++g) {
            p.columns[static_cast<std::size_t>((j * (2 * half + 1) + half + g) * kLanes + i)] =
                pair_entry(b, j + g, a, j, i);
          }
        }
      }
      const double shift[kLanes] = {};
      double pivot[kLanes];
      k_.factor(own_band, w_.rows, p.other.data(), shift, p.l.data(), p.inv_d.data(), pivot);
      k_.selected_inverse(own_band, w_.rows, p.l.data(), p.inv_d.data(), width, p.inverse.data());
      k_.congruence(half, w_.rows, p.columns.data(), p.inverse.data(), fiber_band_,
                    p.scratch.data(), p.schur.data());
      for (int j = 0; j < w_.rows; ++j) {
        for (int d = 0; d <= fiber_band_; ++d) {
          for (int i = 0; i < kLanes; ++i) {
            const auto at = static_cast<std::size_t>((j * (fiber_band_ + 1) + d) * kLanes + i);
            p.result[at] = pair_entry(a, j, a, j + d, i) - p.schur[at];
          }
        }
      }
      use(f, p.result.data());
    }
    tell_coupling(block, s);
  }

  /// What is left of the coupling of a pair.
  void tell_coupling(int block, const double* s) {
    const int first = fiber_of(block, 0);
    if (!pairs_.use || !exists(first) || !exists(first + 1)) return;
    const int reach = (band_ + 1) / 2;
    double* data = work_.pair.coupling.resize(static_cast<std::size_t>(w_.rows) * kLanes *
                                              static_cast<std::size_t>(2 * reach + 1));
    const Band<double> coupling{data, reach, 2 * reach + 1};
    for (int j = 0; j < w_.rows; ++j) {
      for (int d = -reach; d <= reach; ++d) {
        const int row = 2 * j, column = 2 * (j + d) + 1, gap = std::abs(column - row);
        const bool there = j + d >= 0 && j + d < w_.rows && gap <= band_;
        const double* entry =
            s + (there ? (std::min(row, column) * (band_ + 1L) + gap) * kLanes : 0);
        for (int i = 0; i < kLanes; ++i) coupling.at(j, d)[i] = there ? entry[i] : 0.0;
      }
    }
    pairs_.use(first, {coupling.data, coupling.width, coupling.step});
  }

  const NormalEquations& n_;
  const Windows& w_;
  const Pairs& pairs_;
  int fibers_, blocks_, rows_;  // of a block: fibres in it; blocks; rows of a block's window
  int fiber_band_, band_, half_,
      width_;  // band of S, of a block; half-width of couplings; of the inverse
  const BandedKernels& k_;
  const PixelKernels& pixel_;
  const Observer* observer_;
  MarginalWork& work_;
  std::size_t matrix_size_ = 0;
};

}  // namespace

void marginal_precisions(const NormalEquations& n, int reach, const Windows& windows, int band,
                         const BandedKernels& banded, const PixelKernels& pixel, Sweeps sweeps,
                         const Observer* observer, MarginalWork& work,
                         const std::function<void(int, const double*)>& use, const Pairs& pairs) {
  BlockSweep(n, reach, windows, band, banded, pixel, observer, work, pairs).run(sweeps, use);
}

}  // namespace fiberloom::exact
