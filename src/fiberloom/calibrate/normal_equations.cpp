// SPDX-License-Identifier: BSD-3-Clause
// Sums of R^T W R over fibres, block of wavelengths after block: what a block needs of one fibre
// stays in the nearest cache.
#include <algorithm>

#include "fiberloom/calibrate/deconvolution.hpp"
#include "fiberloom/calibrate/wide_loops.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kBlock = 128;

/// Columns [first, last) of A, U and y, and the rows [first, last) of C: one task's share.
class BlockSums {
 public:
  BlockSums(NormalEquations& out, std::size_t first, std::size_t last)
      : out_(out),
        first_(first),
        last_(last),
        ndiag_(out.a.rows()),
        pitch_(last - first + ndiag_),
        seen_(ndiag_ * pitch_),
        weighted_(ndiag_ * pitch_),
        data_(pitch_),
        loops_(wide_loops(loom::active_isa())),
        c(out.nborder(), out.nborder(), 0.0),
        y_of_b(out.nborder(), 0.0) {
    const std::size_t n = out.n();
    for (std::size_t d = 0; d < ndiag_; ++d) {  // columns j of which j + d is one
      const std::size_t end = std::min(last_, n - std::min(d, n));
      ends_.push_back(end > first_ ? static_cast<long>(end - first_) : 0L);
    }
  }

  void add(const Sighting& f) {
    load(f);
    loops_.gram(view(), ends_.data(), out_.a.data() + first_, static_cast<long>(out_.n()));
    add_right_hand_side(f);
    if (out_.nborder() > 0) add_border(f);
  }

 private:
  NormalEquations& out_;
  std::size_t first_, last_, ndiag_, pitch_;
  std::vector<double> seen_, weighted_;  ///< [ndiag][pitch] of G R T and W G R T
  std::vector<double> data_;  ///< rows that the block's columns reach; 0 outside the matrix
  std::vector<long> ends_;
  const WideLoops& loops_;

 public:
  Array2D<double> c;
  std::vector<double> y_of_b;

 private:
  /// G R T of the block's columns and of the ndiag - 1 after them, zero outside the matrix.
  void load(const Sighting& f) {
    const Banded<const float>& r = f.resolution;
    const std::size_t half = r.half(), end = std::min(last_ + ndiag_ - 1, r.n);
    std::fill(seen_.begin(), seen_.end(), 0.0);
    std::fill(weighted_.begin(), weighted_.end(), 0.0);
    for (std::size_t k = 0; k < r.ndiag; ++k) {
      const std::size_t low = std::max(first_, r.first(k)), high = std::min(end, r.last(k));
      double* seen = seen_.data() + (k + ndiag_ / 2 - half) * pitch_;
      double* weighted = weighted_.data() + (k + ndiag_ / 2 - half) * pitch_;
      if (low >= high) continue;
      const std::size_t row = low + k - half;
      loops_.load(static_cast<long>(high - low), r.diagonal(k) + low, from(f.shape, low),
                  from(f.gain, row), f.weight.data() + row, seen + (low - first_),
                  weighted + (low - first_));
    }
  }
  static const double* from(std::span<const double> s, std::size_t at) {
    return s.empty() ? nullptr : s.data() + at;
  }
  [[nodiscard]] BlockView view() {
    return {static_cast<long>(ndiag_), static_cast<long>(pitch_), static_cast<long>(last_ - first_),
            seen_.data(), weighted_.data()};
  }

  void add_right_hand_side(const Sighting& f) {
    const std::size_t half = ndiag_ / 2, n = f.resolution.n;
    const std::size_t low = first_ > half ? first_ - half : 0, high = std::min(n, last_ + half);
    std::fill(data_.begin(), data_.end(), 0.0);
    std::copy(f.data.begin() + static_cast<std::ptrdiff_t>(low),
              f.data.begin() + static_cast<std::ptrdiff_t>(high),
              data_.begin() + static_cast<std::ptrdiff_t>(low + half - first_));
    loops_.project(view(), data_.data(), out_.y.data() + first_);
  }

