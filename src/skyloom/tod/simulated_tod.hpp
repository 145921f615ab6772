// SPDX-License-Identifier: BSD-3-Clause
// A satellite's data, made as they are asked for: sky and noise, nothing kept.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "loom/base/work_pool.hpp"
#include "skyloom/noise/noise_stream.hpp"
#include "skyloom/sky/sky_map.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

struct SimulationOptions {
  HexagonOptions plane = {.rate_hz = 100,
                          .noise = {.net = 50e-6, .fmin_hz = 1e-5, .fknee_hz = 0.05, .slope = 1}};
  SatelliteScan scan = {};
  std::size_t observations = 1;
  double observation_minutes = 60;
  double start_s = 1767225600;  ///< 2026-01-01 UTC
  std::uint64_t realization = 0;
  bool noise = true;
};

class SimulatedTod final : public TodSource {
 public:
  /// `sky`: what is scanned; none: noise alone. Throws kUsage, kNoiseModel.
  SimulatedTod(const SimulationOptions& options, std::shared_ptr<const SkyMap> sky);
  ~SimulatedTod() override;

  [[nodiscard]] std::size_t observations() const override { return observations_.size(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return observations_[number];
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override;
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override;
  [[nodiscard]] std::size_t work_bytes() const override {
    return maker_ ? maker_->work_bytes() : 0;
  }
  void rest() const override;

 private:
  struct Work;
  void add_sky(const Detector& detector, const Boresight& boresight, Work& work,
               std::span<double> signal) const;

  SimulationOptions options_;
  std::shared_ptr<const SkyMap> sky_;
  std::vector<Observation> observations_;
  std::optional<NoiseMaker> maker_;  ///< all observations have the same length
  std::vector<double> amplitudes_;
  mutable WorkPool<Work> works_;
};

}  // namespace skyloom
