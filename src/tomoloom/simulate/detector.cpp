// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/simulate/detector.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/rng.hpp"

namespace tomoloom {
namespace {

constexpr double kWhite = 40000, kDark = 200, kReadNoise = 4, kMost = 65535;  ///< counts
constexpr double kPixelSpread = 0.03;  ///< of responses, seen by flats as well
// streams of random numbers
constexpr std::uint64_t kPixels = 1, kRings = 2, kDarks = 1000, kFlats = 1000000,
                        kProjections = 1000000000;

}  // namespace

Detector::Detector(std::size_t rows, std::size_t columns, const DetectorOptions& options)
    : rows_(rows), columns_(columns), options_(options), response_(rows * columns) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) response_[r * columns + c] = response(r, c);
  }
}

/// A beam that is brightest in the middle of the detector, times the pixel's own response.
double Detector::response(std::size_t row, std::size_t column) const noexcept {
  const double x = (static_cast<double>(column) + 0.5) / static_cast<double>(columns_) - 0.5;
  const double y = (static_cast<double>(row) + 0.5) / static_cast<double>(rows_) - 0.5;
  const double beam = 1 - 0.6 * x * x - 0.8 * y * y + 0.05 * std::sin(9 * y);
  const CounterRng rng(options_.seed, kPixels);
  return beam * (1 + kPixelSpread * rng.normal(row * columns_ + column));
}

void Detector::expose(std::uint64_t stream, std::span<const double> light,
                      std::span<std::uint16_t> out) const {
  const CounterRng rng(options_.seed, stream);
  const bool noisy = options_.photons > 0;
  const bool hit = options_.zingers > 0 && stream >= kProjections;
  const double a_photon = noisy ? kWhite / options_.photons : 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    double counts = kDark + kWhite * light[i];
    if (noisy) {
      // photons as a normal deviate of the same variance: there are many
      const auto [a, b] = rng.normal2(2 * i);
      counts += a * std::sqrt(std::max(kWhite * light[i], 0.0) * a_photon) + b * kReadNoise;
    }
    if (hit && rng.uniform(2 * i + 1) < options_.zingers) counts = kMost;
    out[i] = static_cast<std::uint16_t>(std::clamp(std::round(counts), 0.0, kMost));
  }
}

void Detector::dark(std::size_t number, std::span<std::uint16_t> out) const {
  const std::vector<double> light(out.size(), 0);
  expose(kDarks + number, light, out);
}

void Detector::flat(std::size_t number, std::span<std::uint16_t> out) const {
  expose(kFlats + number, response_, out);
}

void Detector::projection(std::size_t number, std::size_t total, std::span<const double> integrals,
                          std::span<std::uint16_t> out) const {
  const CounterRng rings(options_.seed, kRings);
  const double at = total > 1 ? static_cast<double>(number) / static_cast<double>(total - 1) : 0;
  const double beam = 1 - options_.drift * at;
  std::vector<double> light(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double error = options_.rings > 0 ? 1 + options_.rings * rings.normal(i) : 1;
    light[i] = beam * error * response_[i] * std::exp(-integrals[i]);
  }
  expose(kProjections + number, light, out);
}

}  // namespace tomoloom
