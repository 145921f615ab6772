// SPDX-License-Identifier: BSD-3-Clause
// The redshift of a standard star: cross-chi2 with one model on a logarithmic grid.
#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/running_median.hpp"
#include "fiberloom/calibrate/star_fit.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"

namespace fiberloom::calibrate {
namespace {

/// Data with weights and the model of one camera, where either is, from bin `first` of the
/// logarithmic grid on; divided by their continua.
struct OnLogGrid {
  std::size_t first = 0;
  std::vector<double> data, weight, model;
};

struct LogGrid {
  std::vector<double> wave;
  std::size_t margin = 0;  ///< most shift, bins
  double step = 0;         ///< log10
};

LogGrid log_grid(std::span<const StarSpectrum> cameras, const StarFitOptions& o) {
  double low = 1e5, high = 0;
  for (const StarSpectrum& c : cameras) {
    low = std::min(low, c.wave.front()), high = std::max(high, c.wave.back());
  }
  LogGrid out;
  out.step = std::log10(1 + o.redshift_step);
  out.margin = static_cast<std::size_t>(std::log10(1 + o.most_redshift) / out.step) + 1;
  const double start = std::log10(low);
  const auto n = static_cast<std::size_t>(std::ceil((std::log10(high) - start) / out.step));
  for (std::size_t i = 0; i < n; ++i) {
    out.wave.push_back(std::pow(10, start + out.step * static_cast<double>(i)));
  }
  return out;
}

/// The mean of the data weighted by ivar in each bin, and its weight.
void put_data(const StarSpectrum& c, std::span<const double> bins, OnLogGrid& out) {
  const std::vector<double> wave(c.wave.begin(), c.wave.end());
  const std::vector<double> from = bin_widths(wave),
                            to = bin_widths(std::vector<double>(bins.begin(), bins.end()));
  std::vector<double> product(wave.size()), density(wave.size());
  for (std::size_t i = 0; i < wave.size(); ++i) {
    product[i] = c.flux[i] * c.ivar[i];
    density[i] = c.ivar[i] / from[i];
  }
  const std::vector<double> a = resample_flux(bins, c.wave, product),
                            b = resample_flux(bins, c.wave, c.ivar),
                            v = resample_flux(bins, c.wave, density);
  out.data.resize(bins.size());
  out.weight.resize(bins.size());
  for (std::size_t i = 0; i < bins.size(); ++i) {
    out.data[i] = b[i] > 0 ? a[i] / b[i] : 0;
    out.weight[i] = v[i] * to[i];
  }
}

/// The camera's bins with as many more at both ends as the star may move; R goes on as its outer
/// columns are.
std::vector<double> extended_wave(const StarSpectrum& c, const StarFitOptions& o) {
  const std::size_t n = c.wave.size();
  const double step = c.wave[n - 1] - c.wave[n - 2];
  const auto more = static_cast<std::size_t>(c.wave[n - 1] * o.most_redshift / step + 2);
  std::vector<double> out;
  for (std::size_t i = more; i > 0; --i) {
    out.push_back(c.wave[0] - step * static_cast<double>(i));
  }
  out.insert(out.end(), c.wave.begin(), c.wave.end());
  for (std::size_t i = 1; i <= more; ++i) {
    out.push_back(c.wave[n - 1] + step * static_cast<double>(i));
  }
  return out;
}

std::vector<double> blurred_model(const StarSpectrum& c, std::span<const double> extended,
                                  std::span<const double> model_wave,
                                  std::span<const double> model) {
  const std::size_t n = c.wave.size(), all = extended.size(), more = (all - n) / 2;
  Array2D<float> wide(c.resolution.ndiag, all);
  for (std::size_t k = 0; k < c.resolution.ndiag; ++k) {
    for (std::size_t j = 0; j < all; ++j) {
      const std::size_t i = j < more ? 0 : std::min(n - 1, j - more);
      wide(k, j) = c.resolution(k, i);
    }
  }
  const std::vector<double> sharp = resample_flux(extended, model_wave, model);
  std::vector<double> out(all);
  multiply(banded(std::as_const(wide)), std::span<const double>(sharp), std::span<double>(out));
  return out;
}

/// x / continuum, in place; the continuum.
std::vector<double> divide_by_continuum(std::vector<double>& x) {
  std::vector<double> middle = running_median(x, kContinuumBins);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (middle[i] != 0) x[i] /= middle[i];
  }
  return middle;
}

OnLogGrid put_on(const LogGrid& grid, const StarSpectrum& c, std::span<const double> model_wave,
                 std::span<const double> model, const StarFitOptions& o) {
  const std::vector<double> extended = extended_wave(c, o);
  const double step = extended[1] - extended[0];
  const auto first = std::lower_bound(grid.wave.begin(), grid.wave.end(), extended[0] - 3 * step);
  const auto last = std::upper_bound(first, grid.wave.end(), extended.back() + 3 * step);
  const std::span<const double> bins(first, last);
  OnLogGrid out;
  out.first = static_cast<std::size_t>(first - grid.wave.begin());
  put_data(c, bins, out);
  out.model = resample_flux(bins, extended, blurred_model(c, extended, model_wave, model));
  const std::vector<double> light = divide_by_continuum(out.data),
                            of_model = divide_by_continuum(out.model);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    out.weight[i] *= of_model[i] != 0 ? light[i] * light[i] : 0;
  }
  return out;
}

/// sum w (data - model moved by `shift` bins)^2 over the grid's bins `margin` within its ends.
double chi2_at(const OnLogGrid& c, std::ptrdiff_t shift, std::size_t margin, std::size_t n) {
  const std::size_t begin = std::max(margin, c.first) - c.first,
                    end = std::min(n - margin, c.first + c.data.size());
  const auto size = static_cast<std::ptrdiff_t>(c.model.size());
  double sum = 0;
  for (std::size_t j = begin; j + c.first < end; ++j) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(j) + shift;
    const double model = at >= 0 && at < size ? c.model[static_cast<std::size_t>(at)] : 0;
    const double d = c.data[j] - model;
    sum += c.weight[j] * d * d;
  }
  return sum;
}

}  // namespace

double fit_redshift(std::span<const StarSpectrum> cameras, std::span<const double> model_wave,
                    std::span<const float> model, const StarFitOptions& options) {
  const LogGrid grid = log_grid(cameras, options);
  const std::vector<double> flux(model.begin(), model.end());
  std::vector<OnLogGrid> all;
  for (const StarSpectrum& c : cameras) {
    all.push_back(put_on(grid, c, model_wave, flux, options));
  }
  const auto margin = static_cast<std::ptrdiff_t>(grid.margin);
  if (grid.wave.size() <= 2 * grid.margin) return 0;
  std::ptrdiff_t best = 0;
  double least = -1;
  for (std::ptrdiff_t shift = -margin; shift <= margin; ++shift) {
    double chi2 = 0;
    for (const OnLogGrid& c : all) chi2 += chi2_at(c, shift, grid.margin, grid.wave.size());
    if (least < 0 || chi2 < least) best = shift, least = chi2;
  }
  return std::pow(10, -static_cast<double>(best) * grid.step) - 1;
}

}  // namespace fiberloom::calibrate
