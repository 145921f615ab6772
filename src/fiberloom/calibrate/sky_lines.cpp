// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/sky_lines.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "fiberloom/calibrate/medians.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kMostTerms = 4;  // constant, the sky, its shift, its widening
constexpr double kAroundPeakAa = 3;    // of a peak, on either side, that is fitted
constexpr std::size_t kFromEdge = 10;  // bins
constexpr double kWideningAa = 0.3;    // Gaussian that dS/dwidth is taken with
constexpr double kMostChi2 = 2;        // of a peak per degree of freedom, its model good to 5 %
constexpr double kModelShare = 0.05;
constexpr double kShiftError = 0.1, kWidthError = 0.3;  // Angstrom: peaks known worse do not count

using Row = std::array<double, kMostTerms>;
using Matrix = std::array<Row, kMostTerms>;

/// The inverse of the leading n x n of a symmetric matrix, by elimination with the largest pivots.
std::optional<Matrix> inverse(Matrix a, std::size_t n) {
  Matrix b{};
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r) {
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    }
    if (!(std::abs(a[pivot][c]) > 0)) return std::nullopt;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    const double scale = 1 / a[c][c];
    for (std::size_t k = 0; k < n; ++k) a[c][k] *= scale, b[c][k] *= scale;
    for (std::size_t r = 0; r < n; ++r) {
      const double factor = a[r][c];
      if (r == c || factor == 0) continue;
      for (std::size_t k = 0; k < n; ++k) a[r][k] -= factor * a[c][k], b[r][k] -= factor * b[c][k];
    }
  }
  return b;
}

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
    double sum = 0;
    for (const double step : steps_) sum += step;
    step_ = sum / static_cast<double>(steps_.size());
    around_ = static_cast<std::size_t>(kAroundPeakAa / step_) + 1;
    const std::size_t n = sky.wave.size(), edge = std::max(kFromEdge, around_);
    for (const std::size_t peak : peaks_of(mean_sky(sky).level)) {
      if (peak > edge && peak + edge < n) peaks_.push_back(peak);
    }
  }

  [[nodiscard]] std::vector<double> slope(std::size_t s) const {
    return slope_of(sky_.flux.view().row_span(s), steps_);
  }
  [[nodiscard]] std::vector<double> widening(std::size_t s) const {
    return widening_of(sky_.flux.view().row_span(s), step_);
  }

  [[nodiscard]] Measured measure(std::size_t s) const {
    Measured out;
    std::vector<std::span<const double>> terms;
    const std::vector<double> one(sky_.wave.size(), 1.0), slope = this->slope(s),
                                                          wide = widening(s);
    terms.emplace_back(one);
    terms.push_back(sky_.flux.view().row_span(s));
    if (o_.adjust_wavelength) terms.emplace_back(slope);
    if (o_.adjust_lsf) terms.emplace_back(wide);
    for (const std::size_t peak : peaks_) measure_peak(s, peak, terms, out);
    return out;
  }

 private:
  void measure_peak(std::size_t s, std::size_t peak,
                    const std::vector<std::span<const double>>& terms, Measured& out) const {
    const std::size_t count = terms.size(), first = peak - around_, end = peak + around_ + 1;
    Matrix a{};
    Row b{}, x{};
    for (std::size_t i = first; i < end; ++i) {
      const double w = ivar_(s, i);
      if (!(w > 0)) continue;
      for (std::size_t k = 0; k < count; ++k) {
        b[k] += w * terms[k][i] * flux_(s, i);
        for (std::size_t l = 0; l < count; ++l) a[k][l] += w * terms[k][i] * terms[l][i];
      }
    }
    const std::optional<Matrix> covariance = inverse(a, count);
    if (!covariance) return;
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t l = 0; l < count; ++l) x[k] += (*covariance)[k][l] * b[l];
    }
    double chi2 = 0;
    for (std::size_t i = first; i < end; ++i) {
      if (!(ivar_(s, i) > 0)) continue;
      double residual = flux_(s, i);
      for (std::size_t k = 0; k < count; ++k) residual -= x[k] * terms[k][i];
      chi2 += residual * residual / (1 / ivar_(s, i) + std::pow(kModelShare * terms[1][i], 2));
    }
    const double error2_first = (*covariance)[2][2],
                 error2_last = (*covariance)[count - 1][count - 1];
    const auto known = [](double error2, double most) {
      return error2 > 0 && error2 < most * most;
    };
    if (!(chi2 < kMostChi2 * static_cast<double>(end - first - count))) return;
    if (o_.adjust_wavelength && !known(error2_first, kShiftError)) return;
    if (o_.adjust_lsf && !known(error2_last, kWidthError)) return;
    out.wave.push_back(sky_.wave[peak]);
    out.shift.push_back(o_.adjust_wavelength ? x[2] : 0);
    out.width.push_back(o_.adjust_lsf ? x[count - 1] : 0);
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
  if (known.empty()) return out;
  fill_rows(out.shift, known);
  fill_rows(out.width, known);
  executor.run(nspec, [&](std::size_t s) {
    const std::vector<double> slope = fit.slope(s), wide = fit.widening(s);
    for (std::size_t i = 0; i < n; ++i) {
      sky.flux(s, i) += out.shift(s, i) * slope[i] + out.width(s, i) * wide[i];
    }
  });
  return out;
}

}  // namespace fiberloom::calibrate
