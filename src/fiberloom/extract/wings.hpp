// SPDX-License-Identifier: BSD-3-Clause
// Light beyond the stamps, of the spot's own fibre, its neighbours and those across bundle gaps:
// found from a first solution of the whole CCD and taken off the pixels (docs/fiberloom/
// algorithm.md, "Wings"). Knows no engine: someone extracts for it.
#pragma once

#include <functional>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/psf/wings.hpp"

namespace fiberloom {

/// Extracts the frame with these options.
using ExtractLight = std::function<ExtractResult(const CcdFrame&, const ExtractOptions&)>;

/// A frame without its wings.
struct WinglessFrame {
  CcdFrame ccd;          ///< light of wings is noise as the read noise is: it stays in `readnoise`
  Array2D<float> wings;  ///< [npix_y][npix_x] electrons that were taken off
  Array2D<double> shares;  ///< [nfiber][nwave] light beyond a stamp, of that in it
  WingReport report;
};

/// Takes the wings of all fibres of the PSF off, whichever are asked for, with tails up to `reach`
/// pixels from each spot. Same bytes for any executor. Throws as WingModel does.
[[nodiscard]] WinglessFrame take_wings_off(const CcdFrame& ccd, const PsfModel& psf,
                                           const ExtractOptions& options, int reach,
                                           const ExtractLight& extract, Executor& executor,
                                           const Observer& observer);

/// Makes the result of such a frame one of all light: fluxes count that of wings, too (and ivar and
/// RESOLUTION follow), the model image has them.
void count_wings(const WinglessFrame& frame, const ExtractOptions& options, ExtractResult& result);

}  // namespace fiberloom
