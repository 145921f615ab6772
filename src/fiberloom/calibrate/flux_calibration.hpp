// SPDX-License-Identifier: BSD-3-Clause
// The flux calibration: one deconvolved throughput that standard stars of known spectrum show, as
// each fibre sees it; and spectra divided by it (docs/fiberloom/calibration-design.md). Knows no
// files, and not how a star's spectrum is found.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// A standard star whose spectrum is known, 1e-17 erg/(s cm2 Angstrom) before any blur.
struct StarModel {
  std::size_t row = 0;       ///< of the spectra
  std::vector<double> flux;  ///< at StarModels::wave
};
struct StarModels {
  std::vector<double> wave;  ///< Angstrom, increasing
  std::vector<StarModel> stars;
};

/// Weights of the calibration. kFinal: once outliers are gone, the stars' ivar gives calibration
/// and variance. kClipping: the calibration stays that of the weights that outliers were looked for
/// with, and its variance counts both kinds of weights, as desispec.
enum class FluxWeights { kFinal, kClipping };
/// Of what outliers are looked for with an error of 20 %. kModel: of the light that is expected.
/// kData: of that which is there, as desispec; what is too bright is then never an outlier.
enum class FluxClip { kModel, kData };

struct FluxOptions {
  FluxWeights weights = FluxWeights::kFinal;
  FluxClip clip = FluxClip::kModel;
  double clip_nsig = 10, scale_nsig = 3;
  double least_snr = 2;     ///< median over the stars' pixels; below, the average is scaled
  double least_scale = .2;  ///< of a star's light; with less it is left out
  int most_iterations = 20;
  /// [nspec] FLAT_TO_PSF_FLUX: what multiplies a flat-fielded fibre's point source; 0: not known,
  /// the fibre is not used; empty: 1.
  std::vector<double> flat_to_psf = {};
  /// Electrons of a flux of 1 in an average exposure of this length, where stars are too faint.
  std::vector<double> average_wave = {}, average = {};
};
[[nodiscard]] FluxOptions desispec_flux();

struct FluxFit : FluxCalibration {
  std::vector<std::size_t> stars;  ///< rows that it was made of
  std::vector<double> scales;      ///< [stars] their light against the mean's
  std::size_t left_out = 0;        ///< stars
  std::size_t clipped = 0;         ///< pixels
  int iterations = 0;
  double median_snr = 0;
  bool is_average = false;  ///< stars too faint: the average scaled, its error 100 %, mask 1
};

/// Rows whose target bits (DESI_TARGET, MWS_TARGET) say standard star. Throws kMissingKeyword
/// without FIBERMAP or DESI_TARGET.
[[nodiscard]] std::vector<std::size_t> standard_star_rows(const Spectra& spectra);

/// D_s = a_s R_s (C T_s) + n over the stars; C deconvolved, a_s a number a star whose mean of 1 / a
/// is 1. Outliers clipped, stars of another brightness than the others' left out. C_f = R_f C / R_f
/// 1 / p_f with variance diag(R Cov R^T) of the mean R; across the interstellar lines of Ca and Na
/// on straight lines. `sky_subtracted` has been flat-fielded, its sky taken away. Throws kNumerical
/// where no star has light, or all are too faint and there is no average.
[[nodiscard]] FluxFit compute_flux_calibration(const Spectra& sky_subtracted,
                                               const StarModels& models, const FluxOptions& options,
                                               Executor& executor);

/// F / C with 1 / ivar' = 1 / (ivar C^2) + F^2 / (ivar_C C^4); R becomes diag(1 / (C_f p_f)) R
/// diag(C), so that flux = R' s holds of the true spectrum s; where there is no calibration ivar
/// and rows of R are 0. Throws kWrongShape where the grids differ.
void apply_flux_calibration(Spectra& spectra, const FluxCalibration& calibration);

/// The mean of the straight lines through (x, flux) over bins about each `at`, bounded half-way to
/// its neighbours; 0 beyond x. Both increase. O(n).
[[nodiscard]] std::vector<double> resample_flux(std::span<const double> at,
                                                std::span<const double> x,
                                                std::span<const double> flux);

}  // namespace fiberloom::calibrate
