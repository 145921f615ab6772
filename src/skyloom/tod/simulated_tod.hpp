// SPDX-License-Identifier: BSD-3-Clause
// Data of a satellite, or of a telescope on the ground, made as they are asked for: sky and noise,
// nothing kept.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loom/base/work_pool.hpp"
#include "skyloom/noise/disturbance.hpp"
#include "skyloom/sky/sky_map.hpp"
#include "skyloom/tod/atmosphere.hpp"
#include "skyloom/tod/ground_signal.hpp"
#include "skyloom/tod/last_made.hpp"
#include "skyloom/tod/observation.hpp"
#include "skyloom/tod/plate_signal.hpp"
#include "skyloom/tod/simulated_noise.hpp"

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
  CommonOptions common = {};                   ///< beside each detector's own noise
  std::vector<std::string> more_commons = {};  ///< further modes: common_of(), components 1, 2 ...
  Dipole dipole = Dipole::kNone;
  GainOptions gain = {};
  GlitchOptions glitches = {};
  AtmosphereOptions atmosphere = {};  ///< from the ground
  GroundOptions ground = {};          ///< from the ground
  PlateSignalOptions plate = {};      ///< behind a half-wave plate
};

/// What the boresight is in, as COORDSYS has it: E (ecliptic) or C.
[[nodiscard]] inline const char* frame_letter(const SimulationOptions& options) noexcept {
  return !options.schedule && options.scan.frame == Frame::kEcliptic ? "E" : "C";
}

/// All modes of noise in common that are asked for. Throws kUsage.
[[nodiscard]] std::vector<CommonOptions> commons_of(const SimulationOptions& options);

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
  /// Its own spectrum, and that of what it has in common, as it sees it.
  [[nodiscard]] NoisePsd noise(std::size_t number, std::size_t detector) const override;
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
  void add_satellite();
  void add_ground();
  void add_observation(Observation observation);
  [[nodiscard]] StreamName name_of(std::size_t number, std::size_t detector) const;
  /// Sky, dipole, atmosphere, ground and what the plate adds, times the gain.
  void add_seen(std::size_t number, std::size_t detector, const Boresight& boresight, Work& work,
                std::span<double> signal) const;
  void add_sky(const Detector& detector, const Boresight& boresight, Work& work,
               std::span<double> signal) const;
  void add_dipole(const Observation& observation, const Detector& detector,
                  const Boresight& boresight, std::span<double> signal) const;

  SimulationOptions options_;
  std::shared_ptr<const SkyMap> sky_;
  std::vector<Observation> observations_;
  SimulatedNoise noise_;  ///< nothing is expected of it where there is none
  /// Of an observation from the ground.
  [[nodiscard]] std::shared_ptr<const Atmosphere> atmosphere(std::size_t number,
                                                             Executor& executor) const;
  std::optional<GroundSignal> ground_;
  mutable LastMade<Boresight> horizon_;
  mutable LastMade<Atmosphere> atmosphere_;
  mutable LastMade<GroundMotion> motion_;
  mutable WorkPool<Work> works_;
};

}  // namespace skyloom
