// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/psf/trace_report.hpp"

#include <algorithm>
#include <cmath>

namespace fiberloom {

double TraceFit::value(int asked, double u, double v) const {
  if (!measured()) return 0;
  const std::vector<double> term = trace_term_values(asked, u, v);
  double sum = 0;
  for (std::size_t t = 0; t < term.size(); ++t) sum += coef[t] * term[t];
  return sum;
}

double TraceFit::error(int asked, double u, double v) const {
  return measured() ? trace_error(covariance, trace_term_values(asked, u, v)) : 0.0;
}

double trace_error(const Array2D<double>& covariance, const std::vector<double>& term) {
  double sum = 0;
  for (std::size_t i = 0; i < term.size(); ++i) {
    for (std::size_t k = 0; k < term.size(); ++k) sum += term[i] * covariance(i, k) * term[k];
  }
  return std::sqrt(std::max(sum, 0.0));
}

TraceChange TraceReport::change() const {
  TraceChange change;
  change.domain = domain;
  change.degree = std::max(degree, 0);
  for (std::size_t p = 0; p < kTraceParameters; ++p) change.coef[p] = parameters[p].coef;
  return change;
}

}  // namespace fiberloom
