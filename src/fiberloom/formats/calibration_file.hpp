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
void write_sky(const std::string& path, const SkyFile& file, Overwrite overwrite);

/// HDUs FLUX, WAVELENGTH, FIBERS of desi_fit_stdstars: stars of known spectrum.
struct StandardStarFile {
  std::string path;
  HeaderCards header;                ///< of FLUX
  std::vector<double> wave;          ///< Angstrom
  Array2D<double> flux;              ///< [nstar][nwave] 1e-17 erg/(s cm2 Angstrom), not blurred
  std::vector<std::int64_t> fibers;  ///< [nstar] FIBER; desispec counts within a petal
};
/// As read_fiber_flat; kWrongShape too where there is not one fibre for each star.
[[nodiscard]] StandardStarFile read_standard_stars(const std::string& path,
                                                   Verify verify = Verify::kYes);

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
