// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/sky_lines.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/medians.hpp"
#include "loom/linalg/small_solve.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr double kAroundPeakAa = 3;    // of a peak, on either side, that is fitted
constexpr std::size_t kFromEdge = 10;  // bins
constexpr double kWideningAa = 0.3;    // Gaussian that dS/dwidth is taken with
constexpr double kMostChi2 = 2;        // of a peak per degree of freedom, its model good to 5 %
constexpr double kModelShare = 0.05;
constexpr double kShiftError = 0.1, kWidthError = 0.3;  // Angstrom: peaks known worse do not count

/// One-sided at the ends.
std::vector<double> differences(std::span<const double> v) {
  const std::size_t n = v.size();
  std::vector<double> out(n, 0.0);
  if (n < 2) return out;
  out[0] = v[1] - v[0];
  out[n - 1] = v[n - 1] - v[n - 2];
  for (std::size_t i = 1; i + 1 < n; ++i) out[i] = (v[i + 1] - v[i - 1]) / 2;
  return out;
}

std::vector<double> slope_of(std::span<const double> light, std::span<const double> steps) {
  std::vector<double> out = differences(light);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] /= steps[i];
  return out;
}

/// What the light changes by, an Angstrom of more width; nothing is beyond its ends.
std::vector<double> widening_of(std::span<const double> light, double step) {
  const double sigma = kWideningAa / step;
  const auto half = static_cast<std::ptrdiff_t>(4 * sigma) + 1;
  std::vector<double> kernel;
  double sum = 0;
  for (std::ptrdiff_t x = -half; x <= half; ++x) {
    kernel.push_back(std::exp(-static_cast<double>(x * x) / (2 * sigma * sigma)));
    sum += kernel.back();
  }
  const auto n = static_cast<std::ptrdiff_t>(light.size());
  std::vector<double> out(light.size());
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    double wide = 0;
    for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(0, i - half); j < std::min(n, i + half + 1);
         ++j) {
      wide += kernel[static_cast<std::size_t>(j - i + half)] * light[static_cast<std::size_t>(j)];
    }
    const auto at = static_cast<std::size_t>(i);
    out[at] = (wide / sum - light[at]) / kWideningAa;
  }
  return out;
}

/// Peaks of one fibre that are well measured.
struct Measured {
  std::vector<double> wave, shift, width;
};

class LineFit {
 public:
  LineFit(const Array2D<double>& flux, const Array2D<double>& ivar, const SkyOptions& options,
          const SkyModel& sky)
      : flux_(flux), ivar_(ivar), o_(options), sky_(sky), steps_(differences(sky.wave)) {
    if (sky.wave.size() < 2 * kFromEdge) return;  // no peak is far enough from both ends
    double sum = 0;
    for (const double step : steps_) sum += step;
    step_ = sum / static_cast<double>(steps_.size());
    around_ = static_cast<std::size_t>(kAroundPeakAa / step_) + 1;
    const std::size_t n = sky.wave.size(), edge = std::max(kFromEdge, around_);
    for (const std::size_t peak : peaks_of(mean_sky(sky).level)) {
      if (peak > edge && peak + edge < n) peaks_.push_back(peak);
    }
  }

  /// What the light of a fibre changes by, an Angstrom of shift and one of width, as far as asked.
  [[nodiscard]] std::vector<std::vector<double>> changes(std::size_t s) const {
    std::vector<std::vector<double>> out;
    const std::span<const double> light = sky_.flux.view().row_span(s);
    if (o_.adjust_wavelength) out.push_back(slope_of(light, steps_));
    if (o_.adjust_lsf) out.push_back(widening_of(light, step_));
    return out;
  }

  [[nodiscard]] Measured measure(std::size_t s) const {
    Measured out;
    if (peaks_.empty()) return out;
    const std::vector<double> one(sky_.wave.size(), 1.0);
    const std::vector<std::vector<double>> changed = changes(s);
    std::vector<std::span<const double>> terms{one, sky_.flux.view().row_span(s)};
    terms.insert(terms.end(), changed.begin(), changed.end());
    for (const std::size_t peak : peaks_) measure_peak(s, peak, terms, out);
    return out;
  }

