// SPDX-License-Identifier: BSD-3-Clause
// For tests only: a grid of stellar models with lines, and a star between its nodes as three
// cameras see it, with noise.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "fiberloom/calibrate/star_fit.hpp"
#include "fiberloom/calibrate/test_fibers.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::calibrate::test {

/// A spectrum as a hot body's, with broad lines of hydrogen that grow with temperature and gravity
/// and narrow ones of metals; 1 at 6500 Angstrom without them.
inline double stellar_flux(double wave, double teff, double logg, double metal) {
  const auto planck = [&](double w) {
    return std::pow(w / 6500, -5) / std::expm1(1.4388e8 / (w * teff));
  };
  double out = planck(wave) / planck(6500);
  for (const double line : {6564.6, 4862.7, 4341.7, 4102.9, 3971.2, 3890.2}) {
    const double off = (wave - line) / (3 + logg / 2);
    out *= 1 - (0.25 + 0.1 * (teff - 5500) / 1500) * std::exp(-0.5 * off * off);
  }
  const double strength = 0.2 * std::pow(10, 0.4 * metal);
  const double number = std::round((wave - 3500) / 53.1);
  const double off = (wave - 3500 - 53.1 * number) / 1.2;
  const double depth = std::fmod(std::abs(37 * number), 11) / 11;
  return out * (1 - strength * depth * std::exp(-0.5 * off * off));
}

struct StarPlace {
  double teff = 6000, logg = 4, metal = -1.5, redshift = 0;
};

/// 5 x 3 x 3 nodes from 3400 to 10000 Angstrom, two of them missing.
inline StellarGrid small_stellar_grid() {
  StellarGrid grid;
  for (double w = 3400; w < 10000; w += 0.4) grid.wave.push_back(w);
  std::vector<StarPlace> nodes;
  for (const double teff : {5500.0, 5800.0, 6100.0, 6400.0, 6800.0}) {
    for (const double logg : {3.5, 4.0, 4.5}) {
      for (const double metal : {-2.5, -1.5, -0.5}) nodes.push_back({teff, logg, metal});
    }
  }
  nodes.erase(nodes.begin() + 31);
  nodes.erase(nodes.begin() + 13);
  grid.flux = Array2D<float>(nodes.size(), grid.wave.size());
  for (std::size_t m = 0; m < nodes.size(); ++m) {
    grid.teff.push_back(nodes[m].teff);
    grid.logg.push_back(nodes[m].logg);
    grid.metal.push_back(nodes[m].metal);
    for (std::size_t i = 0; i < grid.wave.size(); ++i) {
      grid.flux(m, i) = static_cast<float>(
          stellar_flux(grid.wave[i], nodes[m].teff, nodes[m].logg, nodes[m].metal));
    }
  }
  return grid;
}

inline const StellarGrid& stellar_grid() {
  static const StellarGrid one = small_stellar_grid();
  return one;
}

/// What three cameras see of one star through a throughput that is smooth.
class ObservedStar {
 public:
  /// Noise of 400 / snr electrons a bin: some 1 / snr of the light.
  ObservedStar(const StarPlace& place, double snr, std::uint64_t seed)
      : ObservedStar(
            [&](double wave) {
              return stellar_flux(wave / (1 + place.redshift), place.teff, place.logg, place.metal);
            },
            snr, seed) {}
  template <class Flux>
  ObservedStar(const Flux& star, double snr, std::uint64_t seed) {
    constexpr std::array<std::array<double, 2>, 3> kCameras{
        {{3600, 5800}, {5760, 7620}, {7520, 8720}}};
    for (std::size_t c = 0; c < 3; ++c) {
      Array3D<float> r(1, 11, static_cast<std::size_t>((kCameras[c][1] - kCameras[c][0]) / 0.8));
      set_resolution(r, 0, 1.1 + 0.1 * static_cast<double>(c));
      const std::size_t n = r.cols();
      std::vector<double> wave(n), sharp(n), flux(n), ivar(n);
      for (std::size_t i = 0; i < n; ++i) {
        wave[i] = kCameras[c][0] + 0.8 * static_cast<double>(i);
        sharp[i] = 400 * (0.7 + 0.2 * std::sin(wave[i] / 700)) * star(wave[i]);
      }
      multiply(banded(std::as_const(r), 0), std::span<const double>(sharp),
               std::span<double>(flux));
      const CounterRng rng(seed, 900 + c);
      for (std::size_t i = 0; i < n; ++i) {
        const double sigma = 400 / snr;
        flux[i] += sigma * rng.normal(i);
        ivar[i] = i % 97 == 11 ? 0 : 1 / (sigma * sigma);
      }
      wave_.push_back(wave), flux_.push_back(flux), ivar_.push_back(ivar), r_.push_back(r);
    }
  }
  [[nodiscard]] std::vector<StarSpectrum> cameras() const {
    std::vector<StarSpectrum> out;
    for (std::size_t c = 0; c < wave_.size(); ++c) {
      out.push_back({wave_[c], flux_[c], ivar_[c], banded(r_[c], 0)});
    }
    return out;
  }
  void hide() {
    for (auto& camera : ivar_) camera.assign(camera.size(), 0.0);
  }

 private:
  std::vector<std::vector<double>> wave_, flux_, ivar_;
  std::vector<Array3D<float>> r_;
};

}  // namespace fiberloom::calibrate::test
