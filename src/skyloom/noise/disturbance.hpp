// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong in a detector beside its noise: a gain that drifts, glitches of particles. Knows
// no sky.
#pragma once

#include <span>

#include "skyloom/random/gaussian.hpp"

namespace skyloom {

/// g(t) = 1 + drift x t / T + w(t): x normal, T the observation's length, w a random walk.
struct GainOptions {
  double drift = 0;  ///< rms of what an observation ends with
  double walk = 0;   ///< rms that the walk has come to after an hour
  [[nodiscard]] bool any() const noexcept { return drift > 0 || walk > 0; }
};

/// A pulse that rises at once and decays: times are Poisson's, heights exponentially distributed.
struct GlitchOptions {
  double per_hour = 0;    ///< of a detector
  double height_k = 0.1;  ///< mean, K
  double decay_s = 0.02;  ///< to 1/e; 0: one sample
  [[nodiscard]] bool any() const noexcept { return per_hour > 0; }
};

/// Components of the streams, which noise does not take.
inline constexpr std::uint64_t kGainComponent = 1001, kGlitchComponent = 1002;
/// The first of those that an atmosphere takes, one a row of its grid.
inline constexpr std::uint64_t kAtmosphereComponent = 2000;

/// The gain of each sample, 1 at the first. The walk has a step a second, and straight lines
/// between. `name`: of the detector in this observation; its component is set here.
void make_gain(const GainOptions& options, StreamName name, double rate_hz, std::span<double> out);

/// Adds the pulses of an observation; those that are below 1e-6 of their height have ended.
void add_glitches(const GlitchOptions& options, StreamName name, double rate_hz,
                  std::span<double> signal);

}  // namespace skyloom
