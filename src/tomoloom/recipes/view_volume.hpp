// SPDX-License-Identifier: BSD-3-Clause
// A volume as one self-contained page: three planes through it, a histogram, what was done; beside
// it another volume with the difference; of the scan that it is of a sinogram, and the slice with
// the axis elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// The scan that a volume is of, and the axes that the shown slice is made with.
struct ViewScan {
  std::string scan, flats, darks;  ///< as of recon; no scan: none is shown
  std::size_t axes = 11;           ///< around the volume's, which is in the middle; 0: none
  double step = 0.5;               ///< columns of the detector between them
};

struct ViewJob {
  std::string volume, other;  ///< `other` may be empty
  std::string group = "exchange";
  std::optional<std::size_t> slice = {}, row = {},
                             column = {};  ///< of the planes; none: the middle
  ViewScan scan = {};
};

/// HTML that needs nothing else. Reads the volume once, memory of some slices; planes of more than
/// 640 pixels are averaged down. Throws kSliceRange, kWrongShape, kScanMismatch (another scan), and
/// what reading throws. The same bytes for any executor.
[[nodiscard]] std::string view_volume(const ViewJob& job, Executor& executor,
                                      const Observer& observer = {});

}  // namespace tomoloom
