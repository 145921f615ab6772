// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/psf/trace_change.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

std::vector<double> legendre_values(int degree, double u) {
  std::vector<double> p(static_cast<std::size_t>(degree) + 1, 1.0);
  if (degree > 0) p[1] = u;
  for (std::size_t k = 2; k < p.size(); ++k) {
    const auto n = static_cast<double>(k);
    p[k] = ((2 * n - 1) * u * p[k - 1] - (n - 1) * p[k - 2]) / n;
  }
  return p;
}

/// (scale u + shift) times a Legendre series in u.
std::vector<double> times_linear(const std::vector<double>& series, double scale, double shift) {
  std::vector<double> out(series.size() + 1, 0.0);
  for (std::size_t k = 0; k < series.size(); ++k) {
    const auto n = static_cast<double>(k);
    out[k] += shift * series[k];
    out[k + 1] += scale * series[k] * (n + 1) / (2 * n + 1);
    if (k > 0) out[k - 1] += scale * series[k] * n / (2 * n + 1);
  }
  return out;
}

/// P_0 ... P_degree of (scale u + shift), each as a Legendre series in u.
std::vector<std::vector<double>> legendre_of_linear(int degree, double scale, double shift) {
  std::vector<std::vector<double>> p{{1.0}};
  for (int k = 1; k <= degree; ++k) {
    std::vector<double> next = times_linear(p.back(), scale, shift);
    for (double& c : next) c *= (2.0 * k - 1) / k;
    if (k > 1) {
      const std::vector<double>& before = p[static_cast<std::size_t>(k) - 2];
      for (std::size_t i = 0; i < before.size(); ++i) next[i] -= (k - 1.0) / k * before[i];
    }
    p.push_back(std::move(next));
  }
  return p;
}

/// Whether a fibre has the parameter that changes: one without a spot must not get one.
bool has_parameter(const PsfModel& psf, TraceParameter parameter, double wave_aa, std::size_t f) {
  if (parameter == TraceParameter::kX || parameter == TraceParameter::kY) return true;
  return psf.sigma_x(f, wave_aa) >= kLeastSigma && psf.sigma_y(f, wave_aa) >= kLeastSigma;
}

void add_change(const TraceChange& change, TraceParameter parameter, const PsfModel& psf,
                LegendreSeries& series) {
  const std::vector<double>& coef = change.coef[static_cast<std::size_t>(parameter)];
  const double middle = 0.5 * (change.domain.wave_first_aa + change.domain.wave_last_aa);
  const auto most = static_cast<std::size_t>(change.degree) + 1;
  if (series.coef.cols() < most) {
    Array2D<double> wider(series.coef.rows(), most, 0.0);
    for (std::size_t f = 0; f < wider.rows(); ++f)
      std::copy_n(series.coef.row(f), series.coef.cols(), wider.row(f));
    series.coef = std::move(wider);
  }
  // v of the change as a function of the series' own u
  const double last = wave_place(change.domain, series.wave_max),
               first = wave_place(change.domain, series.wave_min);
  const auto basis = legendre_of_linear(change.degree, 0.5 * (last - first), 0.5 * (last + first));
  const std::vector<TraceTerm> terms = trace_terms(change.degree);
  for (std::size_t f = 0; f < series.coef.rows(); ++f) {
    const double place = fiber_place(change.domain, psf, f);
    if (!std::isfinite(place) || !has_parameter(psf, parameter, middle, f)) continue;
    const std::vector<double> p = legendre_values(change.degree, place);
    for (std::size_t t = 0; t < terms.size(); ++t) {
      const double factor = coef[t] * p[static_cast<std::size_t>(terms[t].i)];
      const std::vector<double>& of_wave = basis[static_cast<std::size_t>(terms[t].k)];
      for (std::size_t k = 0; k < of_wave.size(); ++k) series.coef(f, k) += factor * of_wave[k];
    }
  }
}

}  // namespace

LegendreSeries& series_of(PsfModel& psf, TraceParameter parameter) noexcept {
  switch (parameter) {
    case TraceParameter::kX:
      return psf.x;
    case TraceParameter::kY:
      return psf.y;
    case TraceParameter::kSigmaX:
      return psf.sigma_x;
    case TraceParameter::kSigmaY:
      break;
  }
  return psf.sigma_y;
}

double fiber_place(const TraceDomain& domain, const PsfModel& psf, std::size_t fiber) {
  const double x = psf.x(fiber, 0.5 * (domain.wave_first_aa + domain.wave_last_aa));
  const double width = domain.x_last - domain.x_first;
  if (!std::isfinite(x) || !(width > 0)) return std::isfinite(x) ? 0.0 : x;
  return std::clamp(2 * (x - domain.x_first) / width - 1, -1.0, 1.0);
}

double wave_place(const TraceDomain& domain, double wave_aa) noexcept {
  const double width = domain.wave_last_aa - domain.wave_first_aa;
  return width > 0 ? 2 * (wave_aa - domain.wave_first_aa) / width - 1 : 0.0;
}

std::vector<TraceTerm> trace_terms(int degree) {
  std::vector<TraceTerm> terms;
  for (int i = 0; i <= degree; ++i) {
    for (int k = 0; i + k <= degree; ++k) terms.push_back({i, k});
  }
  return terms;
}

std::vector<double> trace_term_values(int degree, double u, double v) {
  const std::vector<double> pu = legendre_values(degree, u), pv = legendre_values(degree, v);
  std::vector<double> values;
  for (const TraceTerm& t : trace_terms(degree))
    values.push_back(pu[static_cast<std::size_t>(t.i)] * pv[static_cast<std::size_t>(t.k)]);
  return values;
}

PsfModel changed_psf(const PsfModel& psf, const TraceChange& change) {
  PsfModel out = psf;
  for (std::size_t p = 0; p < kTraceParameters; ++p) {
    if (change.coef[p].empty()) continue;
    if (psf.shape && p >= static_cast<std::size_t>(TraceParameter::kSigmaX)) {
      throw Error(Status::kUnsupported, std::string("a PSF of kind ") + psf.shape->kind() +
                                            " has no widths that could change, only "
                                            "GAUSS-HERMITE has");
    }
    const auto parameter = static_cast<TraceParameter>(p);
    add_change(change, parameter, psf, series_of(out, parameter));
  }
  return out;
}

}  // namespace fiberloom