 private:
  void measure_peak(std::size_t s, std::size_t peak,
                    const std::vector<std::span<const double>>& terms, Measured& out) const {
    const std::size_t count = terms.size(), first = peak - around_, end = peak + around_ + 1;
    Array2D<double> normal(count, count, 0.0);
    std::vector<double> right(count, 0.0);
    for (std::size_t i = first; i < end; ++i) {
      const double w = ivar_(s, i);
      if (!(w > 0)) continue;
      for (std::size_t k = 0; k < count; ++k) {
        right[k] += w * terms[k][i] * flux_(s, i);
        for (std::size_t l = 0; l < count; ++l) normal(k, l) += w * terms[k][i] * terms[l][i];
      }
    }
    const SmallSolution solved = solve_small(normal, right);
    if (!solved.solvable) return;
    double chi2 = 0;
    for (std::size_t i = first; i < end; ++i) {
      if (!(ivar_(s, i) > 0)) continue;
      double residual = flux_(s, i);
      for (std::size_t k = 0; k < count; ++k) residual -= solved.x[k] * terms[k][i];
      chi2 += residual * residual / (1 / ivar_(s, i) + std::pow(kModelShare * terms[1][i], 2));
    }
    if (!(chi2 < kMostChi2 * static_cast<double>(end - first - count))) return;
    const auto known = [&](std::size_t k, double most) {
      return solved.covariance(k, k) > 0 && solved.covariance(k, k) < most * most;
    };
    const std::size_t shift = 2, width = count - 1;  // of the terms, where they are asked for
    if (o_.adjust_wavelength && !known(shift, kShiftError)) return;
    if (o_.adjust_lsf && !known(width, kWidthError)) return;
    out.wave.push_back(sky_.wave[peak]);
    out.shift.push_back(o_.adjust_wavelength ? solved.x[shift] : 0);
    out.width.push_back(o_.adjust_lsf ? solved.x[width] : 0);
  }

  const Array2D<double>& flux_;
  const Array2D<double>& ivar_;
  const SkyOptions& o_;
  const SkyModel& sky_;
  std::vector<double> steps_;
  double step_ = 1;
  std::size_t around_ = 0;
  std::vector<std::size_t> peaks_;
};

/// From rows `known` (increasing) of a matrix to all: straight lines over rows, flat beyond.
void fill_rows(Array2D<double>& m, std::span<const std::size_t> known) {
  const std::vector<double> at(known.begin(), known.end());
  std::vector<double> value(known.size());
  for (std::size_t i = 0; i < m.cols(); ++i) {
    for (std::size_t k = 0; k < known.size(); ++k) value[k] = m(known[k], i);
    for (std::size_t s = 0; s < m.rows(); ++s) {
      m(s, i) = interpolate(at, value, static_cast<double>(s));
    }
  }
}

}  // namespace

MeanSky mean_sky(const SkyModel& sky) {
  const std::size_t n = sky.wave.size();
  MeanSky out{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  for (std::size_t s = 0; s < sky.flux.rows(); ++s) {
    for (std::size_t i = 0; i < n; ++i) out.level[i] += sky.flux(s, i);
  }
  for (double& v : out.level) v /= static_cast<double>(sky.flux.rows());
  for (std::size_t i = 1; i + 1 < n; ++i) {
    out.slope[i] =
        std::abs((out.level[i + 1] - out.level[i - 1]) / (sky.wave[i + 1] - sky.wave[i - 1]));
  }
  return out;
}

std::vector<std::size_t> peaks_of(const std::vector<double>& level) {
  const double highest = *std::max_element(level.begin(), level.end());
  std::vector<std::size_t> out;
  for (std::size_t i = 1; i + 1 < level.size(); ++i) {
    const bool peak = level[i] > level[i + 1] && level[i] > level[i - 1];
    if (peak && level[i] > 0.1 * highest) out.push_back(i);
  }
  return out;
}

SkyAdjustment adjust_lines(const Array2D<double>& flux, const Array2D<double>& ivar,
                           std::span<const std::size_t> fibers, const SkyOptions& options,
                           SkyModel& sky, Executor& executor) {
  const std::size_t nspec = sky.flux.rows(), n = sky.flux.cols();
  const LineFit fit(flux, ivar, options, sky);
  std::vector<Measured> measured(fibers.size());
  executor.run(fibers.size(), [&](std::size_t f) { measured[f] = fit.measure(fibers[f]); });

  SkyAdjustment out{Array2D<double>(nspec, n, 0.0), Array2D<double>(nspec, n, 0.0), 0};
  std::vector<std::size_t> known;
  for (std::size_t f = 0; f < fibers.size(); ++f) {
    const Measured& m = measured[f];
    out.peaks += m.wave.size();
    if (m.wave.empty() && options.unmeasured == UnmeasuredFibers::kLeftOut) continue;
    known.push_back(fibers[f]);
    for (std::size_t i = 0; i < n && !m.wave.empty(); ++i) {
      out.shift(fibers[f], i) = interpolate(m.wave, m.shift, sky.wave[i]);
      out.width(fibers[f], i) = interpolate(m.wave, m.width, sky.wave[i]);
    }
  }
  if (out.peaks == 0) return out;
  fill_rows(out.shift, known);
  fill_rows(out.width, known);
  executor.run(nspec, [&](std::size_t s) {
    const std::vector<std::vector<double>> changed = fit.changes(s);
    for (std::size_t i = 0; i < n; ++i) {
      double more = 0;
      if (options.adjust_wavelength) more += out.shift(s, i) * changed.front()[i];
      if (options.adjust_lsf) more += out.width(s, i) * changed.back()[i];
      sky.flux(s, i) += more;
    }
  });
  return out;
}

}  // namespace fiberloom::calibrate
