// SPDX-License-Identifier: BSD-3-Clause
// The readers of formats.hpp on a file that is open already, in memory perhaps: for fuzzers, tests,
// and readers that share one open file. Internal to formats/ and its tests.
#pragma once

#include "fiberloom/formats/calibration_file.hpp"
#include "fiberloom/formats/formats.hpp"
#include "fiberloom/formats/redshift_file.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom::formats {

[[nodiscard]] PreprocFile parse_preproc(const fits::FitsReader& file,
                                        NoiseMap noise = NoiseMap::kMean);
[[nodiscard]] RawTable parse_fibermap(const fits::FitsReader& file);
[[nodiscard]] PsfFile parse_psf(const fits::FitsReader& file, const PsfReadOptions& options);
[[nodiscard]] FrameFile parse_frame(const fits::FitsReader& file,
                                    FrameTables tables = FrameTables::kFibermap);
[[nodiscard]] SpectraFile parse_spectra(const fits::FitsReader& file);
[[nodiscard]] RedshiftFile parse_redshifts(const fits::FitsReader& file);
[[nodiscard]] FiberFlatFile parse_fiber_flat(const fits::FitsReader& file);
[[nodiscard]] SkyFile parse_sky(const fits::FitsReader& file);
[[nodiscard]] StandardStarFile parse_standard_stars(const fits::FitsReader& file);
[[nodiscard]] StellarGridFile parse_stellar_grid(const fits::FitsReader& file);
[[nodiscard]] FluxCalibrationFile parse_flux_calibration(const fits::FitsReader& file);
[[nodiscard]] TruthFile parse_truth(const fits::FitsReader& file);
[[nodiscard]] std::vector<HduSummary> summarise(const fits::FitsReader& file);

/// A two-dimensional image as doubles. Throws kWrongShape.
[[nodiscard]] Array2D<double> read_matrix(const fits::FitsReader& file, const fits::Hdu& hdu);
/// A one-dimensional image as doubles. Throws kWrongShape.
[[nodiscard]] std::vector<double> read_vector(const fits::FitsReader& file, const fits::Hdu& hdu);
/// A two-dimensional integer image as bits (fits/pixel_convert.hpp). Throws kWrongShape,
/// kUnsupported.
[[nodiscard]] Array2D<std::uint32_t> read_bits(const fits::FitsReader& file, const fits::Hdu& hdu);
/// Throws kWrongShape unless the HDU is an image of so many axes.
void require_image(const fits::FitsReader& file, const fits::Hdu& hdu, std::size_t axes);
/// Spectra of one camera, without tables: {prefix}FLUX, IVAR, WAVELENGTH and, where they are there,
/// MASK and RESOLUTION. Throws kMissingHdu, kWrongShape.
[[nodiscard]] Spectra read_spectra_hdus(const fits::FitsReader& file, const std::string& prefix);
/// The HDU, whose shape must be [nspec][nwave] of FLUX. Throws kWrongShape.
const fits::Hdu& require_like_flux(const fits::FitsReader& file, const fits::Hdu& hdu,
                                   const fits::Hdu& flux);
/// The same of an odd number of diagonals: [nspec][ndiag][nwave]. Throws kWrongShape.
void require_resolution(const fits::FitsReader& file, const fits::Hdu& hdu, const fits::Hdu& flux);
/// Throws kUnsupported where BUNIT names another unit of wavelength than Angstrom: other programs
/// may count in nm or micron, and none of the numbers looks wrong. No BUNIT is Angstrom.
void require_angstrom(const fits::FitsReader& file, const fits::Hdu& hdu);
/// Wavelengths, as many as FLUX has bins. Throws kWrongShape, kUnsupported.
[[nodiscard]] std::vector<double> read_wave(const fits::FitsReader& file, const fits::Hdu& hdu,
                                            const fits::Hdu& flux);
/// Throws kUnsupported for a frame each fibre of which has wavelengths of its own.
void require_one_grid(const fits::FitsReader& file);
/// Throws kCorrupt unless they are finite and increase.
void require_increasing(const fits::FitsReader& file, const fits::Hdu& hdu,
                        const std::vector<double>& wave);
/// What stands before _WAVELENGTH in the names of HDUs, in the order of the file. Throws
/// kMissingHdu where there is a {CAMERA}_FLUX without.
[[nodiscard]] std::vector<std::string> find_cameras(const fits::FitsReader& file);
/// A table with a row for each spectrum, or nullopt. Throws kWrongShape.
[[nodiscard]] std::optional<Table> find_rows(const fits::FitsReader& file, const char* name,
                                             std::size_t nspec);
/// The table of this name, or nullopt.
[[nodiscard]] std::optional<Table> find_table(const fits::FitsReader& file,
                                              const std::string& name);

}  // namespace fiberloom::formats
