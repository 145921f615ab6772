// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/simulate/noise.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kBandRows = 64;
constexpr std::uint64_t kDrawsPerElement = 64;  // rejection fails this often once in 1e50 pixels

/// ln k!, to 1e-13. Not std::lgamma: that one writes a global.
double log_factorial(double k) noexcept {
  if (k < 16) {
    double product = 1;
    for (double i = 2; i <= k; i += 1) product *= i;
    return std::log(product);
  }
  constexpr double half_log_2pi = 0.91893853320467274178;
  const double r = 1 / k, r2 = r * r;
  return (k + 0.5) * std::log(k) - k + half_log_2pi +
         r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 / 1680)));
}

double poisson_by_inversion(double mean, double u) noexcept {
  double p = std::exp(-mean), sum = p, k = 0;
  while (u > sum && k < 200) {
    k += 1;
    p *= mean / k;
    sum += p;
  }
  return k;
}

/// Transformed rejection with squeeze (Hormann 1993, algorithm PTRS), for means of 10 and more.
double poisson_by_rejection(double mean, const CounterRng& rng, std::uint64_t index) noexcept {
  const double log_mean = std::log(mean);
  const double b = 0.931 + 2.53 * std::sqrt(mean);
  const double a = -0.059 + 0.02483 * b;
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2.0);
  for (std::uint64_t draw = 0; draw < kDrawsPerElement; ++draw) {
    const auto uv = rng.uniform2(index * kDrawsPerElement + draw);
    const double u = uv[0] - 0.5, v = uv[1];
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2.0 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v * inv_alpha / (a / (us * us) + b)) <= k * log_mean - mean - log_factorial(k)) {
      return k;
    }
  }
  return std::round(mean);
}

double variance(const NoiseOptions& o, double mean, double value) noexcept {
  const double signal = o.variance == VarianceFrom::kTrueMean ? mean : value;
  return o.readnoise_e * o.readnoise_e + std::max(signal, 0.0);
}

NoisyFrame empty_frame(const Array2D<double>& mean, const NoiseOptions& o) {
  if (!(o.readnoise_e > 0)) {
    throw Error(Status::kUsage, "simulated noise: the read noise must be positive, not " +
                                    std::to_string(o.readnoise_e));
  }
  return {Array2D<float>(mean.rows(), mean.cols()), Array2D<float>(mean.rows(), mean.cols()),
          Array2D<std::uint32_t>(mean.rows(), mean.cols(), 0)};
}

}  // namespace

double poisson(double mean, const CounterRng& rng, std::uint64_t index) noexcept {
  if (!(mean > 0)) return 0;
  if (mean < 10) return poisson_by_inversion(mean, rng.uniform(index * kDrawsPerElement));
  return poisson_by_rejection(mean, rng, index);
}

NoisyFrame add_noise(const Array2D<double>& mean, const NoiseOptions& o, Executor& executor) {
  NoisyFrame frame = empty_frame(mean, o);
  const CounterRng photons(o.seed, rng_stream(Draw::kPoisson, o.owner));
  const CounterRng reads(o.seed, rng_stream(Draw::kReadNoise, o.owner));
  const std::size_t cols = mean.cols(), pairs = (cols + 1) / 2;
  executor.run((mean.rows() + kBandRows - 1) / kBandRows, [&](std::size_t band) {
    const std::size_t last = std::min((band + 1) * kBandRows, mean.rows());
    for (std::size_t r = band * kBandRows; r < last; ++r) {
      for (std::size_t pair = 0; pair < pairs; ++pair) {
        const auto read = reads.normal2(r * pairs + pair);
        for (std::size_t c = 2 * pair; c < std::min(2 * pair + 2, cols); ++c) {
          const double mu = mean(r, c);
          const double value =
              poisson(mu, photons, r * cols + c) + o.readnoise_e * read[c - 2 * pair];
          frame.image(r, c) = static_cast<float>(value);
          frame.ivar(r, c) = static_cast<float>(1.0 / variance(o, mu, value));
        }
      }
    }
  });
  return frame;
}

NoisyFrame without_noise(const Array2D<double>& mean, const NoiseOptions& o) {
  NoisyFrame frame = empty_frame(mean, o);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double mu = mean.data()[i];
    frame.image.data()[i] = static_cast<float>(mu);
    frame.ivar.data()[i] = static_cast<float>(1.0 / variance(o, mu, mu));
  }
  return frame;
}

}  // namespace fiberloom
