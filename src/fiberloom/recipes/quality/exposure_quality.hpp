// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom qa`: how good an exposure's calibrated frames are.
#pragma once

#include <map>

#include "fiberloom/calibrate/exposure_qa.hpp"
#include "fiberloom/recipes/calibrate_frame.hpp"
#include "fiberloom/recipes/quality/exposure_depth.hpp"

namespace fiberloom {

struct QualitySummary {
  std::size_t fibers = 0, good_fibers = 0, good_petals = 0;
  std::map<int, calibrate::ExposureQa> petals;  ///< by the number of the spectrograph
  std::map<int, PetalDepth> depths;             ///< likewise
};
/// Frames of one exposure, of any spectrographs, with skies, flux calibrations and standard stars
/// where they are given -> FIBERQA and PETALQA. Errors name the file.
QualitySummary judge_exposure(const CalibrationJob& job, const Observer& observer);

}  // namespace fiberloom
