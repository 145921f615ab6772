// SPDX-License-Identifier: BSD-3-Clause
// A PSF with spots of another kind on its traces: what kinds cost beside each other on one frame.
// Under a kind's own name the PSF's own light on its own stamp; with -WIDE other light, on other
// stamps.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <string_view>
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

/// Six images a spot, without them: parabolas of the place on the CCD, -1 to 1.
inline PcaPix places_of(const PsfModel& psf) {
  const auto nfiber = static_cast<std::size_t>(psf.nfiber());
  PcaPix pca;
  pca.x_power = {0, 1, 0, 2, 1, 0};
  pca.y_power = {0, 0, 1, 0, 1, 2};
  pca.group.assign(nfiber, 0);
  pca.x0.assign(nfiber, 0.5 * psf.npix_x);
  pca.y0.assign(nfiber, 0.5 * psf.npix_y);
  pca.x_scale.assign(nfiber, 2.0 / psf.npix_x);
  pca.y_scale.assign(nfiber, 2.0 / psf.npix_y);
  return pca;
}

/// Gaussians as wide as the PSF's own in the middle, stamps of 15 x 13 pixels.
inline std::shared_ptr<const SpotShape> wide_pixels_of(const PsfModel& psf, const std::string& kind,
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
  PcaPix pca = places_of(psf);
  pca.ny = 13;
  pca.nx = 15;
  for (int i = 0; i < 6; ++i) {
    for (const double v : gaussian(pca.ny, pca.nx, 1, (1 + 0.1 * i) * sigma_y, sigma_x))
      pca.images.push_back(i == 0 ? v : 0.02 * v);
  }
  return make_pca_pix(pca);
}

/// The PSF's own spot of a fibre and wavelength on ny x nx pixels, `fine` of them to a CCD pixel,
/// whose middle lies `off` CCD pixels below and left of the spot's.
inline std::vector<double> own_light(const PsfModel& psf, std::size_t fiber, double wave_aa,
                                     std::size_t ny, std::size_t nx, int fine, double off) {
  // the spot of a coarser PSF, on a stamp with a CCD pixel more at each end
  const auto constant = [&psf](double value) {
    return LegendreSeries{psf.y.wave_min, psf.y.wave_max, Array2D<double>(1, 1, value)};
  };
  PsfModel one;
  one.gh_deg_x = psf.gh_deg_x;
  one.gh_deg_y = psf.gh_deg_y;
  one.sigma_x = constant(fine * psf.sigma_x(fiber, wave_aa));
  one.sigma_y = constant(fine * psf.sigma_y(fiber, wave_aa));
  for (const LegendreSeries& c : psf.gh) one.gh.push_back(constant(c(fiber, wave_aa)));
  one.hsize_x = static_cast<int>(nx / 2) + fine;
  one.hsize_y = static_cast<int>(ny / 2) + fine;
  const auto middle = [&](std::size_t n) {
    return 0.5 * (static_cast<double>(n) - 1) + fine * off;
  };
  one.x = constant(middle(nx));
  one.y = constant(middle(ny));
  const Spot spot = spot_reference(one, 0, wave_aa);
  std::vector<double> v;
  for (int r = 0; r < static_cast<int>(ny); ++r) {
    for (int c = 0; c < static_cast<int>(nx); ++c)
      v.push_back(spot.value[static_cast<std::size_t>((r - spot.y0) * spot.nx + c - spot.x0)]);
  }
  return v;
}

/// Six images that stand for the PSF's own at all places: parabolas through its corners, edges and
/// middle, of places that count from -1 to 1.
inline std::vector<double> own_images(const PsfModel& psf) {
  const auto last = static_cast<std::size_t>(psf.nfiber() - 1);
  std::array<std::array<std::vector<double>, 3>, 3> spot;  // [y][x]
  for (std::size_t y = 0; y < 3; ++y) {
    for (std::size_t x = 0; x < 3; ++x) {
      const double wave = psf.y.wave_min + 0.5 * y * (psf.y.wave_max - psf.y.wave_min);
      spot[y][x] = own_light(psf, x * last / 2, wave, psf.stamp_ny(), psf.stamp_nx(), 1, 0);
    }
  }
  const std::size_t n = spot[1][1].size();
  std::vector<double> images(6 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = [&](int x, int y) { return spot[y + 1][x + 1][i]; };
    const std::array terms{at(0, 0),
                           (at(1, 0) - at(-1, 0)) / 2,
                           (at(0, 1) - at(0, -1)) / 2,
                           (at(1, 0) + at(-1, 0)) / 2 - at(0, 0),
                           (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / 4,
                           (at(0, 1) + at(0, -1)) / 2 - at(0, 0)};
    for (std::size_t k = 0; k < terms.size(); ++k) images[k * n + i] = terms[k];
  }
  return images;
}

/// The PSF's own light and stamp.
inline std::shared_ptr<const SpotShape> own_pixels_of(const PsfModel& psf,
                                                      const std::string& kind) {
  const auto nfiber = static_cast<std::size_t>(psf.nfiber());
  const auto fine_pixels = [](int stamp, int fine) {  // a stamp has one pixel more than its spot
    return static_cast<std::size_t>((stamp - 1) * fine);
  };
  // spots on finer pixels lie half a pixel further than their middle says
  constexpr double kFineOff = -0.5;
  if (kind == "MONOSPOT") {
    constexpr int kFine = 8;
    const std::size_t ny = fine_pixels(psf.stamp_ny(), kFine);
    const std::size_t nx = fine_pixels(psf.stamp_nx(), kFine);
    const double wave = 0.5 * (psf.y.wave_min + psf.y.wave_max);
    return make_mono_spot(
        {ny, nx, kFine, own_light(psf, nfiber / 2, wave, ny, nx, kFine, kFineOff)});
  }
  if (kind == "SPOTGRID") {
    constexpr int kFine = 5;
    SpotGrid grid;
    for (std::size_t f = 0; f < nfiber; ++f) grid.fiber_position.push_back(static_cast<double>(f));
    for (int j = 0; j < 5; ++j)
      grid.wave_aa.push_back(psf.y.wave_min + 0.25 * j * (psf.y.wave_max - psf.y.wave_min));
    grid.spot_ny = fine_pixels(psf.stamp_ny(), kFine);
    grid.spot_nx = fine_pixels(psf.stamp_nx(), kFine);
    grid.fine = kFine;
    for (const std::size_t f : {std::size_t{0}, nfiber / 2, nfiber - 1}) {
      grid.position.push_back(static_cast<double>(f));
      for (const double wave : grid.wave_aa) {
        const auto spot = own_light(psf, f, wave, grid.spot_ny, grid.spot_nx, kFine, kFineOff);
        grid.spots.insert(grid.spots.end(), spot.begin(), spot.end());
      }
    }
    return make_spot_grid(grid);
  }
  PcaPix pca = places_of(psf);
  pca.ny = static_cast<std::size_t>(psf.stamp_ny());
  pca.nx = static_cast<std::size_t>(psf.stamp_nx());
  pca.images = own_images(psf);
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
  constexpr std::string_view kWide = "-WIDE";
  const bool wide = kind.ends_with(kWide);
  const std::string plain = kind.substr(0, kind.size() - (wide ? kWide.size() : 0));
  if (plain == "MONOSPOT" || plain == "SPOTGRID" || plain == "PCA-PIX") {
    psf.shape = wide ? wide_pixels_of(psf, plain, psf.sigma_x(middle, wave_aa),
                                      psf.sigma_y(middle, wave_aa))
                     : own_pixels_of(psf, plain);
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
