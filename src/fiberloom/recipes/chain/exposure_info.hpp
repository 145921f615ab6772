// SPDX-License-Identifier: BSD-3-Clause
// What the header of an image says of its exposure.
#pragma once

#include <string>
#include <vector>

namespace fiberloom::chain {

enum class ExposureKind { kField, kLamp, kOther };

struct ExposureInfo {
  ExposureKind kind = ExposureKind::kField;
  std::string flavor = "unknown";  ///< as the header has it
  std::string night;               ///< NIGHT, or empty
  long tile = -1;                  ///< TILEID; < 0: none
  long lamp = 0;                   ///< of several: the number in PROGRAM's DESI-CALIB-NN
};

/// An image, and the exposure of which it is one camera's.
struct ExposureImage {
  std::string image, night;
  long expid = 0;
};

/// By OBSTYPE or FLAVOR: a flat is a lamp's, science (or nothing) a field's. An image that cannot
/// be read is what another one of its exposure says, else a field's: who extracts it will say what
/// is wrong.
[[nodiscard]] std::vector<ExposureInfo> read_exposures(const std::vector<ExposureImage>& images);

}  // namespace fiberloom::chain
