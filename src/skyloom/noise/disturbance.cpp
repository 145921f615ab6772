// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/disturbance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace skyloom {
namespace {

constexpr double kWalkStep = 1;    // seconds between nodes
constexpr double kEnds = 13.8155;  // decays to 1e-6

}  // namespace

void make_gain(const GainOptions& options, StreamName name, double rate_hz, std::span<double> out) {
  if (out.empty()) return;
  name.component = kGainComponent;
  const double last = static_cast<double>(out.size() - 1) / rate_hz;
  const auto steps = static_cast<std::size_t>(std::ceil(last / kWalkStep));
  std::vector<double> walk(steps + 2);  // the first number is the drift's
  fill_gaussian(name.key(), {0, 0}, walk);
  const double slope = last > 0 ? options.drift * walk[0] / last : 0;
  const double step = options.walk * std::sqrt(kWalkStep / 3600);
  walk[0] = 0;
  for (std::size_t k = 1; k < walk.size(); ++k) walk[k] = walk[k - 1] + step * walk[k];
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double t = static_cast<double>(i) / rate_hz, place = t / kWalkStep;
    const std::size_t k = std::min(static_cast<std::size_t>(place), steps);
    const double share = place - static_cast<double>(k);
    out[i] = 1 + slope * t + walk[k] + share * (walk[k + 1] - walk[k]);
  }
}

void add_glitches(const GlitchOptions& options, StreamName name, double rate_hz,
                  std::span<double> signal) {
  if (!options.any()) return;
  name.component = kGlitchComponent;
  const Words key = name.key();
  const double last = static_cast<double>(signal.size()) / rate_hz;
  double time = 0;
  for (std::uint64_t number = 0;; ++number) {
    const Words drawn = threefry(key, {0, number});
    time -= std::log(unit_interval(drawn.first)) * 3600 / options.per_hour;
    if (!(time < last)) return;
    const double height = -std::log(unit_interval(drawn.second)) * options.height_k;
    const auto first = static_cast<std::size_t>(std::ceil(time * rate_hz));
    const double decay = options.decay_s * rate_hz;  // samples
    const std::size_t end =
        std::min(signal.size(), first + 1 + static_cast<std::size_t>(decay * kEnds));
    for (std::size_t i = first; i < end; ++i) {
      const double after = static_cast<double>(i - first);
      signal[i] += height * (after == 0 ? 1 : std::exp(-after / decay));
    }
  }
}

}  // namespace skyloom
