// SPDX-License-Identifier: BSD-3-Clause
// Data of a satellite, or of a telescope on the ground, made as they are asked for: sky and noise,
// nothing kept.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "loom/base/work_pool.hpp"
#include "skyloom/noise/disturbance.hpp"
#include "skyloom/noise/noise_stream.hpp"
#include "skyloom/sky/sky_map.hpp"
#include "skyloom/tod/atmosphere.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// Motions whose dipole is added to the sky: of the solar system through the background, of the
/// Earth around the Sun, or both.
enum class Dipole { kNone, kSolar, kOrbital, kTotal };

struct SimulationOptions {
  HexagonOptions plane = {.rate_hz = 100,
                          .noise = {.net = 50e-6, .fmin_hz = 1e-5, .fknee_hz = 0.05, .slope = 1}};
  std::shared_ptr<const FocalPlane> given = {};  ///< instead of the hexagon, at its rate
  SatelliteScan scan = {};
  /// What is scanned from the ground, one observation a scan; none: a satellite.
  std::shared_ptr<const GroundSchedule> schedule = {};
  MountOptions mount = {};
  double ut1_minus_utc_s = 0;  ///< on the ground: of the site
  std::string stretches = {};  ///< of a scan from the ground: an interval; empty: the whole
  std::size_t observations = 1;
  double observation_minutes = 60;
  double start_s = 1767225600;  ///< of a satellite: 2026-01-01 UTC
  std::uint64_t realization = 0;
  bool noise = true;
  Dipole dipole = Dipole::kNone;
  GainOptions gain = {};
  GlitchOptions glitches = {};
  AtmosphereOptions atmosphere = {};  ///< from the ground
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
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t number) const override;
  [[nodiscard]] Truth truth(std::size_t number, std::size_t detector) const override;
  void prepare(std::size_t number, const Boresight& boresight, Executor& executor,
               const Observer& observer) const override;
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override;
  [[nodiscard]] std::size_t work_bytes() const override;
  [[nodiscard]] std::size_t shared_bytes() const override;
  void rest() const override;

 private:
  struct Work;
  /// What makes the noise of observations of one length.
  struct Noise {
    NoiseMaker maker;
    std::vector<double> amplitudes;  ///< of all detectors; empty: each has its own
  };
  void add_satellite();
  void add_ground();
  void add_observation(Observation observation);
  void add_noise(const Noise& noise, std::size_t number, std::size_t first, Work& work,
                 std::span<const Signal> signals) const;
  [[nodiscard]] StreamName stream_name(std::size_t number, std::size_t detector) const;
  /// Sky, dipole and atmosphere, times the gain.
  void add_seen(std::size_t number, std::size_t detector, const Boresight& boresight, Work& work,
                std::span<double> signal) const;
  void add_sky(const Detector& detector, const Boresight& boresight, Work& work,
               std::span<double> signal) const;
  void add_dipole(const Observation& observation, const Detector& detector,
                  const Boresight& boresight, std::span<double> signal) const;

  SimulationOptions options_;
  std::shared_ptr<const SkyMap> sky_;
  std::vector<Observation> observations_;
  std::map<std::size_t, Noise> noises_;  ///< by samples; empty: there is no noise
  /// Of an observation from the ground; made where it is not that which was asked for last.
  [[nodiscard]] std::shared_ptr<const Atmosphere> atmosphere(std::size_t number,
                                                             Executor& executor) const;
  mutable std::mutex atmosphere_mutex_;
  mutable std::size_t atmosphere_number_ = 0;
  mutable std::shared_ptr<const Atmosphere> atmosphere_;
  /// The motion that was asked for last.
  mutable std::mutex motion_mutex_;
  mutable std::size_t motion_number_ = 0;
  mutable std::shared_ptr<const GroundMotion> motion_;
  mutable WorkPool<Work> works_;
};

}  // namespace skyloom
