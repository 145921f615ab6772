// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "loom/base/array.hpp"
#include "loom/fft/any_plan.hpp"

namespace skyloom {
namespace {

using Complex = std::complex<double>;

/// i z, without the library's care for numbers that are none.
Complex turned(const Complex& z) { return {-z.imag(), z.real()}; }

/// A ring of pixels: where it is, and sum_j v_j exp(-i m phi_j) of each map.
struct Ring {
  std::size_t first = 0, pixels = 0;  ///< in RING order
  double z = 0, phi = 0;              ///< of the first pixel
  std::vector<Complex> modes[3];
};

std::vector<Ring> rings_of(const Healpix& sky) {
  const auto side = static_cast<std::size_t>(sky.nside());
  const double n = static_cast<double>(side);
  std::vector<Ring> out;
  std::size_t first = 0;
  for (std::size_t r = 1; r < 4 * side; ++r) {
    const std::size_t cap = std::min(r, 4 * side - r);  // ring counted from the nearer pole
    Ring ring;
    ring.first = first;
    const double at = static_cast<double>(cap);
    if (cap < side) {
      ring.pixels = 4 * cap;
      ring.z = (1 - at * at / (3 * n * n)) * (r < 2 * side ? 1 : -1);
      ring.phi = std::numbers::pi / (4 * at);
    } else {
      ring.pixels = 4 * side;
      ring.z = 4.0 / 3 - 2 * static_cast<double>(r) / (3 * n);
      ring.phi = (r - side) % 2 == 0 ? std::numbers::pi / (4 * n) : 0;
    }
    first += ring.pixels;
    out.push_back(ring);
  }
  return out;
}

/// All maps of a ring in one transform, a map a lane.
void sum_modes(Ring& ring, std::span<const std::vector<double>> maps, std::size_t most) {
  const fft::AnyPlan<double> plan(ring.pixels, fft::Sign::kMinus);
  constexpr std::size_t kStep = fft::kElement<double>, kImaginary = fft::kBatch<double>;
  Buffer<double> in(ring.pixels * kStep), work(plan.work_size());
  std::fill(in.data(), in.data() + ring.pixels * kStep, 0.0);
  for (std::size_t map = 0; map < maps.size(); ++map) {
    for (std::size_t j = 0; j < ring.pixels; ++j) in[j * kStep + map] = maps[map][ring.first + j];
  }
  const double* const found = plan.run(in.data(), work.data());
  for (std::size_t map = 0; map < maps.size(); ++map) {
    ring.modes[map].resize(most + 1);
    for (std::size_t m = 0; m <= most; ++m) {
      const double* const at = found + (m % ring.pixels) * kStep + map;
      const double angle = -ring.phi * static_cast<double>(m);
      const double c = std::cos(angle), sine = std::sin(angle), re = at[0], im = at[kImaginary];
      ring.modes[map][m] = {c * re - sine * im, c * im + sine * re};
    }
  }
}

/// Sums over rings for one m: |a_lm|^2 of each multipole, twice where m stands for -m as well.
void add_order(const std::vector<Ring>& rings, std::size_t m, bool polarised, double area,
               std::vector<double> (&power)[3]) {
  const std::size_t most = power[0].size() - 1;
  std::vector<Complex> t(most + 1), e(most + 1), b(most + 1);
  const auto order = static_cast<double>(m);
  for (const Ring& ring : rings) {
    const double z = ring.z, s2 = 1 - z * z;
    // lambda_mm = (-1)^m sqrt((2m+1)!! / (2m)!! / 4 pi) sin^m
    double before = 0, now = std::sqrt(0.25 / std::numbers::pi);
    for (std::size_t k = 1; k <= m; ++k) {
      const auto j = static_cast<double>(k);
      now *= -std::sqrt((2 * j + 1) / (2 * j) * s2);
    }
    double factor_before = 0;
    for (std::size_t l = m; l <= most; ++l) {
      const auto at = static_cast<double>(l);
      t[l] += now * ring.modes[0][m];
      if (polarised && l >= 2) {
        const double norm = 2 / std::sqrt((at + 2) * (at + 1) * at * (at - 1));
        const double f =
            l > m ? std::sqrt((2 * at + 1) / (2 * at - 1) * (at * at - order * order)) : 0;
        const double w =
            norm * (-((at - order * order) / s2 + at * (at - 1) / 2) * now + f * z / s2 * before);
        const double x = norm * order / s2 * (-(at - 1) * z * now + f * before);
        const Complex q = ring.modes[1][m], u = ring.modes[2][m];
        e[l] -= w * q + x * turned(u);
        b[l] -= w * u - x * turned(q);
      }
      // lambda_{l+1} = c_{l+1} (z lambda_l - lambda_{l-1} / c_l), c_l^2 = (4 l^2 - 1)/(l^2 - m^2)
      const double up = at + 1;
      const double factor = std::sqrt((4 * up * up - 1) / (up * up - order * order));
      const double next = factor * (z * now - (factor_before > 0 ? before / factor_before : 0));
      before = now;
      now = next;
      factor_before = factor;
    }
  }
  const double twice = (m == 0 ? 1 : 2) * area * area;
  for (std::size_t l = m; l <= most; ++l) {
    power[0][l] = twice * std::norm(t[l]);
    if (!polarised) continue;
    power[1][l] = twice * std::norm(e[l]);
    power[2][l] = twice * std::norm(b[l]);
  }
}

}  // namespace

Spectra power_spectra(const Healpix& sky, std::span<const std::vector<double>> stokes,
                      std::size_t wanted, Executor& executor) {
  const std::size_t most = std::min(wanted, kMostMultipole);
  const bool polarised = stokes.size() >= 3;
  const auto all = static_cast<std::size_t>(sky.pixels());
  double mean = 0, seen = 0;
  for (const double value : stokes[0]) {
    if (!std::isfinite(value)) continue;
    mean += value;
    seen += 1;
  }
  mean /= std::max(seen, 1.0);
  std::vector<Ring> rings = rings_of(sky);
  std::vector<std::vector<double>> ringed(polarised ? 3 : 1, std::vector<double>(all, 0.0));
  for (std::size_t map = 0; map < ringed.size(); ++map) {
    for (std::size_t i = 0; i < all; ++i) {
      const double value = stokes[map][i] - (map == 0 ? mean : 0);
      if (!std::isfinite(value)) continue;
      ringed[map][static_cast<std::size_t>(sky.to_ring(static_cast<Pixel>(i)))] = value;
    }
  }
  executor.run(rings.size(), [&](std::size_t r) { sum_modes(rings[r], ringed, most); });
  std::vector<std::vector<double>> of_orders(3 * (most + 1));
  executor.run(most + 1, [&](std::size_t m) {
    std::vector<double> power[3];
    for (auto& each : power) each.assign(most + 1, 0.0);
    add_order(rings, m, polarised, 4 * std::numbers::pi / static_cast<double>(all), power);
    for (std::size_t k = 0; k < 3; ++k) of_orders[3 * m + k] = std::move(power[k]);
  });
  Spectra out{.tt = {}, .ee = {}, .bb = {}, .sky_share = seen / static_cast<double>(all)};
  std::vector<double>* const to[] = {&out.tt, &out.ee, &out.bb};
  for (std::size_t k = 0; k < (polarised ? 3 : 1); ++k) {
    to[k]->assign(most + 1, 0.0);
    for (std::size_t m = 0; m <= most; ++m) {
      for (std::size_t l = 0; l <= most; ++l) (*to[k])[l] += of_orders[3 * m + k][l];
    }
    for (std::size_t l = 0; l <= most; ++l) {
      (*to[k])[l] /= (2 * static_cast<double>(l) + 1) * std::max(out.sky_share, 1e-12);
    }
  }
  return out;
}

std::vector<double> coarser(const Healpix& from, std::span<const double> values,
                            const Healpix& to) {
  const auto parts = static_cast<std::size_t>(from.pixels() / to.pixels());
  std::vector<double> out(static_cast<std::size_t>(to.pixels()), NAN);
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0, count = 0;
    for (std::size_t k = i * parts; k < (i + 1) * parts; ++k) {
      if (!std::isfinite(values[k])) continue;
      sum += values[k];
      count += 1;
    }
    if (count > 0) out[i] = sum / count;
  }
  return out;
}

}  // namespace skyloom
