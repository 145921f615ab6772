// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/constrained.hpp"

#include "loom/linalg/bounded.hpp"

namespace fiberloom::redshift {

std::vector<double> solve_constrained(Constrained how, const Array2D<double>& m,
                                      std::span<const double> y, std::span<const double> lower,
                                      std::span<const double> upper) {
  if (how == Constrained::kChi2) return bounded_least_squares(m.view(), y, lower, upper).c;
  // the normal equations of the normal equations, whose condition is squared once more
  const std::size_t n = y.size();
  Array2D<double> mm(n, n);
  std::vector<double> my(n);
  for (std::size_t a = 0; a < n; ++a) {
    long double rhs = 0;
    for (std::size_t k = 0; k < n; ++k) rhs += static_cast<long double>(m(k, a)) * y[k];
    my[a] = static_cast<double>(rhs);
    for (std::size_t b = 0; b < n; ++b) {
      long double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += static_cast<long double>(m(k, a)) * m(k, b);
      mm(a, b) = static_cast<double>(sum);
    }
  }
  return bounded_least_squares(mm.view(), my, lower, upper).c;
}

double chi2_gain(const Array2D<double>& m, std::span<const double> y, std::span<const double> c) {
  double gain = 0;
  for (std::size_t a = 0; a < y.size(); ++a) {
    double mc = 0;
    for (std::size_t b = 0; b < y.size(); ++b) mc += m(a, b) * c[b];
    gain += c[a] * (2 * y[a] - mc);
  }
  return gain;
}

}  // namespace fiberloom::redshift
