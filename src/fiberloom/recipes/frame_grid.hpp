// SPDX-License-Identifier: BSD-3-Clause
// On which wavelengths a frame is solved and written: what the job says, a file, and the
// barycentric factors of the frame or of each fibre.
#pragma once

#include <array>
#include <vector>

#include "fiberloom/recipes/frame_inputs.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

struct FrameGrid {
  std::vector<double> written;       ///< WAVELENGTH of the file; where fibres differ their mean
  std::vector<double> solved;        ///< `written` divided by the factor of the frame
  Array2D<double> fiber_written;     ///< [fibre of the PSF][bin]; empty: all have `written`
  Array2D<double> fiber_solved;      ///< likewise; empty: all have `solved`
  double heliocor = 1;               ///< barycentric factor of the frame
  std::vector<double> fiber_factor;  ///< of each fibre of the PSF; empty: all have that
  /// First, last and mean step of `written`.
  std::array<double, 3> range{};
  /// "linear", "log10" or "file".
  const char* kind = "linear";
};

/// Throws kUsage for what is no grid, or options that do not go together; kSizeMismatch where a
/// file has other fibres than the PSF; kMissingKeyword, and kUsage for a FIBERMAP without
/// directions.
[[nodiscard]] FrameGrid frame_grid(const ExtractJob& job, const FrameInputs& in,
                                   const Observer& observer);

}  // namespace fiberloom
