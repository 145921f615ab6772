// SPDX-License-Identifier: BSD-3-Clause
// What the header of an image says of its exposure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loom/batch/receipt.hpp"

namespace fiberloom::chain {

enum class ExposureKind { kField, kLamp, kOther };

struct ExposureInfo {
  ExposureKind kind = ExposureKind::kField;
  std::string flavor = "unknown";  ///< as the header has it
  std::string night;               ///< NIGHT, or empty
  long tile = -1;                  ///< TILEID; < 0: none
  bool known = false;              ///< some image of the exposure could be read
  long lamp = 0;                   ///< of several: the number in PROGRAM's DESI-CALIB-NN
};

/// An image, and the exposure of which it is one camera's.
struct ExposureImage {
  std::string image, night;
  long expid = 0;
};

/// What headers have said, by image and its stamp: who plans again reads those alone that are new.
using ExposureCache =
    std::map<std::string, std::pair<loom::batch::FileStamp, std::optional<ExposureInfo>>>;

/// By OBSTYPE or FLAVOR: a flat is a lamp's, science (or nothing) a field's. An exposure's cameras
/// have one header: that of the first image that can be read speaks for all. One of which none can
/// be read is a field's: who extracts it will say what is wrong.
[[nodiscard]] std::vector<ExposureInfo> read_exposures(const std::vector<ExposureImage>& images,
                                                       ExposureCache& cache);

}  // namespace fiberloom::chain
