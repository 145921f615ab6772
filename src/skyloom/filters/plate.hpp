// SPDX-License-Identifier: BSD-3-Clause
// What the angles of a half-wave plate say of how it turns. Knows no detectors.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "skyloom/foundation.hpp"
#include "skyloom/pointing/satellite.hpp"
#include "skyloom/pointing/stretch.hpp"

namespace skyloom {

/// Angles of the plate at each sample. Throws kMissingHdu where there is none. `name` and `wish`
/// (an option) are for the message, here and below.
[[nodiscard]] std::span<const double> plate_angles(const Boresight& boresight, std::size_t samples,
                                                   const std::string& name,
                                                   const std::string& wish);

/// Turns a sample, either way: the mean over all samples of steps that are taken the short way
/// round. Throws kUsage where the middle step is below 1e-6 rad: the plate stands, or goes in
/// steps.
[[nodiscard]] double plate_turns(std::span<const double> angles, const std::string& name,
                                 const std::string& wish);

struct EvenTurns {
  double turns = 0;                  ///< a sample, either way: the mean where it turns evenly
  std::vector<Stretch> uneven = {};  ///< samples, growing and apart
};

/// The same of a plate that may stand, turn about or come to its speed for less than half of the
/// time: samples around which, over a turn, it is more than `tolerance` (relative) off the middle
/// speed are told apart. Throws kUsage as well where less than half of them are left.
[[nodiscard]] EvenTurns even_turns(std::span<const double> angles, double tolerance,
                                   const std::string& name, const std::string& wish);

/// Throws kUsage where `harmonic` times the plate's turns a sample is not below half a turn: no
/// samples of that rate know it.
void check_plate_rate(double turns, double harmonic, double rate_hz, const std::string& name,
                      const std::string& wish);

}  // namespace skyloom
