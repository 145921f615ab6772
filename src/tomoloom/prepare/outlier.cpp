// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/outlier.hpp"

#include <algorithm>
#include <vector>

namespace tomoloom {
namespace {

/// i of a line of n that goes on mirrored at its ends.
std::size_t folded(std::ptrdiff_t i, std::size_t n) {
  const auto period = static_cast<std::ptrdiff_t>(2 * n);
  i = ((i % period) + period) % period;
  return static_cast<std::size_t>(i < static_cast<std::ptrdiff_t>(n) ? i : period - 1 - i);
}

}  // namespace

std::size_t remove_outlier(const SinogramView& sinogram, float dif, std::size_t size) {
  const std::size_t n = sinogram.columns, width = n + size;
  const auto before = static_cast<std::ptrdiff_t>(size / 2);
  std::vector<float> copy(sinogram.angles * width);  // with what lies beyond the ends of a line
  for (std::size_t a = 0; a < sinogram.angles; ++a) {
    for (std::size_t x = 0; x < width; ++x) {
      const std::size_t from = folded(static_cast<std::ptrdiff_t>(x) - before, n);
      copy[a * width + x] = sinogram.data[a * sinogram.stride + from];
    }
  }
  std::vector<const float*> lines(size);
  std::vector<float> window(size * size);
  std::size_t count = 0;
  for (std::size_t a = 0; a < sinogram.angles; ++a) {
    for (std::size_t k = 0; k < size; ++k) {
      const auto at = static_cast<std::ptrdiff_t>(a + k) - before;
      lines[k] = &copy[folded(at, sinogram.angles) * width];
    }
    for (std::size_t x = 0; x < n; ++x) {
      float& value = sinogram.data[a * sinogram.stride + x];
      float least = value;  // no median is below the least of all
      auto to = window.begin();
      for (const float* const line : lines) {
        for (std::size_t i = x; i < x + size; ++i) {
          *to++ = line[i];
          least = std::min(least, line[i]);
        }
      }
      if (value - least < dif) continue;
      const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
      std::nth_element(window.begin(), middle, window.end());
      if (value - *middle < dif) continue;
      value = *middle;
      ++count;
    }
  }
  return count;
}

}  // namespace tomoloom
