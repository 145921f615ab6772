// SPDX-License-Identifier: BSD-3-Clause
// Which random stream belongs to what, so that no two draws of a simulation share numbers.
#pragma once

#include <cstdint>
#include <string>

namespace fiberloom {

enum class Draw : std::uint64_t {
  kPsf = 1,
  kTargets,
  kThroughput,
  kPoisson,
  kReadNoise,
  kCosmics,
  kDefects,
};

/// What a stream belongs to besides its purpose. Targets have neither camera nor exposure.
struct StreamOwner {
  std::uint64_t camera = 0;  ///< see camera_number()
  std::uint64_t expid = 0;
};

/// Stream number: purpose, camera and exposure in bits of their own.
[[nodiscard]] constexpr std::uint64_t rng_stream(Draw draw, StreamOwner owner = {}) noexcept {
  return static_cast<std::uint64_t>(draw) | (owner.camera & 0xFFU) << 8 | owner.expid << 16;
}

/// 1 + 10 * band + spectrograph of a camera name such as "r0".
[[nodiscard]] constexpr std::uint64_t camera_number(char band, int spectrograph) noexcept {
  const std::uint64_t b = band == 'b' ? 0 : band == 'r' ? 1 : 2;
  return 1 + 10 * b + static_cast<std::uint64_t>(spectrograph);
}

}  // namespace fiberloom
