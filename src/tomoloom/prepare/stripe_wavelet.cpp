// SPDX-License-Identifier: BSD-3-Clause
// Muench et al. 2009 as TomoPy has it: of the wavelets (Daubechies 5) that are details along the
// row and smooth along angles, what is constant over angles is damped.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {
namespace {

/// Synthesis filter of Daubechies' wavelet with five vanishing moments.
constexpr std::array<double, kTaps> kLow{
    0.160102397974125,     0.6038292697974729,   0.7243085284385744,  0.13842814590110342,
    -0.24229488706619015,  -0.03224486958502952, 0.07757149384006515, -0.006241490213011705,
    -0.012580751999015526, 0.003335725285001549};
constexpr std::size_t kHalf = kTaps / 2;

double high(std::size_t i) { return (i % 2 == 0 ? 1 : -1) * kLow[kTaps - 1 - i]; }

using Taps = std::array<float, kTaps>;
using Lines = std::array<const float*, kTaps>;

/// Of smooth and of rough, where tap j meets what lies j back.
struct Analysis {
  Taps smooth{}, rough{};
  Analysis() {
    for (std::size_t j = 0; j < kTaps; ++j) {
      smooth[j] = static_cast<float>(kLow[kTaps - 1 - j]);
      rough[j] = static_cast<float>(high(kTaps - 1 - j));
    }
  }
};

/// What point 2 m + phase is made of: five of smooth, then five of rough, m + 4 first.
Taps synthesis(std::size_t phase) {
  Taps taps;
  for (std::size_t q = 0; q < kHalf; ++q) {
    taps[q] = static_cast<float>(kLow[2 * q + phase]);
    taps[kHalf + q] = static_cast<float>(high(2 * q + phase));
  }
  return taps;
}

struct Plane {
  std::size_t rows = 0, columns = 0;
  std::vector<float> v;
  [[nodiscard]] const float* row(std::size_t r) const { return &v[r * columns]; }
  [[nodiscard]] float* row(std::size_t r) { return &v[r * columns]; }
};

Plane plane_of(std::size_t rows, std::size_t columns) {
  return {rows, columns, std::vector<float>(rows * columns)};
}

std::size_t mirrored(std::ptrdiff_t i, std::size_t n) {
  const auto period = static_cast<std::ptrdiff_t>(2 * n);
  i = ((i % period) + period) % period;
  return static_cast<std::size_t>(i < static_cast<std::ptrdiff_t>(n) ? i : period - 1 - i);
}

/// Along columns, so from row to row: smooth and rough.
std::array<Plane, 2> analyse_down(const Plane& in) {
  static const Analysis kFilters;
  const StripeKernels& kernels = stripe_kernels();
  const std::size_t n = (in.rows + kTaps - 1) / 2;
  std::array<Plane, 2> out{plane_of(n, in.columns), plane_of(n, in.columns)};
  for (std::size_t o = 0; o < n; ++o) {
    Lines lines{};
    for (std::size_t j = 0; j < kTaps; ++j) {
      const auto at = static_cast<std::ptrdiff_t>(2 * o + 1) - static_cast<std::ptrdiff_t>(j);
      lines[j] = in.row(mirrored(at, in.rows));
    }
    kernels.filter(lines.data(), kFilters.smooth.data(), in.columns, out[0].row(o));
    kernels.filter(lines.data(), kFilters.rough.data(), in.columns, out[1].row(o));
  }
  return out;
}

/// Along rows: points of even and of odd number as two lines, over which the taps take turns.
std::array<Plane, 2> analyse_across(const Plane& in) {
  static const Analysis kFilters;
  const StripeKernels& kernels = stripe_kernels();
  const std::size_t n = (in.columns + kTaps - 1) / 2, before = kHalf - 1;
  std::array<Plane, 2> out{plane_of(in.rows, n), plane_of(in.rows, n)};
  std::vector<float> even(n + before), odd(n + before);
  Lines lines{};
  for (std::size_t q = 0; q < kHalf; ++q) {
    lines[2 * q] = odd.data() + before - q;
    lines[2 * q + 1] = even.data() + before - q;
  }
  for (std::size_t r = 0; r < in.rows; ++r) {
    const float* const from = in.row(r);
    const auto beyond = [&](std::size_t i) {
      const auto at = 2 * (static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(before));
      even[i] = from[mirrored(at, in.columns)];
      odd[i] = from[mirrored(at + 1, in.columns)];
    };
    for (std::size_t i = 0; i < before; ++i) beyond(i);
    for (std::size_t m = 0; m < in.columns / 2; ++m) {
      even[before + m] = from[2 * m];
      odd[before + m] = from[2 * m + 1];
    }
    for (std::size_t i = before + in.columns / 2; i < even.size(); ++i) beyond(i);
    kernels.filter(lines.data(), kFilters.smooth.data(), n, out[0].row(r));
    kernels.filter(lines.data(), kFilters.rough.data(), n, out[1].row(r));
  }
  return out;
}

Plane synthesise_down(const Plane& smooth, const Plane& rough) {
  static const std::array<Taps, 2> kFilters{synthesis(0), synthesis(1)};
  const StripeKernels& kernels = stripe_kernels();
  Plane out = plane_of(2 * smooth.rows - kTaps + 2, smooth.columns);
  for (std::size_t r = 0; r < out.rows; ++r) {
    Lines lines{};
    for (std::size_t q = 0; q < kHalf; ++q) {
      lines[q] = smooth.row(r / 2 + kHalf - 1 - q);
      lines[kHalf + q] = rough.row(r / 2 + kHalf - 1 - q);
    }
    kernels.filter(lines.data(), kFilters[r % 2].data(), out.columns, out.row(r));
  }
  return out;
}

Plane synthesise_across(const Plane& smooth, const Plane& rough) {
  static const std::array<Taps, 2> kFilters{synthesis(0), synthesis(1)};
  const StripeKernels& kernels = stripe_kernels();
  Plane out = plane_of(smooth.rows, 2 * smooth.columns - kTaps + 2);
  const std::size_t n = out.columns / 2;
  std::vector<float> even(n), odd(n);
  for (std::size_t r = 0; r < out.rows; ++r) {
    Lines lines{};
    for (std::size_t q = 0; q < kHalf; ++q) {
      lines[q] = smooth.row(r) + kHalf - 1 - q;
      lines[kHalf + q] = rough.row(r) + kHalf - 1 - q;
    }
    kernels.filter(lines.data(), kFilters[0].data(), n, even.data());
    kernels.filter(lines.data(), kFilters[1].data(), n, odd.data());
    float* const to = out.row(r);
    for (std::size_t m = 0; m < n; ++m) {
      to[2 * m] = even[m];
      to[2 * m + 1] = odd[m];
    }
  }
  return out;
}

Plane cropped(const Plane& in, std::size_t rows, std::size_t columns) {
  Plane out = plane_of(rows, columns);
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(in.row(r), columns, out.row(r));
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
  Plane plane = plane_of(padded, s.columns);
  std::copy(s.values.begin(), s.values.end(),
            plane.v.begin() + static_cast<std::ptrdiff_t>(shift * s.columns));
  struct Details {
    Plane horizontal, vertical, diagonal;
  };
  std::vector<Details> details;
  for (std::size_t l = 0; l < level; ++l) {
    auto [smooth, rough] = analyse_down(plane);  // along angles
    auto [aa, ad] = analyse_across(smooth);
    auto [da, dd] = analyse_across(rough);
    details.push_back({std::move(da), std::move(ad), std::move(dd)});
    plane = std::move(aa);
  }
  for (Details& d : details) damp(d.vertical, sigma);
  for (std::size_t l = level; l-- > 0;) {
    const Details& d = details[l];
    const Plane a = cropped(plane, d.horizontal.rows, d.horizontal.columns);
    const Plane smooth = synthesise_across(a, d.vertical);
    const Plane rough = synthesise_across(d.horizontal, d.diagonal);
    plane = synthesise_down(smooth, rough);
  }
  for (std::size_t a = 0; a < s.angles; ++a) {
    std::copy_n(&plane.v[(a + shift) * plane.columns], s.columns, &s.at(a, 0));
  }
}

}  // namespace tomoloom
