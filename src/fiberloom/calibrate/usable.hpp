// SPDX-License-Identifier: BSD-3-Clause
// Which fibres and pixels a step of the calibration may use: bits of FIBERSTATUS and of the
// spectra's mask, as desispec has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom::calibrate {

/// Bits of FIBERSTATUS.
enum FiberStatus : std::uint32_t {
  kUnassigned = 1U << 0,
  kBrokenFiber = 1U << 2,
  kMissingPosition = 1U << 8,
  kBadPosition = 1U << 9,
  kPoorPosition = 1U << 10,
  kBrightNeighbor = 1U << 11,
  kVariableThroughput = 1U << 14,
  kLowEffectiveTime = 1U << 15,
  kBadFiberStatus = 1U << 16,
  kBadTrace = 1U << 17,
  kBadFlat = 1U << 18,
  kBadArc = 1U << 19,
  kManyRejected = 1U << 21,
  kBadAmpB = 1U << 22,
  kBadAmpR = 1U << 23,
  kBadAmpZ = 1U << 24,
  kBadPetalPositions = 1U << 25,  // from here on what a look at a whole exposure finds
  kBadPetalSky = 1U << 26,
  kBadPetalStars = 1U << 27,
  kBadPetalFlux = 1U << 28,
  kBadPetalSnr = 1U << 29,
  kBadReadNoise = 1U << 30,
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

/// Flux and ivar become 0, and mask kNoData, where either is no number (in single precision, as
/// files have it), ivar is below 0, or the row of R has something that is none; such rows become 0
/// too: a product with weight 0 is a number then. How many bins; those that had ivar 0 and a row
/// without numbers alone do not count.
std::size_t drop_what_is_no_number(Spectra& spectra);

/// Throws kWrongShape unless `what` (of `nspec` spectra at `wave`) is made for the spectra's grid,
/// as same_wave() has it.
void require_same_grid(const char* what, const std::vector<double>& wave, std::size_t nspec,
                       const Spectra& spectra);

/// Whether any weight is above 0.
[[nodiscard]] bool any_above_zero(std::span<const double> weights) noexcept;

}  // namespace fiberloom::calibrate
