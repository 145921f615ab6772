// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/ground_places.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/pointing/angle.hpp"

namespace skyloom {

std::size_t steps_of(std::size_t samples, double step) noexcept {
  if (samples < 2 || !(step > 0)) return 1;
  constexpr double kLongest = 1.75, kMost = 0x1p52;  // of a last step; more than can be told apart
  const double others = std::ceil(static_cast<double>(samples - 1) / step - kLongest);
  return 1 + static_cast<std::size_t>(std::clamp(others, 0.0, kMost));
}

namespace {

void add_steps(double step, GroundPlaces& to) {
  const std::size_t steps = steps_of(to.place.size(), step);
  if (steps > kMostGroundBins / to.bins) {
    throw Error(Status::kUsage, print("--ground-step: %zu steps of %zu templates each: expected "
                                      "%zu of all at most",
                                      steps, to.bins, kMostGroundBins));
  }
  for (std::size_t i = 0; i < to.place.size(); ++i) {
    const auto at = static_cast<std::size_t>(static_cast<double>(i) / step);
    to.place[i] += static_cast<std::uint32_t>(std::min(at, steps - 1) * to.bins);
  }
  to.bins *= steps;
}

}  // namespace

GroundPlaces ground_places(const GroundTemplate& options, std::span<const double> azimuth) {
  GroundPlaces out;
  const std::size_t n = azimuth.size();
  out.place.assign(n, 0);
  if (n == 0) return out;
  const auto [low, high] = std::minmax_element(azimuth.begin(), azimuth.end());
  // of a telescope that goes around and around it is the azimuth modulo a turn that counts
  const bool around = *high - *low > kTurn;
  const double from = around ? 0 : *low, width = around ? kTurn : *high - *low;
  const auto folded = [&](double a) { return around ? a - kTurn * std::floor(a / kTurn) : a; };
  if (options.order && !(options.bin_deg > 0)) {
    out.phase.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      out.phase[i] = width > 0 ? 2 * (folded(azimuth[i]) - from) / width - 1 : 0;
    }
    out.bins = 1;
  } else {
    const double bin = options.bin_deg * kDegree, first = std::floor(from / bin);
    const double count = std::floor((from + width) / bin) - first + 1;
    if (!(count <= static_cast<double>(kMostGroundBins))) {
      throw Error(Status::kUsage,
                  print("--ground-bins %g: %g bins of azimuth: expected %zu at most",
                        options.bin_deg, count, kMostGroundBins));
    }
    out.bins = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < n; ++i) {
      const double at = std::floor(folded(azimuth[i]) / bin) - first;
      out.place[i] = static_cast<std::uint32_t>(std::clamp(at, 0.0, count - 1));
    }
  }
  out.azimuth_bins = out.bins;
  if (options.split) {
    for (std::size_t i = 0; i < n; ++i) {
      const double change = azimuth[std::min(i + 1, n - 1)] - azimuth[i == 0 ? 0 : i - 1];
      if (change < 0) out.place[i] += static_cast<std::uint32_t>(out.bins);
    }
    out.bins *= 2;
  }
  if (options.step > 0) add_steps(options.step, out);
  return out;
}

}  // namespace skyloom
