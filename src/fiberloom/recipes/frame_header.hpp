// SPDX-License-Identifier: BSD-3-Clause
// Header cards of the output, after desispec's extraction script. No time, host or path of its own.
#pragma once

#include <string>

#include "fiberloom/recipes/frame_steps.hpp"

namespace fiberloom {

/// The input's cards and NSPEC, WAVEMIN, WAVEMAX, WAVESTEP, SPECTER, IN_PSF, IN_IMG, ORIG_PSF,
/// FIBERMIN, DEPNAMnn/DEPVERnn, HELIOCOR where it is not 1, and what else the numbers depend on.
[[nodiscard]] HeaderCards frame_header(const ExtractJob& job, const PreparedFrame& frame);

/// Cards of a model or residual image: the same, in electrons.
[[nodiscard]] HeaderCards image_header(HeaderCards header);

/// desispec's shorten_filename: $DESI_SPECTRO_CALIB and $DESI_SPECTRO_REDUX/$SPECPROD at the start
/// become SPCALIB and SPECPROD.
[[nodiscard]] std::string shorten_filename(const std::string& path);

/// Puts (name, version) into DEPNAMnn/DEPVERnn: in place where the name is there, else under the
/// first free number (desiutil's depend).
void set_dependency(HeaderCards& header, const std::string& name, const std::string& version);

}  // namespace fiberloom
