// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/deconvolution.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/linalg/banded_solver.hpp"

namespace fiberloom::calibrate {
namespace {

/// Of the median diagonal: what is added where rounding has made A indefinite.
constexpr double kRescue = 1e-9;

double median_diagonal(const NormalEquations& e) {
  std::vector<double> positive;
  for (std::size_t j = 0; j < e.n(); ++j) {
    if (e.a(0, j) > 0) positive.push_back(e.a(0, j));
  }
  return positive.empty() ? 0 : median_of(positive);
}

/// A without the bins that nothing is known of: 1 on their diagonal, 0 beside it.
Array2D<double> kept_matrix(const NormalEquations& e, const std::vector<unsigned char>& known,
                            double added) {
  Array2D<double> out = e.a;
  for (std::size_t d = 0; d < out.rows(); ++d) {
    for (std::size_t j = 0; j < e.n(); ++j) {
      const bool both = known[j] != 0 && j + d < e.n() && known[j + d] != 0;
      if (!both) out(d, j) = d == 0 ? 1.0 : 0.0;
    }
  }
  for (std::size_t j = 0; j < e.n(); ++j) {
    if (known[j] != 0) out(0, j) += added;
  }
  return out;
}

void keep_known(std::span<double> row, const std::vector<unsigned char>& known) {
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (known[j] == 0) row[j] = 0;
  }
}

BandedSolver factor(const NormalEquations& e, const std::vector<unsigned char>& known, double ridge,
                    double median) {
  BandedSolver first(kept_matrix(e, known, ridge));
  if (first.positive_definite()) return first;
  BandedSolver second(kept_matrix(e, known, ridge + kRescue * median));
  if (second.positive_definite()) return second;
  throw Error(Status::kNumerical,
              "deconvolved spectrum: its equations are not positive definite, expected weights and "
              "resolutions that are numbers");
}

/// What is left of the border's equations once s has been taken out, solved and inverted: b and
/// V = K^-1 (A^-1 U)^T with S = K K^T.
class Border {
 public:
  Border(const NormalEquations& e, const BandedSolver& a, const std::vector<unsigned char>& known) {
    const std::size_t m = e.nborder();
    through_ = e.u;
    for (std::size_t r = 0; r < m; ++r) {
      const std::span<double> row{through_.row(r), e.n()};
      keep_known(row, known);
      a.solve(row);
    }
    Array2D<double> schur = e.c;
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < m; ++c) {
        for (std::size_t j = 0; j < e.n(); ++j) schur(r, c) -= through_(r, j) * e.u(c, j);
      }
    }
    factor(schur, e.c);
  }

  /// b of S b = rhs; a number that the data do not fix is 0.
  [[nodiscard]] std::vector<double> solve(std::vector<double> rhs) const {
    const std::size_t m = rhs.size();
    for (std::size_t r = 0; r < m; ++r) {
      for (std::size_t c = 0; c < r; ++c) rhs[r] -= k_(r, c) * rhs[c];
      rhs[r] = k_(r, r) > 0 ? rhs[r] / k_(r, r) : 0;
    }
    for (std::size_t r = m; r-- > 0;) {
      for (std::size_t c = r + 1; c < m; ++c) rhs[r] -= k_(c, r) * rhs[c];
      rhs[r] = k_(r, r) > 0 ? rhs[r] / k_(r, r) : 0;
    }
    return rhs;
  }
  /// A^-1 U as rows [nborder][n].
  [[nodiscard]] const Array2D<double>& through() const noexcept { return through_; }
  [[nodiscard]] Array2D<double> covariance_root() const {
    Array2D<double> v = through_;
    for (std::size_t r = 0; r < v.rows(); ++r) {
      for (std::size_t j = 0; j < v.cols(); ++j) {
        for (std::size_t c = 0; c < r; ++c) v(r, j) -= k_(r, c) * v(c, j);
        v(r, j) = k_(r, r) > 0 ? v(r, j) / k_(r, r) : 0;
      }
    }
    return v;
  }

 private:
  /// K; a column whose pivot is rounding alone is 0: the data do not fix it.
  void factor(const Array2D<double>& schur, const Array2D<double>& before) {
    constexpr double kLeast = 1e-12;
    const std::size_t m = schur.rows();
    k_ = Array2D<double>(m, m, 0.0);
    for (std::size_t c = 0; c < m; ++c) {
      double pivot = schur(c, c);
      for (std::size_t i = 0; i < c; ++i) pivot -= k_(c, i) * k_(c, i);
      if (!(pivot > kLeast * before(c, c))) continue;
      k_(c, c) = std::sqrt(pivot);
      for (std::size_t r = c + 1; r < m; ++r) {
        double sum = schur(r, c);
        for (std::size_t i = 0; i < c; ++i) sum -= k_(r, i) * k_(c, i);
        k_(r, c) = sum / k_(c, c);
      }
    }
  }
  Array2D<double> through_, k_;
};

