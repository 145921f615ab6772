// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/stripe.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {

void remove_stripe_sf(const SinogramView& sinogram, std::size_t size) {
  const std::size_t n = sinogram.columns;
  std::vector<double> mean(n, 0);
  for (std::size_t a = 0; a < sinogram.angles; ++a) {
    const float* const row = sinogram.data + a * sinogram.stride;
    for (std::size_t x = 0; x < n; ++x) mean[x] += static_cast<double>(row[x]);
  }
  for (double& m : mean) m /= static_cast<double>(sinogram.angles);
  std::vector<float> stripe(n);
  for (std::size_t x = 0; x < n; ++x) {
    double sum = 0;
    for (std::size_t j = 0; j < size; ++j) {
      const auto at = static_cast<std::ptrdiff_t>(x + j) - static_cast<std::ptrdiff_t>(size / 2);
      sum += mean[static_cast<std::size_t>(
          std::clamp(at, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(n - 1)))];
    }
    stripe[x] = static_cast<float>(mean[x] - sum / static_cast<double>(size));
  }
  for (std::size_t a = 0; a < sinogram.angles; ++a) {
    float* const row = sinogram.data + a * sinogram.stride;
    for (std::size_t x = 0; x < n; ++x) row[x] -= stripe[x];
  }
}

namespace {

std::size_t or_else(std::size_t size, std::size_t otherwise) { return size > 0 ? size : otherwise; }

/// Vo's window for small stripes: a hundredth of the width.
std::size_t small_window(std::size_t columns) {
  return columns > 2000 ? 21 : std::max<std::size_t>(5, columns / 100);
}

void apply(Sinogram& s, const StripeChoice& c) {
  switch (c.method) {
    case Stripe::kTi:
      return titarenko(s, c.alpha, c.blocks);
    case Stripe::kFw:
      return wavelet(s, c.level, c.sigma > 0 ? c.sigma : 2);
    case Stripe::kSorting:
      return sorting(s, or_else(c.size, small_window(s.columns)));
    case Stripe::kFiltering:
      return filtering(s, c.sigma > 0 ? c.sigma : 3, or_else(c.size, small_window(s.columns)));
    case Stripe::kFitting:
      return fitting(s, c.order, c.sigma_x, c.sigma_y);
    case Stripe::kInterpolation:
      return interpolation(s, c.snr, or_else(c.size, 31), c.drop_ratio);
    case Stripe::kLarge:
      return large(s, c.snr, or_else(c.size, 51), c.drop_ratio);
    case Stripe::kDead:
      return dead(s, c.snr, or_else(c.size, 51));
    case Stripe::kAll:
      dead(s, c.snr, or_else(c.large_size, 61));
      return sorting(s, or_else(c.size, 21));
    default:
      return;
  }
}

}  // namespace

void remove_stripe(const SinogramView& sinogram, const StripeChoice& choice) {
  if (choice.method == Stripe::kNone) return;
  if (choice.method == Stripe::kSf) return remove_stripe_sf(sinogram, or_else(choice.size, 5));
  if (sinogram.angles < 4 || sinogram.columns < 8) return;
  Sinogram s{sinogram.angles, sinogram.columns,
             std::vector<float>(sinogram.angles * sinogram.columns)};
  for (std::size_t a = 0; a < s.angles; ++a) {
    std::copy_n(sinogram.data + a * sinogram.stride, s.columns, &s.at(a, 0));
  }
  apply(s, choice);
  for (std::size_t a = 0; a < s.angles; ++a) {
    std::copy_n(&s.at(a, 0), s.columns, sinogram.data + a * sinogram.stride);
  }
}

Band gaussian_band(std::size_t n, double sigma, Shift shift) {
  Band band{.n = n, .weight = {}, .cosine = {}, .sine = {}};
  const auto points = static_cast<double>(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double away = static_cast<double>(k) - (points - 1) / 2;
    const double w = std::exp(-away * away / (2 * sigma * sigma));
    if (w < 1e-9) continue;
    band.weight.push_back(static_cast<float>(w / points));
    const double origin = shift == Shift::kSigns ? points / 2 : std::floor(points / 2);
    const double turn = 2 * std::numbers::pi * (static_cast<double>(k) - origin) / points;
    for (std::size_t i = 0; i < n; ++i) {
      band.cosine.push_back(static_cast<float>(std::cos(turn * static_cast<double>(i))));
      band.sine.push_back(static_cast<float>(std::sin(turn * static_cast<double>(i))));
    }
  }
  band.count = band.weight.size();
  return band;
}

std::vector<float> through_band(const Band& band, std::span<const float> in, std::size_t columns) {
  std::vector<float> out(in.size(), 0), re(columns), im(columns);
  for (std::size_t k = 0; k < band.count; ++k) {
    const float* const c = &band.cosine[k * band.n];
    const float* const s = &band.sine[k * band.n];
    std::fill(re.begin(), re.end(), 0.0F);
    std::fill(im.begin(), im.end(), 0.0F);
    for (std::size_t i = 0; i < band.n; ++i) {
      for (std::size_t x = 0; x < columns; ++x) {
        re[x] += c[i] * in[i * columns + x];
        im[x] -= s[i] * in[i * columns + x];
      }
    }
    for (std::size_t x = 0; x < columns; ++x) {
      re[x] *= band.weight[k];
      im[x] *= band.weight[k];
    }
    for (std::size_t i = 0; i < band.n; ++i) {
      for (std::size_t x = 0; x < columns; ++x) {
        out[i * columns + x] += c[i] * re[x] - s[i] * im[x];
      }
    }
  }
  return out;
}

std::vector<float> through_bands(const Band& along, const Band& across, std::span<const float> in) {
  const std::size_t width = across.n;
  std::vector<float> out(in.size(), 0), re(width), im(width);
  for (std::size_t k = 0; k < along.count; ++k) {
    const float* const c = &along.cosine[k * along.n];
    const float* const s = &along.sine[k * along.n];
    std::fill(re.begin(), re.end(), 0.0F);
    std::fill(im.begin(), im.end(), 0.0F);
    for (std::size_t i = 0; i < along.n; ++i) {
      for (std::size_t x = 0; x < width; ++x) {
        re[x] += c[i] * in[i * width + x];
        im[x] -= s[i] * in[i * width + x];
      }
    }
    std::vector<float> smooth_re(width, 0), smooth_im(width, 0);
    for (std::size_t l = 0; l < across.count; ++l) {
      const float* const u = &across.cosine[l * width];
      const float* const v = &across.sine[l * width];
      float sum_re = 0, sum_im = 0;
      for (std::size_t x = 0; x < width; ++x) {
        sum_re += re[x] * u[x] + im[x] * v[x];
        sum_im += im[x] * u[x] - re[x] * v[x];
      }
      sum_re *= across.weight[l] * along.weight[k];
      sum_im *= across.weight[l] * along.weight[k];
      for (std::size_t x = 0; x < width; ++x) {
        smooth_re[x] += sum_re * u[x] - sum_im * v[x];
        smooth_im[x] += sum_im * u[x] + sum_re * v[x];
      }
    }
    for (std::size_t i = 0; i < along.n; ++i) {
      for (std::size_t x = 0; x < width; ++x) {
        out[i * width + x] += c[i] * smooth_re[x] - s[i] * smooth_im[x];
      }
    }
  }
  return out;
}

}  // namespace tomoloom
