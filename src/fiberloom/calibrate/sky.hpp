// SPDX-License-Identifier: BSD-3-Clause
// The sky: one deconvolved spectrum that all sky fibres of a flat-fielded frame see, as each fibre
// sees it, with what it is known to (docs/fiberloom/calibration-design.md). Knows no files.
#pragma once

#include <cstddef>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// What weighs the sky fibres' pixels. kModel: the median over fibres at each wavelength times the
/// fibre's own median, so that a pixel's noise does not choose its weight. kGiven: their ivar.
enum class SkyWeight { kModel, kGiven };
/// What says that no shift of a line explains its residuals. kSeen: the median over fibres that
/// have pixels there. kAll: over all fibres; one without pixels makes it the largest shift, as
/// desispec.
enum class LineFibers { kSeen, kAll };

/// Whether a factor on the sky's lines is taken from each fibre's own lines. kFitted: as desispec;
/// a fibre's noise, and light of its target on a line, go into it.
enum class LineThroughput { kNone, kFitted };

/// Of a sky fibre none of whose lines is well measured: kLeftOut: it is between its neighbours.
/// kNotMoved: its lines are where they should be, as desispec.
enum class UnmeasuredFibers { kLeftOut, kNotMoved };
/// Pixels that lines are measured on: those that made the sky, or all of ivar > 0, as desispec.
enum class LinePixels { kUsable, kAll };

struct SkyOptions {
  SkyWeight weight = SkyWeight::kModel;
  LineFibers line_fibers = LineFibers::kSeen;
  LineThroughput throughput = LineThroughput::kNone;
  double clip_nsig = 4, fiber_nsig = 7;
  int least_iterations = 5, most_iterations = 100;
  /// Part of the sky, near its lines, that the flat's own error does not show.
  double line_share = 0.005;
  bool extra_variance = true;      ///< near lines, what makes the residuals' chi2 right
  bool adjust_wavelength = false;  ///< lines are moved, fibre by fibre, as the sky fibres show
  bool adjust_lsf = false;         ///< and widened
  UnmeasuredFibers unmeasured = UnmeasuredFibers::kLeftOut;
  LinePixels line_pixels = LinePixels::kUsable;
};
[[nodiscard]] SkyOptions desispec_sky();

/// How each fibre's lines were moved and widened; empty: they were not.
struct SkyAdjustment {
  Array2D<double> shift, width;  ///< [nspec][nwave] Angstrom, on top of the sky that all have
  std::size_t peaks = 0;         ///< well measured, of all sky fibres
};

/// A sky and what is known of how it was found.
struct SkyFit : SkyModel {
  std::vector<double> deconvolved;     ///< [nwave]
  std::vector<std::size_t> fibers;     ///< rows that it was made of
  std::vector<std::size_t> discarded;  ///< of these, the ones far from the others
  std::size_t clipped = 0;             ///< pixels
  int iterations = 0;
  SkyAdjustment adjustment;
};

/// Rows with OBJTYPE "SKY" whose throughput does not vary. Throws kMissingKeyword where the spectra
/// have no FIBERMAP with OBJTYPE.
[[nodiscard]] std::vector<std::size_t> sky_rows(const Spectra& spectra);

/// D_f = R_f S + n over the sky fibres, outliers clipped; variance diag(R Cov R^T) of the mean R,
/// and near lines what makes the residuals' chi2 right: (line_share S)^2 + (shift dS/dlambda)^2.
/// `flat_fielded` has been divided by its flat. Throws kMissingKeyword, kWrongShape, kNumerical
/// where there is no sky fibre with light. With `adjust_...` lines are fitted fibre by fibre before
/// their variance is judged (sky_lines.hpp).
[[nodiscard]] SkyFit compute_sky(const Spectra& flat_fielded, char band, const SkyOptions& options,
                                 Executor& executor);

/// flux - sky, its lines times `throughput` where the sky has it (not of camera 'b', which has one
/// line), 1 / ivar + 1 / ivar of the sky; masks joined. Fibres that FIBERSTATUS forbids leave
/// with ivar 0 and kBadFiber. Throws kWrongShape where the grids differ.
void subtract_sky(Spectra& spectra, const SkyModel& sky, char band);

}  // namespace fiberloom::calibrate
