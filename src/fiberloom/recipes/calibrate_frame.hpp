// SPDX-License-Identifier: BSD-3-Clause
// The recipes of calibration, a frame at a time: the fibre flat of a lamp's frame, the sky of a
// science frame, the flux calibration by its standard stars, and a frame with them applied.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/calibrate/fiber_flat.hpp"
#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/sky.hpp"
#include "fiberloom/calibrate/standard_stars.hpp"
#include "fiberloom/formats/calibration_file.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {

/// Whose rules: ours, or desispec's where they differ (docs/fiberloom/calibration-design.md).
enum class CalibrationMethod { kOurs, kDesispec };

/// Bits: an option may belong to several.
enum class CalibrationStep : unsigned {
  kFiberFlat = 1,
  kSky = 2,
  kCalibrate = 4,
  kFluxCalib = 8,
  kStdStars = 16,
  kQuality = 32
};

/// One step on one frame. A step reads what belongs to it (calibration_option_table.hpp).
struct CalibrationJob {
  CalibrationStep step = CalibrationStep::kFiberFlat;
  std::string input, flat, sky, models, average, flux, output;  ///< empty: none
  std::string root;  ///< headers name files below it from there; empty: as they are given
  CalibrationMethod method = CalibrationMethod::kOurs;
  Verify verify = Verify::kYes;
  Overwrite overwrite = Overwrite::kYes;
  double clip_nsig = 10, accuracy = 5e-4, spacing_aa = 5;  ///< of a fibre flat
  double scale_nsig = 3;                                   ///< of a flux calibration
  double seeing_as = 1.1;  ///< FWHM, by which its fibres lose light, arc seconds
  /// Folder of desimodel: where light is lost (a flux calibration), how deep a calibrated frame is
  /// (tsnr; psf: what it was extracted with). Empty: $DESIMODEL, if there are such files.
  std::string desimodel, psf;
  bool tsnr = true;
  bool adjust_wavelength = false, adjust_lsf = false;  ///< lines of a sky, fibre by fibre
  bool extra_variance = true;                          ///< near lines of a sky
  std::string adjustments;  ///< output: what the lines were moved and widened by
  /// Of standard stars: all cameras of an exposure, or of several, of one spectrograph; of the
  /// quality of an exposure: all of its cameras.
  std::vector<std::string> frames, flats, skies, fluxes, star_files;
  std::string grid, passbands;  ///< models, and the folder of {name}.ecsv
  calibrate::StandardStarOptions stars;
  calibrate::StarColour colour = calibrate::StarColour::kAny;
  std::vector<long> targets;  ///< TARGETID of those to take; empty: those that FIBERMAP names so
};
/// Throws kUsage, kOutputExists, kUnwritable before anything is read. `more`: texts beside.
void check_outputs(const CalibrationJob& job, std::span<const NamedFile> more);

struct FiberFlatSummary {
  std::size_t nspec = 0, nwave = 0, lost_fibers = 0, rejected = 0, masked = 0;
  int iterations = 0;
  double chi2_per_dof = 0;
};
/// Frame of a lamp -> fibre flat. Errors name the file.
FiberFlatSummary make_fiber_flat(const CalibrationJob& job, Executor& executor,
                                 const Observer& observer);

struct SkySummary {
  std::size_t nspec = 0, nwave = 0, sky_fibers = 0, discarded = 0, clipped = 0, without = 0;
  int iterations = 0;
  std::size_t peaks = 0;                ///< of sky fibres, by which lines were adjusted
  double rms_shift = 0, rms_width = 0;  ///< Angstrom, over fibres and bins
};
/// Frame and fibre flat (none: it has been divided already) -> sky.
SkySummary make_sky(const CalibrationJob& job, Executor& executor, const Observer& observer);

struct FluxSummary {
  std::size_t nspec = 0, nwave = 0, stars = 0, left_out = 0, clipped = 0, without = 0;
  int iterations = 0;
  double median_snr = 0;
  bool is_average = false;  ///< stars too faint: the average, scaled
};
/// Frame, fibre flat, sky (none: applied already) and models of its standard stars -> flux
/// calibration.
FluxSummary make_flux_calibration(const CalibrationJob& job, Executor& executor,
                                  const Observer& observer);

struct StandardStarSummary {
  std::size_t candidates = 0, stars = 0, cameras = 0, exposures = 0, models = 0;
  std::size_t without_photometry = 0, too_faint = 0, without_model = 0;
  double median_chi2_per_dof = 0;
};
/// Frames, fibre flats, skies and a grid of models -> standard stars of known spectrum.
StandardStarSummary make_standard_stars(const CalibrationJob& job, Executor& executor,
                                        const Observer& observer);

struct CalibrateSummary {
  std::size_t nspec = 0, nwave = 0, without = 0;      ///< without: pixels of ivar 0
  std::vector<std::pair<std::string, double>> tsnr2;  ///< TSNR2_KIND_BAND and its median fibre
};
/// Frame -> frame divided by the flat, without the sky, in units of flux: desispec's fframe, sframe
/// and cframe, by what is given.
CalibrateSummary calibrate_frame(const CalibrationJob& job, const Observer& observer);

}  // namespace fiberloom
