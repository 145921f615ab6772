// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data, wherever they come from: observations, their detectors, where the boresight
// looks, and signals detector by detector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "skyloom/ground/elevation_scan.hpp"
#include "skyloom/noise/common_mode.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/pointing/focal_plane.hpp"
#include "skyloom/pointing/satellite.hpp"

namespace skyloom {

/// What an observation from the ground is a scan of.
struct GroundPlan {
  std::string site_name;
  Site site = {};
  GroundScan scan = {};
};

/// rad, of azimuths and of plates: nearer than that digits are left for where they stand.
inline constexpr double kMostAngle = 1e9;

struct Observation {
  std::string name, session, telescope = "satellite";
  std::string frame = {};  ///< what the boresight is in, as COORDSYS has it; empty: not said
  std::uint32_t uid = 0, session_uid = 0, telescope_uid = 0;
  FocalPlane plane;
  std::size_t samples = 0;
  double start_s = 0;      ///< Unix time of the first sample
  std::int64_t first = 0;  ///< its number in the mission
  /// What filters take one by one, growing and apart; samples outside are left out. Empty: the
  /// observation is one stretch.
  std::vector<Stretch> stretches = {};
  std::optional<GroundPlan> ground = {};  ///< of a simulation from the ground
  /// Of a simulation: noise that its detectors have in common; nullptr: none.
  std::shared_ptr<const CommonModes> commons = {};
};

/// What a simulation did to a detector beside sky and noise; empty: nothing of that kind.
struct Truth {
  std::vector<double> gain;    ///< of each sample: the sky, not the noise, is multiplied by it
  std::vector<double> glitch;  ///< K, of each sample
};

/// A detector's samples, to be filled.
struct Signal {
  std::span<double> values;
  std::span<std::uint8_t> flags;  ///< not 0: left out
};

class JointFilter;

class TodSource {
 public:
  virtual ~TodSource() = default;
  [[nodiscard]] virtual std::size_t observations() const = 0;
  [[nodiscard]] virtual const Observation& observation(std::size_t number) const = 0;
  [[nodiscard]] virtual Boresight boresight(std::size_t number) const = 0;
  /// How the mount moved; nullptr: there is none, or nothing is known of it.
  [[nodiscard]] virtual std::shared_ptr<const GroundMotion> motion(std::size_t /*number*/) const {
    return nullptr;
  }
  /// The spectrum of a detector's noise; that of its DetectorNoise. Throws kNoiseModel.
  [[nodiscard]] virtual NoisePsd noise(std::size_t number, std::size_t detector) const;
  /// Whether more than a weight is known of that noise.
  [[nodiscard]] virtual bool has_spectra(std::size_t /*number*/) const { return true; }
  /// Of a simulation; what truth(number, ...) has is the same for all detectors of an observation.
  [[nodiscard]] virtual Truth truth(std::size_t /*number*/, std::size_t /*detector*/) const {
    return {};
  }
  /// So many detectors are read together at most; such groups begin with multiples of it.
  [[nodiscard]] virtual std::size_t group() const { return 2; }
  /// Detectors of a group from its `first` on, all samples. Safe from any thread. What is read does
  /// not depend on the order.
  virtual void read(std::size_t number, const Boresight& boresight, std::size_t first,
                    std::span<const Signal> signals) const = 0;
  /// All detectors of an observation are about to be read: what reading one asks of all others is
  /// looked at now. Not while others read.
  virtual void prepare(std::size_t /*number*/, const Boresight& /*boresight*/,
                       Executor& /*executor*/, const Observer& /*observer*/) const {}
  /// What read() fits to the detectors of the observation that was prepared, all templates
  /// together; nullptr: it does not.
  [[nodiscard]] virtual const JointFilter* joint(std::size_t /*number*/) const { return nullptr; }
  /// Further templates of that fit, of a detector alone, [template][sample]. From any thread.
  [[nodiscard]] virtual std::vector<std::vector<double>> own_templates(
      std::size_t /*number*/, const Boresight& /*boresight*/, std::size_t /*detector*/) const {
    return {};
  }
  /// What read() works with in each thread, bytes.
  [[nodiscard]] virtual std::size_t work_bytes() const { return 0; }
  /// What it works with for all threads together, bytes.
  [[nodiscard]] virtual std::size_t shared_bytes() const { return 0; }
  /// Nothing is read for a while: what reading works with is given back.
  virtual void rest() const {}
};

/// Its samples.
[[nodiscard]] inline std::size_t longest_observation(const TodSource& source) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < source.observations(); ++i)
    most = std::max(most, source.observation(i).samples);
  return most;
}

}  // namespace skyloom
