// SPDX-License-Identifier: BSD-3-Clause
// Which fibres and pixels a step of the calibration may use: bits of FIBERSTATUS and of the
// spectra's mask, as desispec has them.
#pragma once

#include <cstdint>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom::calibrate {

/// Bits of FIBERSTATUS.
enum FiberStatus : std::uint32_t {
  kBrokenFiber = 1U << 2,
  kMissingPosition = 1U << 8,
  kBadPosition = 1U << 9,
  kPoorPosition = 1U << 10,
  kBrightNeighbor = 1U << 11,
  kVariableThroughput = 1U << 14,
  kBadFiberStatus = 1U << 16,
  kBadTrace = 1U << 17,
  kBadFlat = 1U << 18,
  kBadArc = 1U << 19,
  kManyRejected = 1U << 21,
  kBadAmpB = 1U << 22,
  kBadAmpR = 1U << 23,
  kBadAmpZ = 1U << 24,
};

enum class Purpose { kFlat, kSky, kStars, kFlux };

/// Bits that keep a fibre of camera 'b', 'r' or 'z' (any other: of all of them) from its purpose.
[[nodiscard]] std::uint32_t fatal_bits(Purpose purpose, char band) noexcept;

/// For each spectrum whether its FIBERSTATUS forbids the purpose; no fibermap, or none of that
/// name in it: nothing does.
[[nodiscard]] std::vector<bool> forbidden(const Spectra& spectra, Purpose purpose, char band);

/// ivar, 0 where it is no positive number, flux is none, a mask bit is set, or the fibre is
/// forbidden.
[[nodiscard]] Array2D<double> usable_ivar(const Spectra& spectra, Purpose purpose, char band);

}  // namespace fiberloom::calibrate
