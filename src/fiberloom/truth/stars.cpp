// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/stars.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "loom/base/rng.hpp"

namespace fiberloom::truth {
namespace {

constexpr double kReference = 6500;  // Angstrom

double black_body(double wave, double kelvin) {
  constexpr double kSecondConstant = 1.438776877e8;  // Angstrom kelvin
  const auto planck = [&](double w) {
    return std::pow(w / kReference, -5) / std::expm1(kSecondConstant / (w * kelvin));
  };
  return planck(wave) / planck(kReference);
}

struct Absorption {
  double wave_aa, depth, sigma_aa;
};

/// Multiplies by 1 - depth at the middle of a Gaussian line.
void absorb(std::span<const double> wave, const Absorption& line, std::span<double> flux) {
  constexpr double kReach = 6;  // sigma
  const auto from =
      std::lower_bound(wave.begin(), wave.end(), line.wave_aa - kReach * line.sigma_aa);
  for (auto i = static_cast<std::size_t>(from - wave.begin());
       i < wave.size() && wave[i] < line.wave_aa + kReach * line.sigma_aa; ++i) {
    const double t = (wave[i] - line.wave_aa) / line.sigma_aa;
    flux[i] *= 1 - line.depth * std::exp(-0.5 * t * t);
  }
}

}  // namespace

std::vector<double> star_spectrum(std::span<const double> wave, const StarNode& node) {
  constexpr std::array<double, 8> kHydrogen{6564.61, 4862.68, 4341.68, 4102.89,
                                            3971.20, 3890.15, 3836.47, 3798.98};
  constexpr std::size_t kMetalLines = 150;
  constexpr double kFirstMetal = 3650, kLastMetal = 6300;  // most of them are in the blue
  std::vector<double> flux;
  flux.reserve(wave.size());
  for (const double w : wave) flux.push_back(black_body(w, node.teff));
  const double depth = 0.3 + 0.15 * (node.teff - 5600) / 1400;
  for (const double w : kHydrogen) absorb(wave, {w, depth, 4 + 1.2 * node.logg}, flux);
  const double strength = 0.35 * std::pow(10.0, 0.35 * node.metal) * (6000 / node.teff);
  const CounterRng rng(1, 0x5354415253ULL);  // one forest of lines for all stars
  for (std::size_t k = 0; k < kMetalLines; ++k) {
    const auto u = rng.uniform2(k);
    const double at = kFirstMetal + (kLastMetal - kFirstMetal) * u[0];
    absorb(wave, {at, std::min(0.9, strength * (0.2 + 1.6 * u[1])), 1.5}, flux);
  }
  return flux;
}

StellarGrid star_grid() {
  constexpr double kFirst = 3300, kLast = 10200, kStep = 0.5;
  StellarGrid grid;
  for (double w = kFirst; w <= kLast; w += kStep) grid.wave.push_back(w);
  for (int t = 0; t < 8; ++t) {
    for (int g = 0; g < 3; ++g) {
      for (int m = 0; m < 4; ++m) {
        grid.teff.push_back(5600 + 200 * t);
        grid.logg.push_back(3.5 + 0.5 * g);
        grid.metal.push_back(-2 + 0.5 * m);
      }
    }
  }
  grid.flux = Array2D<float>(grid.teff.size(), grid.wave.size());
  for (std::size_t k = 0; k < grid.teff.size(); ++k) {
    const auto flux = star_spectrum(grid.wave, {grid.teff[k], grid.logg[k], grid.metal[k]});
    std::copy(flux.begin(), flux.end(), grid.flux.row(k));
  }
  return grid;
}

}  // namespace fiberloom::truth
