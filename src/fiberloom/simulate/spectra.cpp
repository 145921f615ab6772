// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/spectra.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/simulate/sky_lines.hpp"

namespace fiberloom {
namespace {

constexpr double kReferenceTime = 900;  // s; all strengths are given for it
constexpr double kBrightestSnr = 300;
constexpr double kBinWidth = 0.8;         // Angstrom, of the extraction grid
constexpr double kBinReadVariance = 130;  // electrons^2: about 14 pixels of 3 electrons
constexpr double kLightSpeedKms = 299792.458;

struct RestLine {
  double wave_aa, strength;  ///< vacuum; relative to the strongest
};
// [OII], [NeIII], the Balmer series, [OIII], [NII], [SII]
constexpr std::array<RestLine, 13> kEmission{{
    {3727.092, 0.42},
    {3729.875, 0.58},
    {3869.861, 0.08},
    {4102.892, 0.08},
    {4341.684, 0.15},
    {4862.683, 0.33},
    {4960.295, 0.20},
    {5008.240, 0.60},
    {6549.860, 0.10},
    {6564.613, 1.00},
    {6585.270, 0.30},
    {6718.294, 0.17},
    {6732.674, 0.13},
}};
// Ca K and H, G band, H-beta, Mg b, Na D: depths of the absorption lines of old stars
constexpr std::array<RestLine, 6> kAbsorption{{
    {3934.777, 0.45},
    {3969.588, 0.45},
    {4305.61, 0.20},
    {4862.683, 0.10},
    {5176.63, 0.25},
    {5895.6, 0.15},
}};
constexpr std::array<RestLine, 8> kBalmer{{
    {6564.613, 0.40},
    {4862.683, 0.50},
    {4341.684, 0.50},
    {4102.892, 0.48},
    {3971.195, 0.45},
    {3890.151, 0.42},
    {3836.472, 0.38},
    {3798.976, 0.33},
}};

double band_first(char band) { return band == 'b' ? 3600 : band == 'r' ? 5760 : 7520; }
double band_last(char band) { return band == 'b' ? 5800 : band == 'r' ? 7620 : 9824; }

/// Gaussian width of the spectrograph's blur along wavelength, Angstrom.
double blur_sigma(char band) {
  const SimulatedPsfOptions psf = camera_psf_options(band);
  return psf.sigma_y * psf.dispersion_aa;
}

double gaussian(double x) { return std::exp(-0.5 * x * x); }

/// Share of a Gaussian of the given width that falls into (low, high) about its centre.
double gaussian_share(double low, double high, double sigma) {
  const double k = 1.0 / (sigma * std::numbers::sqrt2);
  return 0.5 * (std::erf(high * k) - std::erf(low * k));
}

/// The continuum of the dark sky, electrons/Angstrom in the reference time.
double sky_continuum(char band, double wave) {
  const double level = band == 'b' ? 25.0 : band == 'r' ? 50.0 : 70.0;
  return level * (0.8 + 0.2 * (wave - band_first(band)) / (band_last(band) - band_first(band)));
}

/// An extraction measures a bright bin better than the square root of the light in it, since the
/// weights sharpen its resolution on a line: by how much, measured with the dense patch engine.
double extraction_gain(char band) { return band == 'b' ? 1.08 : band == 'r' ? 1.06 : 1.14; }

/// Electrons of a line of unit strength, such that the brightest bin has the S/N wanted.
double line_scale(char band, const std::vector<SkyLine>& lines) {
  const double sigma = blur_sigma(band), reach = 6 * sigma;
  double brightest = 0;
  for (const double w : camera_wave_grid(band)) {
    const auto first = std::lower_bound(lines.begin(), lines.end(), w - reach,
                                        [](const SkyLine& l, double x) { return l.wave_aa < x; });
    double sum = 0;
    for (auto l = first; l != lines.end() && l->wave_aa < w + reach; ++l) {
      const double d = w - l->wave_aa;
      sum += l->strength * camera_efficiency(band, l->wave_aa) *
             gaussian_share(d - 0.5 * kBinWidth, d + 0.5 * kBinWidth, sigma);
    }
    brightest = std::max(brightest, sum);
  }
  const double s2 = std::pow(kBrightestSnr / extraction_gain(band), 2);
  const double wanted = 0.5 * (s2 + std::sqrt(s2 * s2 + 4 * s2 * kBinReadVariance));
  return wanted / brightest;
}

void add_line(const BinGrid& grid, double wave, double electrons, std::vector<double>& out) {
  const double position = (wave - grid.wave.front()) / grid.step_aa;
  const double below = std::floor(position), share = position - below;
  if (below < 0 || below + 1 >= static_cast<double>(out.size())) return;
  const auto k = static_cast<std::size_t>(below);
  out[k] += (1 - share) * electrons;
  out[k + 1] += share * electrons;
}

/// A line of Gaussian profile, integrated over the bins.
void add_broad_line(const BinGrid& grid, double wave, double sigma, double electrons,
                    std::vector<double>& out) {
  const auto at = [&](double w) {
    const double k = std::floor((w - grid.wave.front()) / grid.step_aa);
    return static_cast<std::size_t>(std::clamp(k, 0.0, static_cast<double>(out.size())));
  };
  for (std::size_t j = at(wave - 7 * sigma); j < std::min(at(wave + 7 * sigma) + 2, out.size());
       ++j) {
    const double d = grid.wave[j] - wave;
    out[j] += electrons * gaussian_share(d - 0.5 * grid.step_aa, d + 0.5 * grid.step_aa, sigma);
  }
}

/// Photons of a black body per Angstrom, relative to 6500 Angstrom.
double black_body(double wave, double temperature) {
  constexpr double c2 = 1.438776877e8;  // Angstrom kelvin
  const auto photons = [&](double w) {
    return 1.0 / (std::pow(w, 4) * std::expm1(c2 / (w * temperature)));
  };
  return photons(wave) / photons(6500.0);
}

template <std::size_t N>
double absorbed(const std::array<RestLine, N>& lines, double rest, double sigma) {
  double factor = 1;
  for (const RestLine& l : lines) factor *= 1 - l.strength * gaussian((rest - l.wave_aa) / sigma);
  return factor;
}

/// Continuum of a galaxy at a rest wavelength relative to the target's brightness: young stars
/// rise to the blue, old ones have a break at 4000 Angstrom and absorption lines.
double galaxy_continuum(const Target& t, double rest) {
  const double young = std::pow(rest / 5000.0, -0.3);
  const double brk = 0.45 + 0.55 / (1.0 + std::exp(-(rest - 3990.0) / 25.0));
  const double old = brk * std::pow(rest / 5000.0, 0.4) *
                     absorbed(kAbsorption, rest, rest * t.dispersion_kms / kLightSpeedKms + 4.0);
  const double share = t.kind == TargetClass::kElg ? 0.15 : t.kind == TargetClass::kBgs ? 0.6 : 1.0;
  return (1 - share) * young + share * old;
}

}  // namespace

double camera_efficiency(char band, double wave_aa) {
  const double first = band_first(band), last = band_last(band);
  const double u = (2 * wave_aa - first - last) / (last - first);
  return std::max(0.2, 1.0 - 0.6 * u * u);
}

std::vector<double> sky_continuum_electrons(char band, const BinGrid& grid, double exptime_s) {
  const double time = exptime_s / kReferenceTime;
  std::vector<double> out(grid.wave.size());
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double w = grid.wave[j];
    out[j] = time * grid.step_aa * sky_continuum(band, w) * camera_efficiency(band, w);
  }
  return out;
}

