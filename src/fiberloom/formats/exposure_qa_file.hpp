// SPDX-License-Identifier: BSD-3-Clause
// The quality of an exposure as desispec keeps it (docs/fiberloom/formats.md).
#pragma once

#include <string>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom {

/// HDUs FIBERQA, a row a fibre, and PETALQA, a row a spectrograph.
struct ExposureQaFile {
  std::string path;
  HeaderCards header;  ///< of FIBERQA
  Table fibers, petals;
};
/// As write_frame.
void write_exposure_qa(const std::string& path, const ExposureQaFile& file, Overwrite overwrite);

}  // namespace fiberloom
