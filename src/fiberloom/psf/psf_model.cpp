// SPDX-License-Identifier: BSD-3-Clause
// Reference evaluation of the PSF, with the standard library's erf and exp.
#include "fiberloom/psf/psf_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace fiberloom {

double LegendreSeries::operator()(std::size_t fiber, double wave_aa) const noexcept {
  const double u = (wave_aa - wave_min) * 2.0 / (wave_max - wave_min) - 1.0;
  double p0 = 1.0, p1 = u, sum = 0.0;
  for (std::size_t k = 0; k < coef.cols(); ++k) {
    sum += coef(fiber, k) * p0;
    const double kd = static_cast<double>(k);
    const double p2 = ((2 * kd + 3) * u * p1 - (kd + 1) * p0) / (kd + 2);
    p0 = p1;
    p1 = p2;
  }
  return sum;
}

int PsfModel::corner_x(double center) const noexcept {
  return shape ? shape->corner_x(center) : static_cast<int>(std::floor(center - hsize_x + 0.5));
}

int PsfModel::corner_y(double center) const noexcept {
  return shape ? shape->corner_y(center) : static_cast<int>(std::floor(center - hsize_y + 0.5));
}

double rows_per_aa(const PsfModel& psf, std::size_t fiber, double wave_aa) {
  return std::abs(psf.y(fiber, wave_aa + 0.5) - psf.y(fiber, wave_aa - 0.5));
}

namespace {

/// Integrals of the Hermite functions over n unit pixels: out[m * n + p], pixel p spans
/// (first + p - 0.5, first + p + 0.5).
std::vector<double> pixel_integrals(double center, double sigma, int first, int n, int degree) {
  std::vector<double> out(static_cast<std::size_t>((degree + 1) * n));
  const double norm = 1.0 / std::sqrt(2.0 * std::numbers::pi);
  std::vector<double> lo(static_cast<std::size_t>(degree + 1)), hi = lo;
  const auto edge = [&](double u, std::vector<double>& value) {
    value[0] = 0.5 * std::erf(u / std::numbers::sqrt2);
    const double g = norm * std::exp(-0.5 * u * u);
    double h0 = 1.0, h1 = u;  // He_{m-1}, He_m
    for (int m = 1; m <= degree; ++m) {
      value[static_cast<std::size_t>(m)] = -h0 * g;
      const double h2 = u * h1 - m * h0;
      h0 = h1;
      h1 = h2;
    }
  };
  for (int p = 0; p < n; ++p) {
    edge((first + p - 0.5 - center) / sigma, lo);
    edge((first + p + 0.5 - center) / sigma, hi);
    for (int m = 0; m <= degree; ++m) {
      out[static_cast<std::size_t>(m * n + p)] =
          hi[static_cast<std::size_t>(m)] - lo[static_cast<std::size_t>(m)];
    }
  }
  return out;
}

/// Values of a Gauss-Hermite spot as the formula has them, negative ones cut; of other kinds those
/// of the shape. Returns their sum, 0 where there is no spot.
// Long: the definition in one place.
double evaluate(const PsfModel& psf, std::size_t fiber, double wave_aa, Spot& spot) {
  spot.nx = psf.stamp_nx();
  spot.ny = psf.stamp_ny();
  spot.value.assign(static_cast<std::size_t>(spot.nx * spot.ny), 0.0);
  const double x = psf.x(fiber, wave_aa), y = psf.y(fiber, wave_aa);
  const double sx = psf.sigma_x(fiber, wave_aa), sy = psf.sigma_y(fiber, wave_aa);
  if (!(std::abs(x) < 1e8) || !(std::abs(y) < 1e8)) return 0;
  spot.x0 = psf.corner_x(x);
  spot.y0 = psf.corner_y(y);
  if (!(sx > 0) || !(sy > 0)) return 0;
  if (psf.shape) {
    psf.shape->evaluate({fiber, wave_aa, x, y}, spot.value.data());
    return 1;
  }

  const auto px = pixel_integrals(x, sx, spot.x0, spot.nx, psf.gh_deg_x);
  const auto py = pixel_integrals(y, sy, spot.y0, spot.ny, psf.gh_deg_y);
  for (int j = 0; j <= psf.gh_deg_y; ++j) {
    for (int i = 0; i <= psf.gh_deg_x; ++i) {
      const double c = psf.gh[static_cast<std::size_t>(j * (psf.gh_deg_x + 1) + i)](fiber, wave_aa);
      for (int r = 0; r < spot.ny; ++r) {
        for (int q = 0; q < spot.nx; ++q) {
          spot.value[static_cast<std::size_t>(r * spot.nx + q)] +=
              c * px[static_cast<std::size_t>(i * spot.nx + q)] *
              py[static_cast<std::size_t>(j * spot.ny + r)];
        }
      }
    }
  }
  if (psf.has_tails) {
    const double amp = psf.tails.amp(fiber, wave_aa), core = psf.tails.core(fiber, wave_aa);
    const double xs = psf.tails.xscale(fiber, wave_aa), ys = psf.tails.yscale(fiber, wave_aa);
    const double power = 1.0 + 0.5 * psf.tails.index(fiber, wave_aa);
    for (int r = 0; r < spot.ny; ++r) {
      for (int q = 0; q < spot.nx; ++q) {
        const double dx = (spot.x0 + q - x) * xs, dy = (spot.y0 + r - y) * ys;
        const double r2 = dx * dx + dy * dy;
        spot.value[static_cast<std::size_t>(r * spot.nx + q)] +=
            amp * r2 / std::pow(core * core + r2, power);
      }
    }
  }
  double sum = 0;
  for (double& v : spot.value) {
    v = std::max(v, 0.0);
    sum += v;
  }
  return sum;
}

}  // namespace

Spot spot_reference(const PsfModel& psf, std::size_t fiber, double wave_aa) {
  Spot spot;
  const double sum = evaluate(psf, fiber, wave_aa, spot);
  if (psf.shape) return spot;
  for (double& v : spot.value) v = sum > 0 ? v / sum : 0.0;
  return spot;
}

double stamp_light(const PsfModel& psf, std::size_t fiber, double wave_aa) {
  Spot spot;
  return evaluate(psf, fiber, wave_aa, spot);
}

}  // namespace fiberloom
