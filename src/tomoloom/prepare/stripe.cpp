// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/stripe.hpp"

#include <algorithm>
#include <vector>

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

}  // namespace tomoloom
