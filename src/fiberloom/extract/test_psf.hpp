// SPDX-License-Identifier: BSD-3-Clause
// For the tests of extract/ only: a small PSF with curved traces and a shape that varies, made by
// hand, and a noisy CCD frame. Nothing of simulate/, which stands beside this folder.
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::test {

struct SmallPsf {
  int nfiber = 3;
  int npix_y = 90;
  double pitch = 8;    ///< pixels from fibre to fibre
  double margin = 11;  ///< pixels from the CCD's edge to the first trace
  double sigma_x = 1.1, sigma_y = 1.1;
  double rows_per_aa = 1.75;
};

inline LegendreSeries make_series(int nfiber, std::vector<double> coef, double per_fiber = 0) {
  const auto n = static_cast<std::size_t>(nfiber);
  LegendreSeries s{5000, 5100, Array2D<double>(n, coef.size())};
  for (std::size_t f = 0; f < n; ++f) {
    for (std::size_t k = 0; k < coef.size(); ++k) s.coef(f, k) = coef[k];
    s.coef(f, 0) += per_fiber * static_cast<double>(f);
  }
  return s;
}

/// Made for 5000 to 5100 Angstrom; 5050 lies on the middle row, the ends may be off the CCD.
inline PsfModel make_psf(const SmallPsf& o = {}) {
  PsfModel psf;
  psf.npix_y = o.npix_y;
  psf.npix_x = static_cast<int>(2 * o.margin + o.pitch * (o.nfiber - 1)) + 1;
  psf.gh_deg_x = psf.gh_deg_y = 2;
  psf.x = make_series(o.nfiber, {o.margin, 1.3, -0.4}, o.pitch);
  psf.y = make_series(o.nfiber, {0.5 * o.npix_y, 50 * o.rows_per_aa, 0.6}, 0.4);
  psf.sigma_x = make_series(o.nfiber, {o.sigma_x, 0.05}, 0.01);
  psf.sigma_y = make_series(o.nfiber, {o.sigma_y, -0.04}, 0.01);
  const std::vector<double> gh{1.0, 0.01, 0.012, -0.02, 0.008, 0.003, 0.01, -0.004, 0.002};
  for (const double c : gh) psf.gh.push_back(make_series(o.nfiber, {c, 0.1 * c}));
  return psf;
}

/// `n` bins of `step` around 5050 Angstrom.
inline std::vector<double> make_grid(int n, double step = 0.8) {
  std::vector<double> wave;
  for (int j = 0; j < n; ++j) wave.push_back(5050 + step * (j - 0.5 * (n - 1)));
  return wave;
}

/// Pixels of any light with weights that vary; each `bad_every`-th has none.
inline CcdFrame make_frame(const PsfModel& psf, std::size_t bad_every = 17) {
  const auto ny = static_cast<std::size_t>(psf.npix_y), nx = static_cast<std::size_t>(psf.npix_x);
  Array2D<double> image(ny, nx), ivar(ny, nx);
  const CounterRng rng(8, 1);
  for (std::size_t i = 0; i < image.size(); ++i) {
    const auto u = rng.uniform2(i);
    const bool bad = i % bad_every == bad_every - 1;
    image.data()[i] = bad ? 0.0 : 100 * u[0];
    ivar.data()[i] = bad ? 0.0 : 0.02 + 0.08 * u[1];
  }
  return {PixelArray(std::move(image)), PixelArray(std::move(ivar))};
}

}  // namespace fiberloom::test
