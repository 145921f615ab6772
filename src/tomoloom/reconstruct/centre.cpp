// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/centre.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "loom/fft/fft.hpp"
#include "tomoloom/reconstruct/angles.hpp"
#include "tomoloom/reconstruct/centre_search.hpp"

namespace tomoloom {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::size_t kMostFrequencies = 512, kHarmonics = 64, kMargin = 3;
constexpr double kRadius = 0.5;    ///< of the body, in widths of the row
constexpr double kLeastArc = 170;  ///< degrees
static_assert(kCentreRows == fft::kBatch<double>);

/// Of one angle and frequency, for each row: real and imaginary part at k, then at -k.
using Sample = std::array<float, 4 * kCentreRows>;

/// The angles of one half turn, from the smallest on.
std::vector<std::size_t> half_turn_of(std::span<const double> theta) {
  const double first = *std::min_element(theta.begin(), theta.end());
  std::vector<std::size_t> chosen;
  for (std::size_t a = 0; a < theta.size(); ++a) {
    if (theta[a] - first < kPi + 1e-6) chosen.push_back(a);
  }
  return chosen;
}

/// [frequency - 1][angle]
std::vector<Sample> transforms(const StackView& rows, std::size_t columns,
                               const std::vector<std::size_t>& angles, std::size_t frequencies,
                               std::size_t padded, Executor& executor) {
  std::vector<Sample> out(frequencies * angles.size());
  const fft::Plan<double> plan(padded, fft::Sign::kMinus);
  constexpr std::size_t kElement = fft::kElement<double>;
  executor.run(angles.size(), [&](std::size_t i) {
    std::vector<double> line(columns * kElement, 0), work(plan.work_size());
    for (std::size_t r = 0; r < rows.slices; ++r) {
      const float* const from = rows.data + angles[i] * rows.angle_stride + r * rows.slice_stride;
      for (std::size_t x = 0; x < columns; ++x) {
        line[x * kElement + r] = static_cast<double>(from[x]);
      }
    }
    const double* const spectrum = plan.run(line.data(), 1, columns, work.data());
    for (std::size_t k = 1; k <= frequencies; ++k) {
      Sample& sample = out[(k - 1) * angles.size() + i];
      for (std::size_t j = 0; j < kElement; ++j) {
        sample[j] = static_cast<float>(spectrum[k * kElement + j]);
        sample[kElement + j] = static_cast<float>(spectrum[(padded - k) * kElement + j]);
      }
    }
  });
  return out;
}

/// D_k of the axis's energy, samples [angle] already weighted.
std::complex<double> beyond_wedge(const Sample* samples, const std::vector<double>& theta,
                                  std::size_t from, std::size_t to) {
  const std::size_t n = theta.size();
  std::vector<std::complex<double>> turn(n), step(n);
  for (std::size_t a = 0; a < n; ++a) {
    step[a] = std::polar(1.0, theta[a]);
    turn[a] = std::polar(1.0, static_cast<double>(from) * theta[a]);
  }
  std::complex<double> sum = 0;
  for (std::size_t m = from; m < to; ++m) {
    Sample even{}, odd{};  // sums with cos(m theta) and sin(m theta)
    for (std::size_t a = 0; a < n; ++a) {
      const auto c = static_cast<float>(turn[a].real()), s = static_cast<float>(turn[a].imag());
      turn[a] *= step[a];
      const Sample& x = samples[a];
      for (std::size_t j = 0; j < x.size(); ++j) {
        even[j] += c * x[j];
        odd[j] += s * x[j];
      }
    }
    const double sign = m % 2 == 0 ? 1 : -1;
    for (std::size_t r = 0; r < kCentreRows; ++r) {
      const auto number = [&](const Sample& part, std::size_t at) {
        return std::complex<double>(static_cast<double>(part[at + r]),
                                    static_cast<double>(part[at + kCentreRows + r]));
      };
      const std::complex<double> i(0, 1);
      for (const double side : {-1.0, 1.0}) {  // harmonics m and -m
        const auto at_k = number(even, 0) + side * i * number(odd, 0);
        const auto below = number(even, 2 * kCentreRows) + side * i * number(odd, 2 * kCentreRows);
        sum += sign * std::conj(at_k) * below;
      }
    }
  }
  return sum;
}

}  // namespace

std::optional<double> find_centre(const StackView& rows, std::size_t columns,
                                  std::span<const double> theta, double low, double high,
                                  Executor& executor) {
  const std::vector<std::size_t> chosen = half_turn_of(theta);
  std::vector<double> angles;
  for (const std::size_t a : chosen) angles.push_back(theta[a]);
  const auto [first, last] = std::minmax_element(angles.begin(), angles.end());
  const double arc =
      *last - *first + (angles.size() > 1 ? kPi / static_cast<double>(angles.size()) : 0);
  if (arc < kLeastArc * kPi / 180) return std::nullopt;
  const std::size_t n = angles.size(), padded = fft::good_length(2 * columns);
  // harmonics beyond the number of angles mean nothing: frequencies whose wedge ends before
  const double slope =
      2 * kPi * kRadius * static_cast<double>(columns) / static_cast<double>(padded);
  const auto within = static_cast<std::size_t>(static_cast<double>(n) / slope);
  const std::size_t frequencies = std::min({kMostFrequencies, padded / 2 - 1, within});
  std::vector<Sample> samples = transforms(rows, columns, chosen, frequencies, padded, executor);
  const std::vector<double> weights = angle_weights(angles);
  std::vector<std::complex<double>> d(frequencies, 0);
  executor.run(frequencies, [&](std::size_t k) {
    Sample* const own = samples.data() + k * n;
    for (std::size_t a = 0; a < n; ++a) {
      for (float& value : own[a]) value *= static_cast<float>(weights[a]);
    }
    const auto from = static_cast<std::size_t>(slope * static_cast<double>(k + 1)) + kMargin;
    d[k] = beyond_wedge(own, angles, from, std::min(n, from + kHarmonics));
  });
  return least_energy(d, padded, low, high);
}

}  // namespace tomoloom
