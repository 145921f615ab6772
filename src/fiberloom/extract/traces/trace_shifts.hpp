// SPDX-License-Identifier: BSD-3-Clause
// By how much traces and widths of a frame's spots have moved since its PSF was made
// (docs/fiberloom/algorithm.md, "Traces that have moved"). Knows no files; whoever calls hands in
// the engine.
#pragma once

#include <vector>

#include "fiberloom/extract/traces/trace_lines.hpp"
#include "loom/base/interval.hpp"

namespace fiberloom {

struct TraceRequest {
  int degree = 1;                    ///< of the polynomials over the CCD
  bool widths = false;               ///< measure sigma_x and sigma_y, too
  std::vector<ReferenceLine> lines;  ///< for shifts along the wavelengths, by wavelength
};

/// A polynomial of a higher degree follows noise.
inline constexpr Interval kTraceDegreeRange = between(0, 4);

/// Extracts, measures, moves the traces and extracts again until they stand still (five times at
/// most). `options` has the grid, which all fibres share (else kUsage), and is the plain problem:
/// rejection, model variance, decorrelation and finer bins are left to the extraction afterwards.
/// `extract` has a model image in its result. Where the fit of the pixels is worse in the end,
/// nothing is said to have moved. Same bytes for any executor.
[[nodiscard]] TraceReport measure_trace_shifts(const CcdFrame& ccd, const PsfModel& psf,
                                               const ExtractOptions& options,
                                               const TraceRequest& request,
                                               const ExtractImage& extract, Executor& executor,
                                               const Observer& observer);

/// Those of the plain problem.
[[nodiscard]] ExtractOptions plain_options(ExtractOptions options);

}  // namespace fiberloom
