// SPDX-License-Identifier: BSD-3-Clause
// A mount that goes up and down while it sweeps, as the peer's does. Knows no azimuths.
#pragma once

#include <cstddef>
#include <span>

#include "skyloom/ground/elevation_nod.hpp"

namespace skyloom {

struct ModulationOptions {
  double rate_hz = 0;        ///< 0: the elevation stays
  double amplitude_deg = 1;  ///< to either side
  bool sine = false;  ///< of each sweep a sine from its beginning; else there and back, evenly
  double sine_phase_deg = 0;  ///< by which each sweep's sine is ahead of the last one's
  std::size_t sine_seed = 0;  ///< not 0: phases are drawn instead, the peer's numbers
  [[nodiscard]] bool any() const noexcept { return rate_hz > 0; }
};

/// The time of a sweep, seconds from the first sample.
struct SweepTime {
  double begin_s = 0, end_s = 0;
};

/// Adds the motion to elevations (rad) of samples at `sample_rate_hz`, the first at Unix time
/// `start_s`. Evenly: a rate between turnarounds of the mount's acceleration, all through, from a
/// phase that the peer draws for that second. A sine: in each sweep alone, from its nearest sample
/// to its end's. Throws kUsage where the mount's rate or acceleration do not suffice, and where an
/// elevation would not be above 0 and below 90 degrees.
void modulate_elevation(const ModulationOptions& options, AxisSpeed mount, double start_s,
                        double sample_rate_hz, std::span<const SweepTime> sweeps,
                        std::span<double> elevation);

/// Steps up by `step_deg`, each around the moment of a sample (numbers in `at`), at the mount's
/// rate between turnarounds of its acceleration. Throws kUsage as modulate_elevation().
void step_elevation(double step_deg, AxisSpeed mount, double sample_rate_hz,
                    std::span<const std::size_t> at, std::span<double> elevation);

}  // namespace skyloom
