// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/small_solve.hpp"

#include <cmath>
#include <utility>

#include "loom/linalg/symmetric_eigen.hpp"

namespace loom {

SmallSolution solve_small(const Array2D<double>& normal, const std::vector<double>& right) {
  // smallest eigenvalue, of a unit diagonal, that is none of rounding
  constexpr double kLeastEigenvalue = 1e-9;
  const std::size_t n = right.size();
  SmallSolution out;
  std::vector<double> scale(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!(normal(i, i) > 0)) return out;
    scale[i] = 1 / std::sqrt(normal(i, i));
  }
  Array2D<double> unit(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) unit(i, k) = normal(i, k) * scale[i] * scale[k];
  }
  const SymmetricEigen eigen = symmetric_eigen(std::move(unit));
  if (!(eigen.values.back() > kLeastEigenvalue)) return out;
  out.covariance = Array2D<double>(n, n, 0.0);
  for (std::size_t e = 0; e < n; ++e) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k)
        out.covariance(i, k) +=
            scale[i] * eigen.vectors(e, i) * eigen.vectors(e, k) * scale[k] / eigen.values[e];
    }
  }
  out.x.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) out.x[i] += out.covariance(i, k) * right[k];
  }
  out.solvable = true;
  return out;
}

}  // namespace loom