std::vector<double> sky_electrons(char band, const BinGrid& grid, double exptime_s) {
  const std::vector<SkyLine> lines = night_sky_lines();
  const double time = exptime_s / kReferenceTime, scale = time * line_scale(band, lines);
  std::vector<double> out = sky_continuum_electrons(band, grid, exptime_s);
  for (const SkyLine& l : lines) {
    add_line(grid, l.wave_aa, scale * l.strength * camera_efficiency(band, l.wave_aa), out);
  }
  return out;
}

std::vector<double> target_electrons(const Target& t, char band, const BinGrid& grid,
                                     double exptime_s) {
  std::vector<double> out(grid.wave.size(), 0.0);
  if (t.kind == TargetClass::kSky) return out;
  const double time = exptime_s / kReferenceTime;
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double w = grid.wave[j], rest = w / (1 + t.redshift);
    const double shape = t.kind == TargetClass::kStandardStar
                             ? black_body(w, t.temperature_k) * absorbed(kBalmer, rest, 7.0)
                             : galaxy_continuum(t, rest);
    out[j] = time * grid.step_aa * t.brightness * shape * camera_efficiency(band, w);
  }
  if (t.line_strength <= 0) return out;
  for (const RestLine& l : kEmission) {
    const double w = l.wave_aa * (1 + t.redshift);
    const double electrons = time * t.line_strength * l.strength * camera_efficiency(band, w);
    add_broad_line(grid, w, w * t.dispersion_kms / kLightSpeedKms, electrons, out);
  }
  return out;
}

double brightest_sky_snr(char band, const BinGrid& grid) {
  const std::vector<double> sky = sky_electrons(band, grid, kReferenceTime);
  const double sigma = blur_sigma(band);
  double best = 0;
  const auto reach = static_cast<std::ptrdiff_t>(6 * sigma / grid.step_aa) + 1;
  const auto n = static_cast<std::ptrdiff_t>(sky.size());
  for (const double w : camera_wave_grid(band)) {
    const auto k = static_cast<std::ptrdiff_t>(std::floor((w - grid.wave.front()) / grid.step_aa));
    double signal = 0;
    for (std::ptrdiff_t j = std::max<std::ptrdiff_t>(k - reach, 0); j < std::min(k + reach, n);
         ++j) {
      const double d = w - grid.wave[static_cast<std::size_t>(j)];
      signal += sky[static_cast<std::size_t>(j)] *
                gaussian_share(d - 0.5 * kBinWidth, d + 0.5 * kBinWidth, sigma);
    }
    best = std::max(best, signal / std::sqrt(signal + kBinReadVariance));
  }
  return best * extraction_gain(band);
}

}  // namespace fiberloom
