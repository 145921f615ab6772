// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/spectrograph.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/simulate/spectra.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/base/letter_case.hpp"

namespace fiberloom::truth {
namespace {

/// Electrons per Angstrom in 900 s at 6500 Angstrom of a flux of 1e-17 erg/(s cm2 Angstrom), where
/// a camera is at its best: a mirror of 3.8 m and a sixth of the photons.
constexpr double kCounts = 40;
/// Some 14 pixels of 3 electrons, as simulate/spectra.cpp has it.
constexpr double kReadVariance = 130;
/// Longer exposures are sums of ones that are this long, each read out.
constexpr double kOneExposure = 900;

Array2D<float> diagonals(const CameraModel& camera, std::size_t fiber) {
  const std::size_t n = camera.wave.size();
  constexpr auto kHalf = static_cast<long>(kDiagonals / 2);
  const double step = camera.wave[1] - camera.wave[0];
  Array2D<float> out(kDiagonals, n, 0.0F);
  for (std::size_t row = 0; row < n; ++row) {
    const double w = camera.wave[row];
    const double rows_per_aa = (camera.psf.y(fiber, w + 0.5) - camera.psf.y(fiber, w - 0.5));
    const double sigma = camera.psf.sigma_y(fiber, w) / rows_per_aa / step;  // bins
    const double k = 1 / (sigma * std::numbers::sqrt2);
    std::array<double, kDiagonals> share{};
    double sum = 0;
    for (long d = -kHalf; d <= kHalf; ++d) {
      const auto x = static_cast<double>(d);
      share[static_cast<std::size_t>(d + kHalf)] =
          0.5 * (std::erf((x + 0.5) * k) - std::erf((x - 0.5) * k));
      sum += share[static_cast<std::size_t>(d + kHalf)];
    }
    for (long d = -kHalf; d <= kHalf; ++d) {
      const long column = static_cast<long>(row) + d;
      if (column < 0 || column >= static_cast<long>(n)) continue;
      out(static_cast<std::size_t>(kHalf - d), static_cast<std::size_t>(column)) =
          static_cast<float>(share[static_cast<std::size_t>(d + kHalf)] / sum);
    }
  }
  return out;
}

CameraModel camera_model(char band, double exptime_s, std::uint64_t seed) {
  CameraModel c;
  c.name = std::string(1, loom::capital(band));
  c.wave = camera_wave_grid(band);
  SimulatedPsfOptions options = camera_psf_options(band);
  options.seed = seed;
  c.psf = make_psf(options);
  const std::size_t n = c.wave.size();
  const BinGrid grid{c.wave, c.wave[1] - c.wave[0]};
  for (const double w : c.wave) {
    c.counts.push_back(kCounts * exptime_s / 900 * grid.step_aa * w / 6500 *
                       camera_efficiency(band, w));
  }
  const std::vector<double> sharp = sky_electrons(band, grid, exptime_s);
  c.sky_continuum = sky_continuum_electrons(band, grid, exptime_s);
  c.sky.assign(n, 0.0);
  const Array2D<float> r = diagonals(c, static_cast<std::size_t>(c.psf.nfiber() / 2));
  multiply(banded(r), sharp, std::span<double>(c.sky));
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t low = i == 0 ? 0 : i - 1, high = std::min(i + 1, n - 1);
    c.sky_slope.push_back((c.sky[high] - c.sky[low]) / (c.wave[high] - c.wave[low]));
  }
  c.read_variance = kReadVariance * std::max(1.0, exptime_s / kOneExposure);
  return c;
}

}  // namespace

Spectrograph::Spectrograph(double exptime_s, std::uint64_t seed) : exptime_s_(exptime_s) {
  for (const char band : {'b', 'r', 'z'}) cameras_.push_back(camera_model(band, exptime_s, seed));
}

Array2D<float> Spectrograph::resolution(std::size_t camera, int fiber) const {
  return diagonals(cameras_.at(camera), static_cast<std::size_t>(fiber));
}

}  // namespace fiberloom::truth
