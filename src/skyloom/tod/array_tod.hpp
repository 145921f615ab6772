// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data that a caller has in memory: views of arrays, nothing copied but the pointing
// of the observation that is at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// Samples of a detector, as they lie.
using SampleView = std::variant<std::span<const double>, std::span<const float>>;

struct ArrayDetector {
  SampleView signal;
  std::span<const std::uint8_t> flags = {};  ///< empty: none
  NoisePsd noise = {};                       ///< empty: that of the detector (DetectorNoise)
};

/// What belongs to an observation; every view outlives the source.
struct ArrayObservation {
  Observation about;                                ///< weights come from its detectors' NET
  std::span<const double> boresight;                ///< [sample][x, y, z, w]
  std::span<const double> plate = {};               ///< rad; empty: there is none
  std::span<const double> azimuth = {};             ///< rad; empty: nothing is known of it
  std::span<const std::uint8_t> shared_flags = {};  ///< empty: none
  std::uint8_t detector_mask = 255, shared_mask = 255;
  std::vector<ArrayDetector> detectors;  ///< in the order of about.plane
};

class ArrayTod final : public TodSource {
 public:
  /// Throws kUsage where lengths differ, kCorrupt where a quaternion or an angle is no number.
  explicit ArrayTod(std::vector<ArrayObservation> observations);

  [[nodiscard]] std::size_t observations() const override { return observations_.size(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return observations_[number].about;
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override;
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t number) const override;
  [[nodiscard]] NoisePsd noise(std::size_t number, std::size_t detector) const override;
  /// Whether every detector's was given.
  [[nodiscard]] bool has_spectra(std::size_t number) const override;
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override;

 private:
  std::vector<ArrayObservation> observations_;
};

}  // namespace skyloom
