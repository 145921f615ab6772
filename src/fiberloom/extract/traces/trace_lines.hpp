// SPDX-License-Identifier: BSD-3-Clause
// Lines of known wavelength on the CCD: where along the trace their light lies. A shift along the
// wavelengths is nothing that fluxes, free in every bin, could not imitate, so that residuals do
// not show it; lines do.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/extract/traces/trace_residuals.hpp"

namespace fiberloom {

/// A line of the sky, or of a lamp.
struct ReferenceLine {
  double wave_aa = 0;   ///< vacuum
  double strength = 0;  ///< in any unit
};

/// A line and those beside it that its window sees, each a number of the list.
struct LineGroup {
  std::size_t line = 0;
  std::vector<std::size_t> beside;
};

/// Lines, by wavelength, that nothing blends with, on rows that the grid describes whole.
[[nodiscard]] std::vector<LineGroup> lonely_lines(std::span<const ReferenceLine> lines,
                                                  const PsfModel& psf,
                                                  const ExtractOptions& options);

/// Windows of y and, where it is asked for, of sigma_y: [parameter]. `lines` by wavelength.
[[nodiscard]] std::vector<std::vector<TraceWindow>> windows_of_lines(
    const TraceRoundInput& round, const std::vector<TraceParameter>& parameters,
    std::span<const ReferenceLine> lines);

}  // namespace fiberloom
