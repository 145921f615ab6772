// SPDX-License-Identifier: BSD-3-Clause
// SDSS's files of spectra (spPlate, spCFrame, spec) in the terms that the rest of the program has.
// Internal to formats/ and its tests.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom::formats {

enum class SdssKind {
  kNone,   ///< another file
  kPlate,  ///< spPlate: images of all fibres of a plate, on one grid
  kSpec,   ///< spec: a table COADD of one target, a row a pixel
  kFrame,  ///< spCFrame: images of the fibres of one camera and exposure, each on a grid of its own
};
/// By what a file holds, whatever its name.
[[nodiscard]] SdssKind sdss_kind(const fits::FitsReader& file);

/// Name of the one camera: both arms are in one spectrum.
inline constexpr const char* kSdssCamera = "BR";

/// Images of a plate or a frame, where the peer looks for them: HDU 0 flux, 1 ivar, 2 mask (of a
/// plate ANDMASK), 4 WAVEDISP (sigma in pixels).
struct SdssImages {
  const fits::Hdu *flux = nullptr, *ivar = nullptr, *mask = nullptr, *dispersion = nullptr;
  std::size_t first = 0;  ///< pixel that `wave` begins with, of all fibres
};

/// A plate without its pixels; its fibres are in HDU 5, PLUGMAP.
struct SdssPlate : SdssImages {
  std::vector<double> wave;  ///< Angstrom in vacuum, 3500 to 10000 of what there is
  Table fibermap;            ///< TARGETID, PLATE, MJD, FIBER, TARGET_RA, TARGET_DEC, OBJTYPE
};
/// Throws kMissingKeyword, kWrongShape, kCorrupt.
[[nodiscard]] SdssPlate parse_plate(const fits::FitsReader& file);

/// A frame without its pixels: HDU 3 log10 of the wavelengths, 5 PLUGMAP, whose FIBERIDs are those
/// of one spectrograph: fibre f stands in row (f - 1) modulo the number of rows, as the peer has
/// it.
struct SdssFrame : SdssImages {
  std::string camera;        ///< "B1"
  Array2D<double> wave;      ///< Angstrom, of the pixels that are used
  std::vector<bool> usable;  ///< rows whose wavelengths increase; another stands on one of theirs
  Table fibermap;            ///< as of a plate, with EXPID; a row for each row of the images
};
/// Throws kMissingKeyword, kMissingHdu, kWrongShape, kCorrupt.
[[nodiscard]] SdssFrame parse_sdss_frame(const fits::FitsReader& file);

/// The target of a spec file, with its row of a fibermap. Where wavelengths are those of SDSS's
/// grid (1e-4 in log10) it stands on pixels 64 k to 64 l of that, with ivar 0 where it has none:
/// many files then share few grids. Throws kMissingKeyword, kWrongShape, kCorrupt.
[[nodiscard]] Spectra parse_spec(const fits::FitsReader& file, AndMask and_mask);

/// Sigma in pixels to sigma in Angstrom. SDSS has 0 where it knows none: 2 pixels then, the peer's
/// rule, and where a number is no width at all.
[[nodiscard]] std::vector<double> sigma_of_dispersion(std::span<const double> pixels,
                                                      std::span<const double> wave);

}  // namespace fiberloom::formats
