// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/stripe.hpp"

#include <algorithm>
#include <vector>

#include "tomoloom/prepare/stripe_kinds.hpp"
#include "tomoloom/prepare/stripe_mean_lane.hpp"

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
    stripe[x] = lane::beyond_running_mean(mean.data(), static_cast<long>(n),
                                          static_cast<long>(size), static_cast<long>(x));
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

void by_lines(Sinogram& s, const StripeChoice& c) {
  if (c.method == Stripe::kTi) return titarenko(s, c.alpha, c.blocks);
  if (c.method == Stripe::kFw) return wavelet(s, c.level, c.sigma > 0 ? c.sigma : 2);
  fitting(s, c.order, c.sigma_x, c.sigma_y);
}

void by_columns(Columns& s, const StripeChoice& c) {
  switch (c.method) {
    case Stripe::kSorting:
      return sorting(s, or_else(c.size, small_window(s.columns)));
    case Stripe::kFiltering:
      return filtering(s, c.sigma > 0 ? c.sigma : 3, or_else(c.size, small_window(s.columns)));
    case Stripe::kInterpolation:
      return interpolation(s, c.snr, or_else(c.size, 31), c.drop_ratio);
    case Stripe::kLarge:
      return large(s, c.snr, or_else(c.size, 51), c.drop_ratio);
    case Stripe::kDead:
      return dead(s, c.snr, or_else(c.size, 51));
    default:  // kAll
      dead(s, c.snr, or_else(c.large_size, 61));
      return sorting(s, or_else(c.size, 21));
  }
}

}  // namespace

bool has_enough(Stripe method, std::size_t angles, std::size_t columns) noexcept {
  return method == Stripe::kSf || (angles >= 4 && columns >= 8);
}

std::size_t mean_window(const StripeChoice& choice) noexcept { return or_else(choice.size, 5); }

void remove_stripe(const SinogramView& sinogram, const StripeChoice& choice) {
  if (choice.method == Stripe::kNone) return;
  if (!has_enough(choice.method, sinogram.angles, sinogram.columns)) return;
  if (choice.method == Stripe::kSf) return remove_stripe_sf(sinogram, mean_window(choice));
  if (choice.method != Stripe::kTi && choice.method != Stripe::kFw &&
      choice.method != Stripe::kFitting) {
    Columns columns = turned(sinogram);
    by_columns(columns, choice);
    return turn_back(columns, sinogram);
  }
  Sinogram s{sinogram.angles, sinogram.columns,
             std::vector<float>(sinogram.angles * sinogram.columns)};
  for (std::size_t a = 0; a < s.angles; ++a) {
    std::copy_n(sinogram.data + a * sinogram.stride, s.columns, &s.at(a, 0));
  }
  by_lines(s, choice);
  for (std::size_t a = 0; a < s.angles; ++a) {
    std::copy_n(&s.at(a, 0), s.columns, sinogram.data + a * sinogram.stride);
  }
}

}  // namespace tomoloom
