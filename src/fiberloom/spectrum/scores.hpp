// SPDX-License-Identifier: BSD-3-Clause
// SCORES of spectra: desispec's sums and medians over a fixed range of each camera.
#pragma once

#include <optional>

#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom {

/// How far a frame has come: RAW, FFLAT, SKYSUB, CALIB in the names of its scores.
enum class ScoreStage { kRaw, kFlat, kSkySubtracted, kCalibrated };

/// SUM_RAW_COUNT_, MEDIAN_RAW_COUNT_ and MEDIAN_RAW_SNR_ (or the stage's) of the camera that
/// mean(wave) falls into; nullopt when no bin lies in the camera's range. As desispec, the sum
/// takes no account of the bin width and the median is divided by it, though the flux is per
/// Angstrom already.
[[nodiscard]] std::optional<Table> frame_scores(const Spectra& spectra,
                                                ScoreStage stage = ScoreStage::kRaw);

/// The spectra's scores with those of the stage: put in the place of old ones, or behind the
/// others. Nothing where frame_scores() gives none.
void add_scores(Spectra& spectra, ScoreStage stage);

/// INTEG_COADD_FLUX_X, MEDIAN_COADD_FLUX_X and MEDIAN_COADD_SNR_X of one camera ('B', 'R', 'Z') of
/// coadds, or of what all cameras gave together; float32, as desispec. Appended to `scores`;
/// nothing where no bin lies in the camera's range.
void append_coadd_scores(Table& scores, const Spectra& coadds, char camera);

}  // namespace fiberloom
