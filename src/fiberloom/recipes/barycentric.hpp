// SPDX-License-Identifier: BSD-3-Clause
// The barycentric factor of a frame from what its headers say. The astronomy is in astro/.
#pragma once

#include "fiberloom/recipes/frame_inputs.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// Where the telescope pointed and the middle of the exposure, with the cards that said so.
struct Pointing {
  double ra_deg = 0, dec_deg = 0, mjd = 0;
  bool exptime_known = true;  ///< no EXPTIME: `mjd` is the start
};

/// Of the image's header, else of the fibermap's: the first that has TARGTRA or RA, as desispec
/// chooses, else the first that has any pair. Pairs in desispec's order: TARGTRA and TARGTDEC,
/// SKYRA and SKYDEC, TELRA and TELDEC, RA and DEC. MJD-OBS (else MJD) and EXPTIME of the same
/// header, else of the other. Throws kMissingKeyword, also for a value that makes no sense or a
/// time beyond the ephemeris.
[[nodiscard]] Pointing find_pointing(const FrameInputs& in);

/// f of the frame (reference: desispec's --barycentric-correction), at Kitt Peak. A frame without
/// EXPTIME is warned of.
[[nodiscard]] double frame_barycentric_factor(const FrameInputs& in, const Observer& observer);

}  // namespace fiberloom
