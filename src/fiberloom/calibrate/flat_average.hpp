// SPDX-License-Identifier: BSD-3-Clause
// Fibre flats of a night: exposures of a lamp as one, and lamps as one for all spectrographs of a
// band, as light from the sky would fill the focal plane. Knows no files.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"

namespace fiberloom::calibrate {

/// Flats of the same fibres, exposure by exposure: of two the mean weighted by ivar, of three or
/// more the median of pixels that are not masked, with 2 / pi of their ivar. A pixel is masked
/// where it is in all. Throws kWrongShape where there is none, or grids or fibres differ.
[[nodiscard]] FiberFlat average_flats(std::span<const FiberFlat> flats);

/// A flat of one lamp (or of one exposure) and one spectrograph.
struct LampFlat {
  std::int64_t lamp = 0;
  int spectrograph = 0;
  FiberFlat flat;
};

/// What becomes of ivar where a flat is scaled.
enum class ScaledErrors {
  kFollow,  ///< errors are scaled as the flat
  kStay,    ///< desispec's rule: they are not, but by the centre's value
};

/// Has it the places of its fibres, FIBERASSIGN_X and FIBERASSIGN_Y?
[[nodiscard]] bool has_places(const FiberFlat& flat);

/// One flat a spectrograph, in the order of their numbers. Of each lamp: the flats of all
/// spectrographs against one mean spectrum; at each wavelength 1, x, y, x^2 + y^2 over the focal
/// plane (FIBERASSIGN_X, FIBERASSIGN_Y of FIBERMAP, mm; fibres of FIBERSTATUS 0 with more than half
/// of their pixels), whose value in the centre is 1 then; the mean of these fibres where they are
/// too few, or too far from the centre, to tell it better than one fibre would. Lamps are averaged,
/// the median over spectrographs of their median fibres is 1, spikes and pixels of an error above
/// 5 % are bridged. FIBERSTATUS gets BADFLAT where more than a quarter of a fibre is masked. Throws
/// kWrongShape where grids differ or a lamp lacks a spectrograph that another has, kMissingKeyword
/// without places, kNumerical where a lamp has no good fibre.
[[nodiscard]] std::vector<LampFlat> combine_lamps(std::vector<LampFlat> flats,
                                                  ScaledErrors errors = ScaledErrors::kFollow);

}  // namespace fiberloom::calibrate
