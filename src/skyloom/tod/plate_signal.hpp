// SPDX-License-Identifier: BSD-3-Clause
// What a half-wave plate that turns adds by itself: signals that go with its angle. Knows no sky.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/random/gaussian.hpp"

namespace skyloom {

struct PlateSignalOptions {
  std::vector<double> amplitudes_k = {};  ///< K, of the harmonics of the angle from the first on
  double spread = 0;                      ///< of the detectors' amplitudes, rms, relative
  double drift = 0;                       ///< of an amplitude over an observation, rms, relative
  [[nodiscard]] bool any() const noexcept { return !amplitudes_k.empty(); }
};

/// Component of its streams.
inline constexpr std::uint64_t kPlateComponent = 1003;

/// Adds sum over k of A_k (1 + spread y_k + drift x_k t / T) cos(k angle - phase_k). Phases and y
/// are a detector's, in all observations of a realization; x is drawn for each observation. `name`:
/// the detector's stream there. O(n harmonics).
void add_plate_signal(const PlateSignalOptions& options, StreamName name,
                      std::span<const double> angles, std::span<double> signal);

}  // namespace skyloom
