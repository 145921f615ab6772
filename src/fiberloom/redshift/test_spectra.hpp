// SPDX-License-Identifier: BSD-3-Clause
// For tests: a small template and spectra of known redshift made from it without the code that is
// tested. Two cameras that overlap, a resolution that varies, 7 diagonals.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/template.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::redshift::test {

/// A continuum and `nbasis` - 1 sets of narrow lines, 2500-6500 Angstrom.
inline Template line_template(std::size_t nbasis = 3, std::uint64_t seed = 1) {
  Template t;
  t.spectype = "GALAXY";
  t.subtype = "TEST";
  constexpr std::size_t kPoints = 8001;
  for (std::size_t k = 0; k < kPoints; ++k) t.wave.push_back(2500 + 0.5 * static_cast<double>(k));
  t.flux = Array2D<double>(nbasis, kPoints, 0.0);
  const CounterRng rng(seed, 1);
  for (std::size_t a = 0; a < nbasis; ++a) {
    for (std::size_t k = 0; k < kPoints; ++k) {
      t.flux(a, k) = a == 0 ? 1 + 0.3 * std::sin(t.wave[k] / 300) : 0;
    }
    for (std::size_t line = 0; line < 60 && a > 0; ++line) {
      const auto u = rng.uniform2(1000 * a + line);
      const double middle = 2500 + 4000 * u[0], height = 0.5 + u[1];
      for (std::size_t k = 0; k < kPoints; ++k) {
        const double d = (t.wave[k] - middle) / 2.5;
        if (std::abs(d) < 8) t.flux(a, k) += height * std::exp(-0.5 * d * d);
      }
    }
  }
  for (double z = 0.0; z < 0.2; z += 0.0008) t.redshifts.push_back(z);
  return t;
}

/// What CameraView looks at.
struct Spectrum {
  std::vector<double> wave, flux, ivar, resolution;
  std::vector<std::uint32_t> mask;
  std::size_t ndiag = 0;
  [[nodiscard]] CameraView view() const {
    return {wave, std::span(flux), std::span(ivar), mask, std::span(resolution), ndiag};
  }
};

/// Rows of a Gaussian whose width (pixels) grows along the spectrum, in DESI's layout.
inline std::vector<double> gaussian_resolution(std::size_t n, std::size_t ndiag, double sigma) {
  std::vector<double> out(ndiag * n, 0.0);
  const auto half = static_cast<long>(ndiag / 2), size = static_cast<long>(n);
  for (long row = 0; row < size; ++row) {
    const double width = sigma * (1 + 0.3 * static_cast<double>(row) / static_cast<double>(n));
    double sum = 0;
    for (long d = -half; d <= half; ++d) {
      sum += std::exp(-0.5 * static_cast<double>(d * d) / width / width);
    }
    for (long d = -half; d <= half; ++d) {
      const long column = row + d;
      if (column < 0 || column >= size) continue;
      out[static_cast<std::size_t>((half - d) * size + column)] =
          std::exp(-0.5 * static_cast<double>(d * d) / width / width) / sum;
    }
  }
  return out;
}

/// Element (row, column) of R from DESI's layout.
inline double resolution_at(const Spectrum& s, long row, long column) {
  const auto half = static_cast<long>(s.ndiag / 2), n = static_cast<long>(s.wave.size());
  const long k = half - (column - row);
  if (k < 0 || k >= static_cast<long>(s.ndiag) || column < 0 || column >= n) return 0;
  return s.resolution[static_cast<std::size_t>(k * n + column)];
}

/// The template's vector at x, linear between its wavelengths.
inline double value_at(const Template& t, std::size_t a, double x) {
  const auto above = std::upper_bound(t.wave.begin(), t.wave.end(), x);
  const auto k = static_cast<std::size_t>(
      std::clamp<long>(above - t.wave.begin() - 1, 0, static_cast<long>(t.wave.size()) - 2));
  const double u = (x - t.wave[k]) / (t.wave[k + 1] - t.wave[k]);
  return t.flux(a, k) + u * (t.flux(a, k + 1) - t.flux(a, k));
}

/// Mean over [low, high] (observed) of vector a at redshift z: exact, since the two-point rule is
/// for what is linear between the knots.
inline double mean_over(const Template& t, std::size_t a, double z, double low, double high) {
  const double x0 = low / (1 + z), x1 = high / (1 + z);
  std::vector<double> knots{x0};
  for (auto w = std::upper_bound(t.wave.begin(), t.wave.end(), x0); w != t.wave.end() && *w < x1;
       ++w) {
    knots.push_back(*w);
  }
  knots.push_back(x1);
  double sum = 0;
  for (std::size_t k = 0; k + 1 < knots.size(); ++k) {
    const double middle = 0.5 * (knots[k] + knots[k + 1]);
    sum += value_at(t, a, middle) * (knots[k + 1] - knots[k]);
  }
  return sum / (x1 - x0);
}

/// One camera: R times the mean of the template over each pixel, noise of `ivar`.
inline Spectrum make_spectrum(const Template& t, std::span<const double> coefficients, double z,
                              double first, std::size_t n, double ivar, std::uint64_t seed,
                              double sigma = 1.1) {
  Spectrum s;
  s.ndiag = 7;
  for (std::size_t i = 0; i < n; ++i) s.wave.push_back(first + static_cast<double>(i));
  s.resolution = gaussian_resolution(n, s.ndiag, sigma);
  s.ivar.assign(n, ivar);
  std::vector<double> sharp(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t a = 0; a < coefficients.size(); ++a) {
      sharp[i] += coefficients[a] * mean_over(t, a, z, s.wave[i] - 0.5, s.wave[i] + 0.5);
    }
  }
  const CounterRng rng(seed, static_cast<std::uint64_t>(first));
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = static_cast<long>(i);
    double sum = rng.normal(i) / std::sqrt(ivar);
    for (long column = std::max(row - 3, 0L); column <= std::min(row + 3, static_cast<long>(n) - 1);
         ++column) {
      sum += resolution_at(s, row, column) * sharp[static_cast<std::size_t>(column)];
    }
    s.flux.push_back(sum);
  }
  return s;
}

/// A target with two cameras, 4000-4301 and 4250-4553 Angstrom.
struct Target {
  std::int64_t id = 0;
  std::vector<Spectrum> spectra;
  [[nodiscard]] TargetView view() const {
    TargetView v{id, {}};
    for (const Spectrum& s : spectra) v.spectra.push_back(s.view());
    return v;
  }
};

inline Target make_target(const Template& t, std::span<const double> coefficients, double z,
                          double ivar, std::uint64_t seed, double sigma = 1.1) {
  return {static_cast<std::int64_t>(seed),
          {make_spectrum(t, coefficients, z, 4000, 302, ivar, seed, sigma),
           make_spectrum(t, coefficients, z, 4250, 304, ivar, seed, sigma)}};
}

inline TargetSet prepared(std::span<const Target> targets, const PrepareOptions& options = {}) {
  std::vector<TargetView> views;
  for (const Target& t : targets) views.push_back(t.view());
  SerialExecutor executor;
  return prepare(views, options, executor);
}

}  // namespace fiberloom::redshift::test