  void add_border(const Sighting& f) {
    if (f.border.empty()) return;
    const std::size_t n = f.resolution.n;
    for (std::size_t m = 0; m < out_.nborder(); ++m) {
      const double* b = f.border.data() + m * n;
      double* u = out_.u.row(m);
      for_rows(n, [&](std::size_t k, std::size_t low, std::size_t high) {
        const double* x = weighted_.data() + k * pitch_;
        for (std::size_t j = low; j < high; ++j) u[j] += x[j - first_] * b[j + k - ndiag_ / 2];
      });
      for (std::size_t i = first_; i < last_; ++i) y_of_b[m] += f.weight[i] * b[i] * f.data[i];
      for (std::size_t o = 0; o <= m; ++o) {
        const double* other = f.border.data() + o * n;
        for (std::size_t i = first_; i < last_; ++i) c(m, o) += f.weight[i] * b[i] * other[i];
      }
    }
  }

  /// body(k, low, high): columns [low, high) of the block whose row j + k - half is a row of R.
  template <class Body>
  void for_rows(std::size_t n, Body body) const {
    const std::size_t half = ndiag_ / 2;
    for (std::size_t k = 0; k < ndiag_; ++k) {
      const std::size_t low = std::max(first_, k < half ? half - k : 0);
      const std::size_t high = std::min(last_, k > half ? n - std::min(k - half, n) : n);
      if (low < high) body(k, low, high);
    }
  }
};

void check(std::size_t n, std::size_t nborder, std::span<const Sighting> fibers) {
  for (const Sighting& f : fibers) {
    const auto fits = [&](std::span<const double> s) { return s.empty() || s.size() == n; };
    const bool good = f.resolution.n == n && f.data.size() == n && fits(f.weight) && fits(f.gain) &&
                      fits(f.shape) && f.resolution.ndiag % 2 == 1 &&
                      (f.border.empty() || f.border.size() == n * nborder);
    if (!good) throw Error(Status::kInternal, "deconvolution: a fibre of another shape");
  }
}

}  // namespace

NormalEquations normal_equations(std::size_t n, std::size_t nborder,
                                 std::span<const Sighting> fibers, Executor& executor) {
  check(n, nborder, fibers);
  std::size_t ndiag = 1;
  for (const Sighting& f : fibers) ndiag = std::max(ndiag, f.resolution.ndiag);
  NormalEquations out{Array2D<double>(ndiag, n, 0.0), std::vector<double>(n, 0.0),
                      Array2D<double>(nborder, n, 0.0), Array2D<double>(nborder, nborder, 0.0),
                      std::vector<double>(nborder, 0.0)};
  const std::size_t nblock = (n + kBlock - 1) / kBlock;
  std::vector<Array2D<double>> c(nblock);
  std::vector<std::vector<double>> y_of_b(nblock);
  executor.run(nblock, [&](std::size_t block) {
    BlockSums sums(out, block * kBlock, std::min(n, (block + 1) * kBlock));
    for (const Sighting& f : fibers) {
      if (!f.weight.empty()) sums.add(f);
    }
    c[block] = std::move(sums.c);
    y_of_b[block] = std::move(sums.y_of_b);
  });
  for (std::size_t block = 0; block < nblock; ++block) {
    for (std::size_t m = 0; m < nborder; ++m) {
      out.y_of_b[m] += y_of_b[block][m];
      for (std::size_t o = 0; o <= m; ++o) out.c(m, o) += c[block](m, o);
    }
  }
  for (std::size_t m = 0; m < nborder; ++m) {
    for (std::size_t o = 0; o < m; ++o) out.c(o, m) = out.c(m, o);
  }
  return out;
}

}  // namespace fiberloom::calibrate
