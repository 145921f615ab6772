// SPDX-License-Identifier: BSD-3-Clause
// A PSF with spots of another kind on its traces, as wide as its own in the middle: what kinds cost
// beside each other on one frame.
#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "fiberloom/psf/pixel_spots.hpp"
#include "fiberloom/psf/psf_model.hpp"
#include "fiberloom/psf/two_core_spots.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::bench {

/// A Gaussian on ny x nx pixels, `fine` of them to a CCD pixel.
inline std::vector<double> gaussian(std::size_t ny, std::size_t nx, int fine, double sigma_y,
                                    double sigma_x) {
  std::vector<double> v;
  for (std::size_t r = 0; r < ny; ++r) {
    for (std::size_t c = 0; c < nx; ++c) {
      const auto off = [fine](std::size_t i, std::size_t n, double sigma) {
        return (static_cast<double>(i) - 0.5 * static_cast<double>(n - 1)) / (fine * sigma);
      };
      const double y = off(r, ny, sigma_y), x = off(c, nx, sigma_x);
      v.push_back(std::exp(-0.5 * (x * x + y * y)));
    }
  }
  return v;
}

/// Stamps of 15 x 13 pixels.
inline std::shared_ptr<const SpotShape> pixels_of(const PsfModel& psf, const std::string& kind,
                                                  double sigma_x, double sigma_y) {
  const auto nfiber = static_cast<std::size_t>(psf.nfiber());
  if (kind == "MONOSPOT") {
    constexpr int kFine = 8;
    return make_mono_spot(
        {12 * kFine, 14 * kFine, kFine, gaussian(12 * kFine, 14 * kFine, kFine, sigma_y, sigma_x)});
  }
  if (kind == "SPOTGRID") {
    constexpr int kFine = 5;
    SpotGrid grid;
    for (std::size_t f = 0; f < nfiber; ++f) grid.fiber_position.push_back(static_cast<double>(f));
    grid.position = {0, 0.4 * psf.nfiber(), 1.0 * psf.nfiber()};
    for (int j = 0; j < 5; ++j)
      grid.wave_aa.push_back(psf.y.wave_min + 0.25 * j * (psf.y.wave_max - psf.y.wave_min));
    grid.spot_ny = 12 * kFine;
    grid.spot_nx = 14 * kFine;
    grid.fine = kFine;
    for (int i = 0; i < 15; ++i) {
      const double wider = 1 + 0.005 * i;
      const auto spot =
          gaussian(grid.spot_ny, grid.spot_nx, kFine, wider * sigma_y, wider * sigma_x);
      grid.spots.insert(grid.spots.end(), spot.begin(), spot.end());
    }
    return make_spot_grid(grid);
  }
  PcaPix pca;
  pca.x_power = {0, 1, 0, 2, 1, 0};
  pca.y_power = {0, 0, 1, 0, 1, 2};
  pca.group.assign(nfiber, 0);
  pca.x0.assign(nfiber, 0.5 * psf.npix_x);
  pca.y0.assign(nfiber, 0.5 * psf.npix_y);
  pca.x_scale.assign(nfiber, 2.0 / psf.npix_x);
  pca.y_scale.assign(nfiber, 2.0 / psf.npix_y);
  pca.ny = 13;
  pca.nx = 15;
  for (int i = 0; i < 6; ++i) {
    for (const double v : gaussian(pca.ny, pca.nx, 1, (1 + 0.1 * i) * sigma_y, sigma_x))
      pca.images.push_back(i == 0 ? v : 0.02 * v);
  }
  return make_pca_pix(pca);
}

/// What light of two cores differs by from that of the PSF.
struct SecondLight {
  double times = 1;        ///< width of the second core, of the first's
  double terms = 0;        ///< its Hermite terms beyond the Gaussian
  double cut_sigma = 100;  ///< where the first core ends
};

/// The PSF's own core, another one of its outermost degrees 2, and tails: 16 x 10 pixels.
inline std::shared_ptr<const SpotShape> two_cores_of(const PsfModel& psf,
                                                     const SecondLight& light) {
  const auto constant = [&psf](double value) {
    const auto nfiber = static_cast<std::size_t>(psf.nfiber());
    return LegendreSeries{psf.y.wave_min, psf.y.wave_max, Array2D<double>(nfiber, 1, value)};
  };
  const auto wider = [&light](LegendreSeries series) {
    for (std::size_t f = 0; f < series.coef.rows(); ++f) {
      for (std::size_t k = 0; k < series.coef.cols(); ++k) series.coef(f, k) *= light.times;
    }
    return series;
  };
  TwoCores cores;
  cores.hsize_x = psf.hsize_x;
  cores.hsize_y = psf.hsize_y;
  cores.first = {psf.gh_deg_x, psf.gh_deg_y, psf.sigma_x, psf.sigma_y, psf.gh};
  cores.second = {2, 2, wider(psf.sigma_x), wider(psf.sigma_y), {}};
  for (int i = 0; i < 9; ++i) cores.second.coef.push_back(constant(i == 0 ? 0.02 : light.terms));
  cores.cut_sigma = constant(light.cut_sigma);
  cores.tails = {constant(1e-6), constant(2), constant(1), constant(1), constant(2)};
  return make_two_cores(cores);
}

inline PsfModel with_spots_of(PsfModel psf, const std::string& kind) {
  const auto middle = static_cast<std::size_t>(psf.nfiber() / 2);
  const double wave_aa = 0.5 * (psf.y.wave_min + psf.y.wave_max);
  if (kind == "MONOSPOT" || kind == "SPOTGRID" || kind == "PCA-PIX") {
    psf.shape = pixels_of(psf, kind, psf.sigma_x(middle, wave_aa), psf.sigma_y(middle, wave_aa));
  } else if (kind == "GAUSS-HERMITE2") {  // the light of the PSF itself
    psf.shape = two_cores_of(psf, {});
  } else if (kind == "GAUSS-HERMITE2-WIDE") {  // light that reaches second neighbours
    psf.shape = two_cores_of(psf, {.times = 2, .terms = 0.001, .cut_sigma = 4});
  } else {
    throw Error(Status::kUnsupported, "no such kind of PSF: " + kind);
  }
  psf.gh.clear();
  psf.has_tails = false;
  return psf;
}

}  // namespace fiberloom::bench
