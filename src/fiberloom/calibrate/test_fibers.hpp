// SPDX-License-Identifier: BSD-3-Clause
// For tests only: fibres of different resolution that see one spectrum, with noise; the truth
// beside them.
#pragma once

#include <cmath>
#include <vector>

#include "fiberloom/calibrate/deconvolution.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::calibrate::test {

/// A Gaussian of `sigma` bins integrated over bins, 11 diagonals, rows cut at the ends: they sum to
/// 1 inside.
inline void set_resolution(Array3D<float>& r, std::size_t s, double sigma) {
  const std::size_t ndiag = r.rows(), n = r.cols(), half = ndiag / 2;
  const double scale = 1 / (sigma * std::sqrt(2.0));
  for (std::size_t k = 0; k < ndiag; ++k) {
    const double x = static_cast<double>(half) - static_cast<double>(k);  // column - row
    const double share = 0.5 * (std::erf((x + 0.5) * scale) - std::erf((x - 0.5) * scale));
    for (std::size_t j = 0; j < n; ++j) {
      const bool inside = j + k >= half && j + k - half < n;
      r(s, k, j) = inside ? static_cast<float>(share) : 0.0F;
    }
  }
}

/// Spectra on bins of 0.8 Angstrom with room for 11 diagonals, nothing in them yet.
inline Spectra blank_spectra(std::size_t count, std::size_t bins, double first_aa) {
  Spectra s;
  s.flux = Array2D<double>(count, bins);
  s.ivar = Array2D<double>(count, bins);
  s.mask = Array2D<std::uint32_t>(count, bins, 0U);
  s.resolution = Array3D<float>(count, 11, bins);
  for (std::size_t i = 0; i < bins; ++i) s.wave.push_back(first_aa + 0.8 * static_cast<double>(i));
  return s;
}

struct FibersOptions {
  bool gain = false, shape = false;
  std::size_t nborder = 0;
  std::uint64_t seed = 1;
};

/// `count` fibres of n bins whose widths grow from 0.8 to 1 bin.
class Fibers {
 public:
  Fibers(std::size_t bins, std::size_t count, const FibersOptions& o)
      : n(bins), r_(count, 11, bins, 0.0F) {
    const CounterRng rng(o.seed, 77);
    truth.resize(n);
    for (std::size_t j = 0; j < n; ++j)
      truth[j] = 20 + 10 * rng.uniform(j) + (j % 17 == 3 ? 90 : 0);
    for (std::size_t s = 0; s < count; ++s) {
      set_resolution(r_, s, 0.8 + 0.2 * static_cast<double>(s) / static_cast<double>(count));
      add(s, o, rng);
    }
  }
  [[nodiscard]] Banded<const float> resolution(std::size_t s) const { return banded(r_, s); }
  [[nodiscard]] std::vector<Sighting> sightings() const {
    std::vector<Sighting> out;
    for (std::size_t s = 0; s < data.size(); ++s) {
      out.push_back({resolution(s), data[s], weight[s], gain[s], shape[s], border[s]});
    }
    return out;
  }
  /// No weight for rows [first, last) of a fibre.
  void hide(std::size_t s, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) weight[s][i] = 0;
  }

  std::size_t n;
  std::vector<double> truth;
  std::vector<std::vector<double>> data, weight, gain, shape, border;

 private:
  void add(std::size_t s, const FibersOptions& o, const CounterRng& rng) {
    const auto x = [&](std::size_t j) {
      return static_cast<double>(j) / 9 + static_cast<double>(s);
    };
    std::vector<double> light = truth, seen(n), w(n), g, t, b;
    for (std::size_t j = 0; j < n && o.shape; ++j) {
      t.push_back(1 + 0.3 * std::cos(x(j)));
      light[j] *= t[j];
    }
    multiply(resolution(s), std::span<const double>(light), std::span<double>(seen));
    for (std::size_t i = 0; i < n; ++i) {
      if (o.gain) g.push_back(1 + 0.1 * std::sin(x(i)));
      if (o.gain) seen[i] *= g[i];
      w[i] = (i + s) % 23 == 5 ? 0.0 : 1 / (1 + seen[i]);
    }
    for (std::size_t m = 0; m < o.nborder; ++m) {
      for (std::size_t i = 0; i < n; ++i) {
        b.push_back(std::sin(x(i) * static_cast<double>(m + 1) + static_cast<double>(s * s)));
        seen[i] += (3 + static_cast<double>(m)) * b.back();
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (w[i] > 0) seen[i] += rng.normal(1000 + s * n + i) / std::sqrt(w[i]);
    }
    data.push_back(seen);
    weight.push_back(w);
    gain.push_back(g);
    shape.push_back(t);
    border.push_back(b);
  }
  Array3D<float> r_;
};

}  // namespace fiberloom::calibrate::test
