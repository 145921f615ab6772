// SPDX-License-Identifier: BSD-3-Clause
// Spectra of the targets in a part of the sky: pixels of HEALPix, nested, as the field groups by.
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

struct SkyPixels {
  std::vector<long> numbers;  ///< empty: the whole sky
  int nside = 64;             ///< a power of two
};

/// Throws kUsage for an nside that is none and numbers that no pixel has.
void check_pixels(const SkyPixels& pixels);

/// Rows whose TARGET_RA and TARGET_DEC lie in one of the pixels; fibres of the sky (OBJTYPE) and
/// places that are no numbers lie in none. Throws kMissingKeyword without these columns.
[[nodiscard]] std::vector<std::size_t> rows_in(const SkyPixels& pixels, const SpectraFile& file);

/// These rows alone, of all cameras and tables.
void keep_rows(const std::vector<std::size_t>& rows, SpectraFile& file);

/// What the header of such a group says: SPGRP, of one pixel SPGRPVAL and HPXPIXEL, HPXNSIDE,
/// HPXNEST; without TILEID, PETAL and NIGHT, of which it may have several.
void label_group(const SkyPixels& pixels, HeaderCards& header);

}  // namespace fiberloom
