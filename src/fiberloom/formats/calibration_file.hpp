// SPDX-License-Identifier: BSD-3-Clause
// Fibre flats, skies, models of standard stars and flux calibrations as desispec keeps them
// (docs/fiberloom/formats.md).
#pragma once

#include <string>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/spectrum/calibration.hpp"

namespace fiberloom {

/// HDUs FIBERFLAT, IVAR, MASK, MEANSPEC, WAVELENGTH, FIBERMAP.
struct FiberFlatFile : FiberFlat {
  std::string path;    ///< that was read
  HeaderCards header;  ///< of FIBERFLAT
};
/// Throws kMissingHdu, kWrongShape, kCorrupt where wavelengths do not increase.
[[nodiscard]] FiberFlatFile read_fiber_flat(const std::string& path, Verify verify = Verify::kYes);
/// Its cards alone.
[[nodiscard]] HeaderCards read_fiber_flat_header(const std::string& path);
/// float32, as desispec; wavelengths float64 so that a frame's are found again. As write_frame
/// otherwise. kInternal where shapes differ.
void write_fiber_flat(const std::string& path, const FiberFlatFile& file, Overwrite overwrite);

/// HDUs SKY, IVAR, MASK, WAVELENGTH, STATIVAR, THRPUTCORR.
struct SkyFile : SkyModel {
  std::string path;
  HeaderCards header;  ///< of SKY
};
/// As read_fiber_flat; what stands after WAVELENGTH need not be there.
[[nodiscard]] SkyFile read_sky(const std::string& path, Verify verify = Verify::kYes);
void write_sky(const std::string& path, const SkyFile& file, Overwrite overwrite,
               FilesTogether* together = nullptr);
/// HDUs WAVELENGTH, DWAVE, DLSF (desispec's skycorr): what a sky's lines were moved and widened by,
/// [nspec][nwave] Angstrom.
void write_sky_adjustments(const std::string& path, const std::vector<double>& wave,
                           const Array2D<double>& shift, const Array2D<double>& width,
                           const HeaderCards& header, Overwrite overwrite,
                           FilesTogether* together = nullptr);

/// HDUs FLUX, WAVELENGTH, FIBERS, METADATA, COEFF, FIBERMAP, INPUT_FRAMES of desi_fit_stdstars:
/// stars of known spectrum.
struct StandardStarFile {
  std::string path;
  HeaderCards header;                ///< of FLUX
  std::vector<double> wave;          ///< Angstrom
  Array2D<double> flux;              ///< [nstar][nwave] 1e-17 erg/(s cm2 Angstrom), not blurred
  std::vector<std::int64_t> fibers;  ///< [nstar] FIBER; desispec counts within a petal
  std::optional<Table> metadata = {}, fibermap = {};  ///< a row for each star
  Array2D<double> coefficients = {};                  ///< [nstar][nmodel]; empty: none. Not read
  std::optional<Table> input_frames = {};             ///< NIGHT, EXPID, CAMERA. Not read
};
/// As read_fiber_flat; what stands after FIBERS need not be there. kWrongShape too where there is
/// not one fibre for each star.
[[nodiscard]] StandardStarFile read_standard_stars(const std::string& path,
                                                   Verify verify = Verify::kYes);
void write_standard_stars(const std::string& path, const StandardStarFile& file,
                          Overwrite overwrite);

/// Stellar models as desispec's stdstar_templates keep them: fluxes in the first HDU, TEFF, LOGG
/// and FEH of each in the second, wavelengths in the third (or CRVAL1, CDELT1, LOGLAM of the
/// first).
struct StellarGridFile : StellarGrid {
  std::string path;
};
/// As read_fiber_flat; kMissingKeyword without a column or keyword of these.
[[nodiscard]] StellarGridFile read_stellar_grid(const std::string& path,
                                                Verify verify = Verify::kYes);

/// A passband as speclite keeps it: ECSV with columns wavelength (nm, Angstrom or um) and response.
/// Throws kNotFound; kCorrupt where a line is none of that or wavelengths do not increase.
[[nodiscard]] Passband read_passband(const std::string& path);
/// The same from text; `label` stands for the path in messages.
[[nodiscard]] Passband parse_passband(const std::string& text, const std::string& label);

/// HDUs FLUXCALIB, IVAR, MASK, WAVELENGTH, FIBERCORR, STDSTAR_FIBERMAP, DECONVOLVED_CALIB.
struct FluxCalibrationFile : FluxCalibration {
  std::string path;
  HeaderCards header;               ///< of FLUXCALIB
  std::optional<Table> stars = {};  ///< the rows of those that it was made of
};
/// As read_fiber_flat; what stands after WAVELENGTH need not be there.
[[nodiscard]] FluxCalibrationFile read_flux_calibration(const std::string& path,
                                                        Verify verify = Verify::kYes);
void write_flux_calibration(const std::string& path, const FluxCalibrationFile& file,
                            Overwrite overwrite);

}  // namespace fiberloom
