// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/traces/trace_fit.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/median.hpp"

namespace fiberloom {
namespace {

/// Windows beyond so many (robust) standard deviations are left out, in at most so many looks.
constexpr double kStandsOut = 5;
constexpr int kMostLooks = 10;
/// Windows a term, without which scatter says nothing.
constexpr std::size_t kWindowsPerTerm = 2;
/// Median of |z| to a standard deviation, of a Gaussian.
constexpr double kMedianToSigma = 1.4826;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += a[i] * b[i];
  return sum;
}

SmallSolution solve_windows(const std::vector<const TraceWindow*>& used, int degree) {
  const std::size_t n = trace_terms(degree).size();
  Array2D<double> normal(n, n, 0.0);
  std::vector<double> right(n, 0.0);
  for (const TraceWindow* w : used) {
    const std::vector<double> term = trace_term_values(degree, w->u, w->v);
    const double weight = 1 / (w->error * w->error);
    for (std::size_t i = 0; i < n; ++i) {
      right[i] += weight * term[i] * w->value;
      for (std::size_t k = 0; k < n; ++k) normal(i, k) += weight * term[i] * term[k];
    }
  }
  return solve_small(normal, right);
}

/// Standard deviation of the middle of what is left over, at least 1.
double scatter_of(std::vector<double> pulls) {
  for (double& z : pulls) z = std::abs(z);
  return std::max(1.0, kMedianToSigma * upper_median(pulls));
}

bool determined(const TraceFit& fit, int degree) {
  for (const double u : {-1.0, 0.0, 1.0}) {
    for (const double v : {-1.0, 0.0, 1.0}) {
      if (!(trace_error(fit.covariance, trace_term_values(degree, u, v)) <= kMostTraceError))
        return false;
    }
  }
  return true;
}

/// The polynomial of just this degree; none where the windows do not determine it.
TraceFit fit_degree(const std::vector<const TraceWindow*>& seen, int degree) {
  std::vector<const TraceWindow*> used = seen;
  const std::size_t terms = trace_terms(degree).size();
  SmallSolution solved;
  std::vector<double> pulls;
  for (int look = 0; look < kMostLooks; ++look) {
    if (used.size() < kWindowsPerTerm * terms) return {};
    solved = solve_windows(used, degree);
    if (!solved.solvable) return {};
    const auto pull = [&](const TraceWindow& w) {
      return (w.value - dot(solved.x, trace_term_values(degree, w.u, w.v))) / w.error;
    };
    pulls.clear();
    for (const TraceWindow* w : used) pulls.push_back(pull(*w));
    const double most = kStandsOut * scatter_of(pulls);
    std::vector<const TraceWindow*> kept;
    for (const TraceWindow* w : seen) {
      if (std::abs(pull(*w)) <= most) kept.push_back(w);
    }
    if (kept == used || look + 1 == kMostLooks) break;
    used = std::move(kept);
  }
  TraceFit fit;
  fit.degree = degree;
  fit.coef = solved.x;
  fit.windows = used.size();
  fit.dropped = seen.size() - used.size();
  fit.chi2 = dot(pulls, pulls) / static_cast<double>(used.size() - terms);
  fit.covariance = std::move(solved.covariance);
  for (std::size_t i = 0; i < fit.covariance.size(); ++i)
    fit.covariance.data()[i] *= std::max(1.0, fit.chi2);
  return determined(fit, degree) ? fit : TraceFit{};
}

/// The same polynomial among the terms of a higher degree.
TraceFit widened(const TraceFit& fit, int degree) {
  const auto from = trace_terms(fit.degree), to = trace_terms(degree);
  TraceFit out = fit;
  out.coef.assign(to.size(), 0.0);
  out.covariance = Array2D<double>(to.size(), to.size(), 0.0);
  std::vector<std::size_t> place;
  for (const TraceTerm& t : from) {
    const auto at = std::find_if(to.begin(), to.end(), [&](const TraceTerm& other) {
      return other.i == t.i && other.k == t.k;
    });
    place.push_back(static_cast<std::size_t>(at - to.begin()));
  }
  for (std::size_t i = 0; i < place.size(); ++i) {
    out.coef[place[i]] = fit.coef[i];
    for (std::size_t k = 0; k < place.size(); ++k)
      out.covariance(place[i], place[k]) = fit.covariance(i, k);
  }
  return out;
}

}  // namespace

TraceFit fit_windows(const std::vector<TraceWindow>& windows, int degree) {
  std::vector<const TraceWindow*> seen;
  for (const TraceWindow& w : windows) {
    if (w.error > 0 && std::isfinite(w.error) && std::isfinite(w.value)) seen.push_back(&w);
  }
  for (int d = degree; d >= 0; --d) {
    const TraceFit fit = fit_degree(seen, d);
    if (fit.measured()) return widened(fit, degree);
  }
  return {};
}

}  // namespace fiberloom
