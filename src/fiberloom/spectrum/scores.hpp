// SPDX-License-Identifier: BSD-3-Clause
// The SCORES of a frame: desispec's sums and medians over a fixed range of each camera.
#pragma once

#include <optional>

#include "fiberloom/spectrum/spectra.hpp"

namespace fiberloom {

/// SUM_RAW_COUNT_, MEDIAN_RAW_COUNT_ and MEDIAN_RAW_SNR_ of the camera that mean(wave) falls into;
/// nullopt when no bin lies in the camera's range. As desispec, the sum takes no account of the bin
/// width and the median is divided by it, though the flux is per Angstrom already.
[[nodiscard]] std::optional<Table> frame_scores(const Spectra& spectra);

}  // namespace fiberloom
