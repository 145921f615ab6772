// SPDX-License-Identifier: BSD-3-Clause
// The algebra of resolution matrices as spectra store them: by diagonals, one matrix a spectrum.
// Sums are taken in double precision, in a fixed order, along the stored rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

/// A banded matrix R [n][n], seen where it lies; T is float or double, const or not. Entry (k, j)
/// is R[j + k - half(), j]: a stored row k is the diagonal of offset half() - k, as DESI's files
/// and scipy's dia_matrix have it. Entries whose row lies outside the matrix may hold anything:
/// nothing here reads them.
template <class T>
struct Banded {
  T* data = nullptr;  ///< [ndiag][n]
  std::size_t ndiag = 0, n = 0;

  T& operator()(std::size_t k, std::size_t j) const noexcept { return data[k * n + j]; }
  [[nodiscard]] T* diagonal(std::size_t k) const noexcept { return data + k * n; }
  [[nodiscard]] std::size_t half() const noexcept { return ndiag / 2; }
  /// Columns [first(k), last(k)) of the stored row k lie inside the matrix.
  [[nodiscard]] std::size_t first(std::size_t k) const noexcept {
    return k < half() ? std::min(half() - k, n) : 0;
  }
  [[nodiscard]] std::size_t last(std::size_t k) const noexcept {
    return k > half() ? n - std::min(k - half(), n) : n;
  }
  operator Banded<const T>() const noexcept requires(!std::is_const_v<T>) {
    return {data, ndiag, n};
  }
};

/// R of spectrum s.
template <class T>
[[nodiscard]] Banded<const T> banded(const Array3D<T>& resolution, std::size_t s) {
  return {&resolution(s, 0, 0), resolution.rows(), resolution.cols()};
}
template <class T>
[[nodiscard]] Banded<T> banded(Array3D<T>& resolution, std::size_t s) {
  return {&resolution(s, 0, 0), resolution.rows(), resolution.cols()};
}
/// A matrix of its own, as the functions here return it.
template <class T>
[[nodiscard]] Banded<const T> banded(const Array2D<T>& diagonals) {
  return {diagonals.data(), diagonals.rows(), diagonals.cols()};
}
template <class T>
[[nodiscard]] Banded<T> banded(Array2D<T>& diagonals) {
  return {diagonals.data(), diagonals.rows(), diagonals.cols()};
}

/// y = R x. O(n ndiag), as all here. x and y [n] are different.
template <class T>
void multiply(Banded<T> r, std::span<const double> x, std::span<double> y) {
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    const T* d = r.diagonal(k);
    for (std::size_t j = r.first(k); j < r.last(k); ++j) {
      y[j + k - r.half()] += static_cast<double>(d[j]) * x[j];
    }
  }
}

/// y = R^T x
template <class T>
void multiply_transposed(Banded<T> r, std::span<const double> x, std::span<double> y) {
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    const T* d = r.diagonal(k);
    for (std::size_t j = r.first(k); j < r.last(k); ++j) {
      y[j] += static_cast<double>(d[j]) * x[j + k - r.half()];
    }
  }
}

/// R 1: how much of a flat spectrum a bin keeps; 1 where nothing is lost to the stored band.
template <class T>
[[nodiscard]] std::vector<double> row_sums(Banded<T> r) {
  const std::vector<double> ones(r.n, 1.0);
  std::vector<double> sums(r.n);
  multiply(r, ones, std::span<double>(sums));
  return sums;
}

/// diag(d) R, in place.
template <class T>
void scale_rows(Banded<T> r, std::span<const double> d) {
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    for (std::size_t j = r.first(k); j < r.last(k); ++j) {
      r(k, j) = static_cast<T>(static_cast<double>(r(k, j)) * d[j + k - r.half()]);
    }
  }
}

/// R diag(d), in place.
template <class T>
void scale_columns(Banded<T> r, std::span<const double> d) {
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    for (std::size_t j = r.first(k); j < r.last(k); ++j) {
      r(k, j) = static_cast<T>(static_cast<double>(r(k, j)) * d[j]);
    }
  }
}

/// R^T in the same layout; entries outside the matrix are 0.
template <class T>
[[nodiscard]] Array2D<std::remove_const_t<T>> transpose(Banded<T> r) {
  Array2D<std::remove_const_t<T>> out(r.ndiag, r.n, std::remove_const_t<T>{});
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    for (std::size_t j = r.first(k); j < r.last(k); ++j) {
      out(r.ndiag - 1 - k, j + k - r.half()) = r(k, j);
    }
  }
  return out;
}

/// One of the matrices that row_weighted_mean() takes, and the weight of each of its rows.
template <class T>
struct RowWeighted {
  Banded<const T> matrix;
  std::span<const double> weight;  ///< [n], not negative
};

/// sum_e diag(w_e / W) R_e with W = sum_e w_e: the resolution of the weighted mean of spectra, of
/// which E[flux] = R true holds exactly. As many diagonals as the widest has; rows of weight 0 are
/// 0. Precondition: there is one at least, and all have the same n.
template <class T>
[[nodiscard]] Array2D<double> row_weighted_mean(std::span<const RowWeighted<T>> all) {
  const std::size_t n = all.front().matrix.n;
  std::size_t ndiag = 0;
  std::vector<double> sum(n, 0.0);
  for (const RowWeighted<T>& one : all) {
    ndiag = std::max(ndiag, one.matrix.ndiag);
    for (std::size_t i = 0; i < n; ++i) sum[i] += one.weight[i];
  }
  Array2D<double> out(ndiag, n, 0.0);
  std::vector<double> share(n);
  for (const RowWeighted<T>& one : all) {
    const Banded<const T>& r = one.matrix;
    for (std::size_t i = 0; i < n; ++i) share[i] = sum[i] > 0 ? one.weight[i] / sum[i] : 0.0;
    for (std::size_t k = 0; k < r.ndiag; ++k) {
      double* to = out.row(k + ndiag / 2 - r.half());
      for (std::size_t j = r.first(k); j < r.last(k); ++j) {
        to[j] += share[j + k - r.half()] * static_cast<double>(r(k, j));
      }
    }
  }
  return out;
}

/// A = R^T diag(w) R, symmetric: (d, j) = A[j + d, j], d = 0 ... ndiag - 1; 0 beyond the end.
template <class T>
[[nodiscard]] Array2D<double> weighted_gram(Banded<T> r, std::span<const double> w) {
  Array2D<double> out(r.ndiag, r.n, 0.0);
  for (std::size_t d = 0; d < r.ndiag; ++d) {
    for (std::size_t k = d; k < r.ndiag; ++k) {  // row i = j + k - half of both columns
      const std::size_t end = std::min(r.last(k), r.n - std::min(d, r.n));
      for (std::size_t j = r.first(k); j < end; ++j) {
        out(d, j) += static_cast<double>(r(k, j)) * w[j + k - r.half()] *
                     static_cast<double>(r(k - d, j + d));
      }
    }
  }
  return out;
}

}  // namespace fiberloom