Array2D<double> covariance_of(const Border& border, std::size_t m) {
  Array2D<double> out(m, m, 0.0);
  for (std::size_t c = 0; c < m; ++c) {
    std::vector<double> unit(m, 0.0);
    unit[c] = 1;
    const std::vector<double> column = border.solve(unit);
    for (std::size_t r = 0; r < m; ++r) out(r, c) = column[r];
  }
  return out;
}

}  // namespace

Deconvolved solve(const NormalEquations& e, const SolveOptions& options, WithCovariance with) {
  const std::size_t n = e.n(), m = e.nborder();
  const double median = median_diagonal(e);
  Deconvolved out;
  out.known.assign(n, 0);
  for (std::size_t j = 0; j < n; ++j) {
    const double least = options.least_information * median;
    out.known[j] =
        e.a(0, j) + options.ridge <= least ? 0 : 1;  // what is no number stays: it throws
  }
  const BandedSolver a = factor(e, out.known, options.ridge, median);
  out.value = e.y;
  for (double& y : out.value) y += options.ridge * options.ridge_toward;
  keep_known(out.value, out.known);
  a.solve(out.value);
  const Border border(e, a, out.known);
  std::vector<double> rhs = e.y_of_b;
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t j = 0; j < n; ++j) rhs[r] -= e.u(r, j) * out.value[j];
  }
  out.border = border.solve(std::move(rhs));
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t j = 0; j < n; ++j) out.value[j] -= border.through()(r, j) * out.border[r];
  }
  if (with == WithCovariance::kNo) return out;
  out.border_covariance = covariance_of(border, m);
  out.covariance.band = a.inverse(e.a.rows() - 1);
  for (std::size_t d = 0; d < e.a.rows(); ++d) {
    for (std::size_t j = 0; j < n; ++j) {
      if (out.known[j] == 0 || j + d >= n || out.known[j + d] == 0) out.covariance.band(d, j) = 0;
    }
  }
  out.covariance.through_border = border.covariance_root();
  return out;
}

std::vector<double> variance_through(Banded<const float> r, const Covariance& covariance) {
  const std::size_t n = r.n, half = r.half();
  std::vector<double> out(n, 0.0);
  for (std::size_t d = 0; d < r.ndiag; ++d) {  // R[i, j] R[i, j + d] Cov[j, j + d], both ways
    const double times = d == 0 ? 1 : 2;
    const double* cov = covariance.band.row(d);
    for (std::size_t k = d; k < r.ndiag; ++k) {
      const float* x = r.diagonal(k);
      const float* y = r.diagonal(k - d) + d;
      const std::size_t end = std::min(r.last(k), n - std::min(d, n));
      for (std::size_t j = r.first(k); j < end; ++j) {
        out[j + k - half] += times * static_cast<double>(x[j]) * static_cast<double>(y[j]) * cov[j];
      }
    }
  }
  std::vector<double> seen(n);
  for (std::size_t m = 0; m < covariance.through_border.rows(); ++m) {
    multiply(r, std::span<const double>(covariance.through_border.row(m), n),
             std::span<double>(seen));
    for (std::size_t i = 0; i < n; ++i) out[i] += seen[i] * seen[i];
  }
  return out;
}

}  // namespace fiberloom::calibrate
