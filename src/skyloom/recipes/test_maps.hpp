// SPDX-License-Identifier: BSD-3-Clause
// For tests: a small simulation, what maps of it are asked for, a sky.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "skyloom/recipes/map_job.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom::test {

/// Two observations of 10 minutes that turn fast, 14 detectors.
inline SimulationOptions small_simulation() {
  SimulationOptions options;
  options.plane.width_deg = 20;
  options.plane.rate_hz = 5;
  options.scan = {.spin_minutes = 1.3, .precession_minutes = 17, .year_days = 0};
  options.observations = 2;
  options.observation_minutes = 10;
  return options;
}

inline MapJob small_maps(const std::string& folder) {
  MapJob job{.folder = folder, .nside = 16, .step_s = 10, .type = MapType::kFloat64};
  job.solve.least_reciprocal = 1e-3;
  return job;
}

inline std::shared_ptr<const SkyMap> some_sky(std::int64_t nside) {
  auto sky = std::make_shared<SkyMap>();
  sky->pixels = Healpix(nside);
  sky->values.resize(3 * static_cast<std::size_t>(sky->pixels.pixels()));
  for (std::size_t i = 0; i < sky->values.size(); ++i) {
    sky->values[i] = static_cast<float>(std::sin(1 + 0.37 * static_cast<double>(i)));
  }
  return sky;
}

/// A detector's samples, read with the other one of its pair.
inline std::vector<double> samples_of(const TodSource& source, std::size_t number,
                                      std::size_t detector) {
  const std::size_t n = source.observation(number).samples;
  std::vector<double> values[2] = {std::vector<double>(n), std::vector<double>(n)};
  std::vector<std::uint8_t> flags(n);
  const Signal pair[] = {{values[0], flags}, {values[1], flags}};
  source.read(number, source.boresight(number), detector / 2 * 2, pair);
  return values[detector % 2];
}

/// Another source's samples, changed after they are read: change(first detector, signals).
class ChangedTod : public TodSource {
 public:
  using Change = std::function<void(std::size_t first, std::span<const Signal> signals)>;
  ChangedTod(const TodSource& source, Change change)
      : source_(source), change_(std::move(change)) {}
  [[nodiscard]] std::size_t observations() const override { return source_.observations(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return source_.observation(number);
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override {
    return source_.boresight(number);
  }
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override {
    source_.read(number, boresight, first, signals);
    change_(first, signals);
  }

 private:
  const TodSource& source_;
  Change change_;
};

}  // namespace skyloom::test
