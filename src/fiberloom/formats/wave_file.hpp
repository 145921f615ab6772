// SPDX-License-Identifier: BSD-3-Clause
// Wavelength grids that a user wrote: text with a number a line, or FITS.
#pragma once

#include <string>

#include "fiberloom/formats/formats.hpp"
#include "loom/base/array.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom {

/// One row: the grid of all fibres; else a row for each fibre of the PSF. Angstrom, increasing. Of
/// a FITS file the HDU FIBER_WAVELENGTH, else WAVELENGTH, else the first image, of one or two axes;
/// of any other the first number of each line, '#' beginning a comment. Throws kNotFound,
/// kMissingHdu, kWrongShape, kCorrupt.
[[nodiscard]] Array2D<double> read_wave_file(const std::string& path, Verify verify = Verify::kYes);
/// The same of what was read; `label` names it in errors.
[[nodiscard]] Array2D<double> parse_wave_text(const std::string& text, const std::string& label);
[[nodiscard]] Array2D<double> parse_wave_fits(const fits::FitsReader& file);

}  // namespace fiberloom
