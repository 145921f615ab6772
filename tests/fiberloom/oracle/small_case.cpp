// SPDX-License-Identifier: BSD-3-Clause
// Builds the PSF, the light, the noise and the defects of a small problem.
#include "tests/fiberloom/oracle/small_case.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/foundation.hpp"
#include "loom/base/rng.hpp"
#include "tests/fiberloom/oracle/dense_oracle.hpp"
#include "tests/fiberloom/oracle/quadrature_spot.hpp"

namespace fiberloom::oracle {
namespace {

constexpr double kCenterAa = 6000.0, kHalfDomainAa = 100.0, kDispersionAa = 0.57;
constexpr int kCols = 75, kMargin = 5;

/// Half the range of the PSF: long grids must lie in it.
double half_domain(const SmallCaseKnobs& knobs) {
  return std::max(kHalfDomainAa, 0.5 * knobs.nwave * knobs.step_aa);
}

/// Coefficients of one parameter: coef(fibre, k) = base[k] + slope[k] * (fibre - middle).
LegendreSeries series(int nfiber, double half_aa, const std::vector<double>& base,
                      const std::vector<double>& slope = {}) {
  LegendreSeries s;
  s.wave_min = kCenterAa - half_aa;
  s.wave_max = kCenterAa + half_aa;
  s.coef = Array2D<double>(static_cast<std::size_t>(nfiber), base.size(), 0.0);
  for (std::size_t f = 0; f < s.coef.rows(); ++f) {
    const double offset = static_cast<double>(f) - 0.5 * (nfiber - 1);
    for (std::size_t k = 0; k < base.size(); ++k) {
      s.coef(f, k) = base[k] + (k < slope.size() ? slope[k] * offset : 0.0);
    }
  }
  return s;
}

PsfModel make_psf(const SmallCaseKnobs& knobs) {
  const int n = knobs.nfiber;
  const double half = half_domain(knobs);
  const double span = knobs.pitch * (n - 1);
  PsfModel psf;
  psf.npix_y = knobs.rows;
  psf.npix_x = knobs.edges == CaseEdges::kOffCcd
                   ? static_cast<int>(std::ceil(span)) + 2 * kMargin
                   : std::max(kCols, static_cast<int>(std::ceil(span)) + 46);
  psf.x = series(n, half, {0.5 * (psf.npix_x - 1), 1.2, -0.8, 0.1}, {knobs.pitch, 0.05, 0.02});
  psf.y = series(n, half, {0.5 * (knobs.rows - 1), half / kDispersionAa, -0.6, 0.1}, {0.3, 0.02});
  for (std::size_t f = 0; f < psf.y.coef.rows(); ++f) {  // the slit's image is curved
    const double offset = static_cast<double>(f) - 0.5 * (n - 1);
    psf.y.coef(f, 0) += 0.25 * offset * offset;
  }
  psf.sigma_x = series(n, half, {knobs.sigma_x, 0.05, 0.04}, {0.01, -0.004});
  psf.sigma_y = series(n, half, {knobs.sigma_y, -0.06, 0.03}, {-0.01, 0.003});
  const int orders = psf.gh_deg_x + 1;
  psf.gh.assign(static_cast<std::size_t>(orders * (psf.gh_deg_y + 1)), series(n, half, {0.0}));
  const auto set = [&](int i, int j, double base, double tilt, double slope) {
    psf.gh[static_cast<std::size_t>(j * orders + i)] = series(n, half, {base, tilt}, {slope});
  };
  set(0, 0, 1.0, 0.01, 0.0);
  set(2, 0, 0.012, -0.004, 0.002);
  set(1, 1, -0.008, 0.003, 0.001);
  set(0, 2, -0.010, 0.005, 0.001);
  set(3, 0, 0.006, 0.002, -0.001);
  set(0, 3, 0.008, -0.003, 0.0005);
  set(2, 2, 0.004, 0.001, 0.0);
  set(4, 0, 0.005, 0.001, 0.0);
  set(0, 4, 0.004, -0.001, 0.0);
  set(3, 3, -0.0004, 0.0002, 0.0);
  set(6, 0, 0.0003, 0.0, 0.0);
  set(0, 6, 0.0002, 0.0, 0.0);
  return psf;
}

std::vector<double> make_grid(const SmallCaseKnobs& knobs) {
  int n = knobs.nwave;
  if (knobs.edges == CaseEdges::kOffCcd) {
    n = static_cast<int>(std::ceil(kDispersionAa * (knobs.rows + 20) / knobs.step_aa));
  }
  std::vector<double> wave(static_cast<std::size_t>(n));
  for (int k = 0; k < n; ++k) {
    wave[static_cast<std::size_t>(k)] = kCenterAa + (k - 0.5 * (n - 1)) * knobs.step_aa;
  }
  return wave;
}

/// Electrons in a bin of fibre f at wave w: a wavy continuum, and lines that fill one or two bins.
double light(const SmallCaseKnobs& knobs, std::size_t f, double w, double step) {
  const double phase = 1.7 * static_cast<double>(f);
  double e = knobs.continuum_e * (1.0 + 0.4 * std::sin(0.11 * (w - kCenterAa) + phase));
  for (int line = -6; line <= 6; ++line) {
    const double at = kCenterAa + 13.7 * line + 0.31 * static_cast<double>(f);
    const double u = (w - at) / std::max(0.7, 0.6 * step);
    e += knobs.line_snr * knobs.line_snr * std::exp(-0.5 * u * u);
  }
  return e;
}

void add_light(const SmallCaseKnobs& knobs, SmallCase& c, Array2D<double>& image) {
  const auto& grid = c.options.wave;
  const double reach_aa = kDispersionAa * (knobs.rows + 40);
  const int extra = static_cast<int>(std::ceil(reach_aa / knobs.step_aa));
  const auto wave = extended_grid(grid, extra, extra);
  c.truth = Array2D<double>(static_cast<std::size_t>(knobs.nfiber), grid.size());
  std::vector<Real> sum(image.size(), 0);
  for (std::size_t f = 0; f < c.truth.rows(); ++f) {
    for (std::size_t j = 0; j < wave.size(); ++j) {
      const double e = light(knobs, f, wave[j], knobs.step_aa);
      const auto bin = static_cast<std::ptrdiff_t>(j) - extra;
      if (bin >= 0 && bin < static_cast<std::ptrdiff_t>(grid.size())) {
        c.truth(f, static_cast<std::size_t>(bin)) = e;
      }
      const double y = static_cast<double>(legendre_series(c.psf.y, f, wave[j]));
      if (y < -10 || y > knobs.rows + 10) continue;
      const ExtendedSpot spot = quadrature_spot(c.psf, f, wave[j]);
      for (int k = 0; k < spot.nx * spot.ny; ++k) {
        const int col = spot.x0 + k % spot.nx, row = spot.y0 + k / spot.nx;
        if (col < 0 || col >= c.psf.npix_x || row < 0 || row >= c.psf.npix_y) continue;
        sum[static_cast<std::size_t>(row * c.psf.npix_x + col)] +=
            e * spot.value[static_cast<std::size_t>(k)];
      }
    }
  }
  for (std::size_t k = 0; k < sum.size(); ++k) image.data()[k] = static_cast<double>(sum[k]);
}

bool is_dead(const SmallCase& c, Defect defect, int row, int col, const CounterRng& rng) {
  const int nx = c.psf.npix_x, ny = c.psf.npix_y;
  switch (defect) {
    case Defect::kDeadBlock:
      return std::abs(row - ny / 2) <= 12 && col >= nx / 2 - 10 && col <= nx / 2 + 30;
    case Defect::kDeadColumns: {
      const double trace =
          static_cast<double>(legendre_series(c.psf.x, c.truth.rows() > 1 ? 1 : 0, kCenterAa));
      return std::abs(col - static_cast<int>(std::lround(trace))) <= 1;
    }
    case Defect::kDeadAmplifier:
      return row >= ny - (3 * ny) / 10;
    case Defect::kCosmics:
      return rng.uniform(static_cast<std::uint64_t>(row * nx + col)) < 0.02;
  }
  return false;
}

}  // namespace

SmallCaseKnobs with_crosstalk(SmallCaseKnobs knobs) {
  knobs.pitch = 5.0;
  knobs.sigma_x = 1.40;
  return knobs;
}

SmallCase make_small_case(const SmallCaseKnobs& knobs) {
  SmallCase c;
  c.psf = make_psf(knobs);
  c.options.wave = make_grid(knobs);
  c.options.bundle_size = knobs.nfiber;
  const auto ny = static_cast<std::size_t>(c.psf.npix_y);
  const auto nx = static_cast<std::size_t>(c.psf.npix_x);
  Array2D<double> image(ny, nx), ivar(ny, nx);
  add_light(knobs, c, image);
  const CounterRng noise(knobs.seed, 1), cosmics(knobs.seed, 2);
  for (std::size_t k = 0; k < image.size(); ++k) {
    double& p = image.data()[k];
    const double variance = p + knobs.read_noise_e * knobs.read_noise_e;
    ivar.data()[k] = 1.0 / variance;
    p += knobs.noise * std::sqrt(variance) * noise.normal(k);
    for (const Defect defect : knobs.defects) {
      if (!is_dead(c, defect, static_cast<int>(k / nx), static_cast<int>(k % nx), cosmics))
        continue;
      p = ivar.data()[k] = 0.0;
    }
  }
  c.ccd.image = PixelArray(std::move(image));
  c.ccd.ivar = PixelArray(std::move(ivar));
  return c;
}

}  // namespace fiberloom::oracle
