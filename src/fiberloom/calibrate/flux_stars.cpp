// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/flux_stars.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fiberloom/calibrate/medians.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::calibrate {

std::size_t unpadded(std::size_t j, std::size_t n) noexcept {
  return std::min(n - 1, j < kMargin ? 0 : j - kMargin);
}

std::vector<double> padded_wave(const std::vector<double>& wave) {
  const double step = wave[1] - wave[0];
  std::vector<double> out;
  for (std::size_t i = kMargin; i > 0; --i) out.push_back(wave[0] - static_cast<double>(i) * step);
  out.insert(out.end(), wave.begin(), wave.end());
  for (std::size_t i = 1; i <= kMargin; ++i) {
    out.push_back(wave.back() + static_cast<double>(i) * step);
  }
  return out;
}

void pad_resolution(Banded<const float> r, Banded<float> to) {
  for (std::size_t k = 0; k < r.ndiag; ++k) {
    const float* row = r.diagonal(k);
    float* out = to.diagonal(k);
    std::fill_n(out, kMargin, row[0]);
    std::copy_n(row, r.n, out + kMargin);
    std::fill(out + kMargin + r.n, out + to.n, row[r.n - 1]);
  }
}

PaddedStar padded_star(const Spectra& spectra, const StarModel& from,
                       const std::vector<double>& model_wave, const std::vector<double>& wave,
                       double flat_to_psf) {
  const std::size_t s = from.row, n = spectra.nwave(), padded = wave.size();
  PaddedStar star;
  star.row = s;
  star.resolution = Array2D<float>(spectra.resolution.rows(), padded);
  pad_resolution(banded(spectra.resolution, s), banded(star.resolution));
  const bool used = flat_to_psf > 0;
  for (std::size_t j = 0; j < padded; ++j) {
    const std::size_t i = unpadded(j, n);
    const double f = spectra.flux(s, i), v = spectra.ivar(s, i);
    const bool masked = !spectra.mask.empty() && spectra.mask(s, i) != 0;
    const bool good = used && !masked && v > 0 && std::isfinite(v) && std::isfinite(f);
    star.flux.push_back(std::isfinite(f) ? f * (used ? flat_to_psf : 1) : 0);
    star.given.push_back(good ? v : 0);
  }
  star.ivar = star.given;
  star.model = resample_flux(wave, model_wave, from.flux);
  star.seen.resize(padded);
  multiply(banded(std::as_const(star.resolution)), std::span<const double>(star.model),
           std::span<double>(star.seen));
  return star;
}

double median_snr(std::span<const PaddedStar> stars) {
  std::vector<double> all;
  for (const PaddedStar& star : stars) {
    for (std::size_t j = 0; j < star.flux.size(); ++j) {
      if (star.given[j] > 0) all.push_back(star.flux[j] * std::sqrt(star.given[j]));
    }
  }
  if (all.empty()) {
    throw Error(Status::kNumerical,
                "flux calibration: no standard star with light, expected one at least");
  }
  return median_of(all);
}

std::vector<double> scaled_to_stars(const FluxOptions& options, const std::vector<double>& wave,
                                    std::span<const PaddedStar> stars) {
  const std::size_t n = wave.size();
  const std::vector<double>& given_at = options.average_wave;
  std::vector<double> average(n, 0.0), ratios;
  for (std::size_t j = 0; j < n; ++j) {
    const bool inside = wave[j] >= given_at.front() && wave[j] <= given_at.back();
    if (inside) average[j] = interpolate(given_at, options.average, wave[j]);
  }
  std::vector<double> sorted = average;
  const double half = 0.5 * median_of(sorted);
  for (const PaddedStar& star : stars) {
    const double p = options.flat_to_psf.empty() ? 1 : options.flat_to_psf[star.row];
    for (std::size_t j = 0; j < n; ++j) {
      const double expected = average[j] * star.seen[j] * p;
      if (average[j] > half && expected != 0) ratios.push_back(star.flux[j] / expected);
    }
  }
  constexpr double kLeast = 1e-4;
  const double scale = ratios.empty() ? kLeast : std::max(kLeast, median_of(ratios));
  for (double& c : average) c *= scale;
  return average;
}

void bridge_interstellar(std::span<const double> wave, std::span<double> values) {
  constexpr std::array kLines{3934.77, 3969.59, 5891.58, 5897.56};
  constexpr double kReach = 6;
  const auto place = [&](auto at) { return static_cast<std::size_t>(at - wave.begin()); };
  const auto begin_of = [&](double line) {
    return place(std::lower_bound(wave.begin(), wave.end(), line - kReach));
  };
  for (std::size_t k = 0; k < kLines.size();) {
    const std::size_t begin = begin_of(kLines[k]);
    std::size_t end = begin;
    do {  // lines so near to each other that they are one gap
      end = place(std::upper_bound(wave.begin(), wave.end(), kLines[k] + kReach));
    } while (++k < kLines.size() && begin_of(kLines[k]) <= end);
    if (begin == 0 && end == wave.size()) return;
    for (std::size_t j = begin; j < end; ++j) {
      if (begin == 0 || end == wave.size()) {
        values[j] = values[begin == 0 ? end : begin - 1];
        continue;
      }
      const double t = (wave[j] - wave[begin - 1]) / (wave[end] - wave[begin - 1]);
      values[j] = values[begin - 1] + t * (values[end] - values[begin - 1]);
    }
  }
}

}  // namespace fiberloom::calibrate
