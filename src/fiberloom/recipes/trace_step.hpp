// SPDX-License-Identifier: BSD-3-Clause
// The step of the extraction recipe that finds how the PSF's traces have moved.
#pragma once

#include "fiberloom/recipes/frame_steps.hpp"

namespace fiberloom {

/// By lines of the night sky along the wavelengths. Warns where nothing was seen, or where nothing
/// came to rest. `observer` names the frame.
[[nodiscard]] TraceReport find_traces(const ExtractJob& job, const PreparedFrame& frame,
                                      const Engine& engine, Executor& executor,
                                      const Observer& observer, Tracer* tracer);

/// Smallest, mean and largest change over the fibres and wavelengths of a frame, pixels.
struct TraceSpread {
  double least = 0, mean = 0, most = 0;
};
[[nodiscard]] TraceSpread spread_of(const TraceReport& traces, TraceParameter parameter);

/// What the header of a shifted PSF says of where it comes from: desispec's keywords.
[[nodiscard]] HeaderCards trace_notes(const PreparedFrame& frame, const TraceReport& traces);

}  // namespace fiberloom
