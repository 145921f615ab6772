// SPDX-License-Identifier: BSD-3-Clause
// An exposure at a glance: its calibrated spectra as one small picture.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

/// Flux of all fibres of calibrated frames as a PNG file: fibres upwards, spectrograph over
/// spectrograph, cameras side by side in the order of wavelength. Throws what reading the frames
/// and writing do, kUsage where there is no frame.
void draw_exposure(const std::vector<std::string>& frames, const std::string& path, Verify verify);

}  // namespace fiberloom
