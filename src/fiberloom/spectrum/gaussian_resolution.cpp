// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/gaussian_resolution.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

constexpr double kReach = 4;  ///< sigma

std::vector<double> widths_of(std::span<const double> wave) {
  const std::size_t n = wave.size();
  std::vector<double> widths(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t low = i == 0 ? 0 : i - 1, high = std::min(i + 1, n - 1);
    widths[i] = (wave[high] - wave[low]) / static_cast<double>(high - low);
  }
  return widths;
}

bool is_width(double sigma) { return sigma > 0 && std::isfinite(sigma); }

}  // namespace

Array3D<float> gaussian_resolution(std::span<const double> wave, const Array2D<double>& sigma) {
  const std::vector<double> widths = widths_of(wave);
  const std::size_t n = wave.size();
  double most = 0;
  for (std::size_t s = 0; s < sigma.rows(); ++s) {
    for (std::size_t j = 0; j < n; ++j) {
      if (is_width(sigma(s, j))) most = std::max(most, kReach * sigma(s, j) / widths[j]);
    }
  }
  if (!(most <= static_cast<double>(kMostGaussianDiagonals / 2))) {
    throw Error(Status::kWrongShape,
                print("a resolution with sigma of %.4g bins, expected at most %.4g", most / kReach,
                      static_cast<double>(kMostGaussianDiagonals / 2) / kReach));
  }
  const auto half = static_cast<std::size_t>(std::ceil(most));
  const std::size_t ndiag = 2 * half + 1;
  Array3D<float> out(sigma.rows(), ndiag, n);
  std::vector<double> share(ndiag);
  for (std::size_t s = 0; s < sigma.rows(); ++s) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < ndiag; ++k) {
        // beyond the ends bins are as wide as the last one: light that leaves is lost
        const double bins = static_cast<double>(k) - static_cast<double>(half);
        const bool inside = j + k >= half && j + k - half < n;
        const double distance = inside ? wave[j + k - half] - wave[j] : bins * widths[j];
        const double width = inside ? widths[j + k - half] : widths[j];
        share[k] = k == half ? width : 0;
        if (is_width(sigma(s, j))) {
          share[k] = width * std::exp(-0.5 * std::pow(distance / sigma(s, j), 2));
        }
        sum += share[k];
      }
      for (std::size_t k = 0; k < ndiag; ++k) {
        const bool inside = j + k >= half && j + k - half < n;
        const double width = inside ? widths[j + k - half] : widths[j];
        out(s, k, j) = static_cast<float>(inside ? share[k] / sum * widths[j] / width : 0);
      }
    }
  }
  return out;
}

}  // namespace fiberloom
