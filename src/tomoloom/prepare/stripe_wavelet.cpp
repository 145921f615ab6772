// SPDX-License-Identifier: BSD-3-Clause
// Muench et al. 2009 as TomoPy has it: of the wavelets (Daubechies 5) that are details along the
// row and smooth along angles, what is constant over angles is damped.
#include <algorithm>
#include <array>
#include <cmath>

#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {
namespace {

/// Synthesis filter of Daubechies' wavelet with five vanishing moments.
constexpr std::array<double, 10> kLow{
    0.160102397974125,     0.6038292697974729,   0.7243085284385744,  0.13842814590110342,
    -0.24229488706619015,  -0.03224486958502952, 0.07757149384006515, -0.006241490213011705,
    -0.012580751999015526, 0.003335725285001549};
constexpr std::size_t kTaps = kLow.size();

double high(std::size_t i) { return (i % 2 == 0 ? 1 : -1) * kLow[kTaps - 1 - i]; }

struct Plane {
  std::size_t rows = 0, columns = 0;
  std::vector<float> v;
};

std::size_t mirrored(std::ptrdiff_t i, std::size_t n) {
  const auto period = static_cast<std::ptrdiff_t>(2 * n);
  i = ((i % period) + period) % period;
  return static_cast<std::size_t>(i < static_cast<std::ptrdiff_t>(n) ? i : period - 1 - i);
}

Plane transposed(const Plane& in) {
  Plane out{in.columns, in.rows, std::vector<float>(in.v.size())};
  for (std::size_t r = 0; r < in.rows; ++r) {
    for (std::size_t c = 0; c < in.columns; ++c) out.v[c * in.rows + r] = in.v[r * in.columns + c];
  }
  return out;
}

/// Analysis along the rows' axis: approximation and detail.
std::array<Plane, 2> analyse(const Plane& in) {
  const std::size_t n = (in.rows + kTaps - 1) / 2, w = in.columns;
  std::array<Plane, 2> out{Plane{n, w, std::vector<float>(n * w, 0)},
                           Plane{n, w, std::vector<float>(n * w, 0)}};
  for (std::size_t o = 0; o < n; ++o) {
    for (std::size_t j = 0; j < kTaps; ++j) {
      const auto at = static_cast<std::ptrdiff_t>(2 * o + 1) - static_cast<std::ptrdiff_t>(j);
      const float* const from = &in.v[mirrored(at, in.rows) * w];
      const auto low_tap = static_cast<float>(kLow[kTaps - 1 - j]);
      const auto high_tap = static_cast<float>(high(kTaps - 1 - j));
      for (std::size_t x = 0; x < w; ++x) {
        out[0].v[o * w + x] += low_tap * from[x];
        out[1].v[o * w + x] += high_tap * from[x];
      }
    }
  }
  return out;
}

Plane synthesise(const Plane& approximation, const Plane& detail) {
  const std::size_t n = approximation.rows, w = approximation.columns, rows = 2 * n - kTaps + 2;
  Plane out{rows, w, std::vector<float>(rows * w, 0)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::ptrdiff_t tap =
          static_cast<std::ptrdiff_t>(r + kTaps - 2) - static_cast<std::ptrdiff_t>(2 * i);
      if (tap < 0 || tap >= static_cast<std::ptrdiff_t>(kTaps)) continue;
      const auto low_tap = static_cast<float>(kLow[static_cast<std::size_t>(tap)]);
      const auto high_tap = static_cast<float>(high(static_cast<std::size_t>(tap)));
      for (std::size_t x = 0; x < w; ++x) {
        out.v[r * w + x] += low_tap * approximation.v[i * w + x] + high_tap * detail.v[i * w + x];
      }
    }
  }
  return out;
}

Plane cropped(const Plane& in, std::size_t rows, std::size_t columns) {
  Plane out{rows, columns, std::vector<float>(rows * columns)};
  for (std::size_t r = 0; r < rows; ++r) {
    std::copy_n(&in.v[r * in.columns], columns, &out.v[r * columns]);
  }
  return out;
}

/// Takes from a plane what lies in the Gaussian around frequency 0 along its rows' axis.
void damp(Plane& plane, double sigma) {
  const std::vector<float> low =
      through_band(gaussian_band(plane.rows, sigma, Shift::kSpectrum), plane.v, plane.columns);
  for (std::size_t i = 0; i < plane.v.size(); ++i) plane.v[i] -= low[i];
}

}  // namespace

void wavelet(Sinogram& s, std::size_t level, double sigma) {
  if (level == 0) {
    level = static_cast<std::size_t>(
        std::ceil(std::log2(static_cast<double>(std::max(s.angles, s.columns)))));
  }
  const std::size_t padded = s.angles + s.angles / 8, shift = (padded - s.angles) / 2;
  Plane plane{padded, s.columns, std::vector<float>(padded * s.columns, 0)};
  std::copy(s.values.begin(), s.values.end(),
            plane.v.begin() + static_cast<std::ptrdiff_t>(shift * s.columns));
  struct Details {
    Plane horizontal, vertical, diagonal;
  };
  std::vector<Details> details;
  for (std::size_t l = 0; l < level; ++l) {
    auto [smooth, rough] = analyse(plane);  // along angles
    auto [aa, ad] = analyse(transposed(smooth));
    auto [da, dd] = analyse(transposed(rough));
    details.push_back({transposed(da), transposed(ad), transposed(dd)});
    plane = transposed(aa);
  }
  for (Details& d : details) damp(d.vertical, sigma);
  for (std::size_t l = level; l-- > 0;) {
    const Details& d = details[l];
    const Plane a = cropped(plane, d.horizontal.rows, d.horizontal.columns);
    const Plane smooth = transposed(synthesise(transposed(a), transposed(d.vertical)));
    const Plane rough = transposed(synthesise(transposed(d.horizontal), transposed(d.diagonal)));
    plane = synthesise(smooth, rough);
  }
  for (std::size_t a = 0; a < s.angles; ++a) {
    std::copy_n(&plane.v[(a + shift) * plane.columns], s.columns, &s.at(a, 0));
  }
}

}  // namespace tomoloom
