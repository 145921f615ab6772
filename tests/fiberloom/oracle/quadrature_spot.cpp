// SPDX-License-Identifier: BSD-3-Clause
// Quadrature of Gauss-Hermite functions over pixels, all orders of one axis at a time.
#include "tests/fiberloom/oracle/quadrature_spot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace fiberloom::oracle {
namespace {

constexpr std::size_t kNodes = 12;
constexpr Real kQuadratureError = 1e-19L;
constexpr int kMaxDepth = 20;

struct Rule {
  std::array<Real, kNodes> node{}, weight{};
};

/// Gauss-Legendre nodes on [-1, 1] by Newton's method.
Rule gauss_legendre() {
  Rule rule;
  constexpr Real n = kNodes;
  for (std::size_t k = 0; k < kNodes; ++k) {
    Real z = std::cos(std::numbers::pi_v<Real> * (static_cast<Real>(k) + 0.75L) / (n + 0.5L));
    Real slope = 1;
    for (int iteration = 0; iteration < 100; ++iteration) {
      Real p = 1, previous = 0;
      for (std::size_t m = 0; m < kNodes; ++m) {
        const Real degree = static_cast<Real>(m);
        const Real next = ((2 * degree + 1) * z * p - degree * previous) / (degree + 1);
        previous = p;
        p = next;
      }
      slope = n * (z * p - previous) / (z * z - 1);
      const Real step = p / slope;
      z -= step;
      if (std::abs(step) < 1e-19L) break;
    }
    rule.node[k] = z;
    rule.weight[k] = 2 / ((1 - z * z) * slope * slope);
  }
  return rule;
}

/// Integral of He_m(u) exp(-u^2/2) / sqrt(2 pi), m = 0 ... degree, from a to b with one panel.
std::vector<Real> one_panel(Real a, Real b, int degree) {
  static const Rule rule = gauss_legendre();
  const Real norm = 1 / std::sqrt(2 * std::numbers::pi_v<Real>);
  std::vector<Real> sum(static_cast<std::size_t>(degree) + 1, 0);
  for (std::size_t k = 0; k < kNodes; ++k) {
    const Real u = 0.5L * ((b - a) * rule.node[k] + a + b);
    const Real g = 0.5L * (b - a) * rule.weight[k] * norm * std::exp(-0.5L * u * u);
    Real hermite = 1, previous = 0;
    for (std::size_t m = 0; m < sum.size(); ++m) {
      sum[m] += g * hermite;
      const Real next = u * hermite - static_cast<Real>(m) * previous;
      previous = hermite;
      hermite = next;
    }
  }
  return sum;
}

std::vector<Real> integrate(Real a, Real b, const std::vector<Real>& coarse, int degree,
                            int depth) {
  const Real middle = 0.5L * (a + b);
  auto left = one_panel(a, middle, degree);
  auto right = one_panel(middle, b, degree);
  Real difference = 0;
  for (std::size_t m = 0; m < coarse.size(); ++m) {
    difference = std::max(difference, std::abs(left[m] + right[m] - coarse[m]));
  }
  if (difference > kQuadratureError && depth < kMaxDepth) {
    left = integrate(a, middle, left, degree, depth + 1);
    right = integrate(middle, b, right, degree, depth + 1);
  }
  for (std::size_t m = 0; m < left.size(); ++m) left[m] += right[m];
  return left;
}

/// [pixel][order] for n pixels from `first`.
std::vector<std::vector<Real>> axis_integrals(Real center, Real sigma, int first, int n,
                                              int degree) {
  std::vector<std::vector<Real>> out;
  for (int p = 0; p < n; ++p) {
    const Real a = (static_cast<Real>(first + p) - 0.5L - center) / sigma;
    const Real b = (static_cast<Real>(first + p) + 0.5L - center) / sigma;
    out.push_back(integrate(a, b, one_panel(a, b, degree), degree, 0));
  }
  return out;
}

Real tail(const PsfTails& tails, std::size_t fiber, Real wave, Real dx, Real dy) {
  const Real u = dx * legendre_series(tails.xscale, fiber, wave);
  const Real v = dy * legendre_series(tails.yscale, fiber, wave);
  const Real core = legendre_series(tails.core, fiber, wave);
  const Real r2 = u * u + v * v;
  return legendre_series(tails.amp, fiber, wave) * r2 /
         std::pow(core * core + r2, 1 + legendre_series(tails.index, fiber, wave) / 2);
}

void clip_and_normalise(std::vector<Real>& value) {
  Real sum = 0;
  for (Real& v : value) {
    if (v < 0) v = 0;
    sum += v;
  }
  if (sum <= 0) return;
  for (Real& v : value) v /= sum;
}

}  // namespace

Real legendre_series(const LegendreSeries& series, std::size_t fiber, Real wave_aa) {
  const Real lo = series.wave_min, hi = series.wave_max;
  const Real u = (2 * wave_aa - (lo + hi)) / (hi - lo);
  Real b1 = 0, b2 = 0;
  for (std::size_t k = series.coef.cols(); k-- > 1;) {
    const Real n = static_cast<Real>(k);
    const Real b0 = series.coef(fiber, k) + (2 * n + 1) / (n + 1) * u * b1 - (n + 1) / (n + 2) * b2;
    b2 = b1;
    b1 = b0;
  }
  return series.coef(fiber, 0) + u * b1 - b2 / 2;
}

ExtendedSpot quadrature_spot(const PsfModel& psf, std::size_t fiber, double wave_aa) {
  const Real wave = wave_aa;
  const Real x = legendre_series(psf.x, fiber, wave), y = legendre_series(psf.y, fiber, wave);
  const Real sx = legendre_series(psf.sigma_x, fiber, wave);
  const Real sy = legendre_series(psf.sigma_y, fiber, wave);
  ExtendedSpot spot;
  spot.nx = 2 * psf.hsize_x + 1;
  spot.ny = 2 * psf.hsize_y + 1;
  spot.x0 = static_cast<int>(std::floor(x - static_cast<Real>(psf.hsize_x) + 0.5L));
  spot.y0 = static_cast<int>(std::floor(y - static_cast<Real>(psf.hsize_y) + 0.5L));
  spot.value.assign(static_cast<std::size_t>(spot.nx) * static_cast<std::size_t>(spot.ny), 0);
  if (!(sx > 0) || !(sy > 0)) return spot;

  const auto px = axis_integrals(x, sx, spot.x0, spot.nx, psf.gh_deg_x);
  const auto py = axis_integrals(y, sy, spot.y0, spot.ny, psf.gh_deg_y);
  const auto orders_x = static_cast<std::size_t>(psf.gh_deg_x) + 1;
  std::vector<Real> c;
  for (const auto& series : psf.gh) c.push_back(legendre_series(series, fiber, wave));
  for (std::size_t k = 0; k < spot.value.size(); ++k) {
    const std::size_t row = k / px.size(), col = k % px.size();
    Real sum = 0;
    for (std::size_t o = 0; o < c.size(); ++o) {
      sum += c[o] * px[col][o % orders_x] * py[row][o / orders_x];
    }
    if (psf.has_tails) {
      sum += tail(psf.tails, fiber, wave, static_cast<Real>(spot.x0) + static_cast<Real>(col) - x,
                  static_cast<Real>(spot.y0) + static_cast<Real>(row) - y);
    }
    spot.value[k] = sum;
  }
  clip_and_normalise(spot.value);
  return spot;
}

}  // namespace fiberloom::oracle
