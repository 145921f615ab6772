// SPDX-License-Identifier: BSD-3-Clause
// The kernel of compact support that samples are spread over a grid with, and its transform.
#pragma once

#include <cmath>
#include <numbers>

namespace tomoloom {

/// exp(beta (sqrt(1 - (2 x / width)^2) - 1)), 0 beyond the width (Barnett, Magland & af Klinteberg
/// 2019): as good as Kaiser-Bessel and cheaper.
class SpreadKernel {
 public:
  SpreadKernel(int width, double oversampling)
      : width_(width), beta_(0.98 * std::numbers::pi * width * (1 - 1 / (2 * oversampling))) {}
  [[nodiscard]] double operator()(double x) const {
    const double r = 1 - (2 * x / width_) * (2 * x / width_);
    return r <= 0 ? 0 : std::exp(beta_ * (std::sqrt(r) - 1));
  }
  /// Integral of the kernel times cos(2 pi x frequency).
  [[nodiscard]] double transform(double frequency) const {
    // x = width/2 sin(t) takes away the root at the ends: the midpoint rule then converges fast.
    constexpr int kNodes = 200;
    double sum = 0;
    for (int i = 0; i < kNodes; ++i) {
      const double t = std::numbers::pi / 2 * (i + 0.5) / kNodes;
      const double x = width_ / 2.0 * std::sin(t);
      sum += std::exp(beta_ * (std::cos(t) - 1)) * std::cos(2 * std::numbers::pi * x * frequency) *
             std::cos(t);
    }
    return width_ * sum * std::numbers::pi / 2 / kNodes;
  }

 private:
  int width_;
  double beta_;
};

}  // namespace tomoloom
