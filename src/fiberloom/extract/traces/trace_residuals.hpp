// SPDX-License-Identifier: BSD-3-Clause
// What an exact extraction leaves on the CCD, on derivatives of its model: where light lies beside
// a trace, and whether spots are wider. Continuum and lines, all that shines. Knows no wavelengths
// of lines, and so nothing of shifts along them.
#pragma once

#include <functional>
#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/extract/traces/trace_fit.hpp"

namespace fiberloom {

/// Extracts an image with the weights of the frame, with a model image.
using ExtractImage = std::function<ExtractResult(const CcdFrame& ccd, const PsfModel& psf)>;

/// What the measurements of a round share.
struct TraceRoundInput {
  const CcdFrame& ccd;
  const PsfModel& psf;            ///< of the extraction
  const PsfModel& first_psf;      ///< in which fibres have their places
  const ExtractOptions& options;  ///< of it, with the grid
  const TraceDomain& domain;
  const ExtractResult& result;  ///< with model
  Executor& executor;
  const Observer& observer;
};

/// Half of the interval that a derivative is taken over, pixels.
inline constexpr double kDerivativeStep = 0.02;

/// The PSF with one parameter larger by `step` pixels everywhere.
[[nodiscard]] PsfModel moved_psf(const PsfModel& psf, TraceParameter parameter, double step);

/// Rows of the CCD that bins of the grid describe whole, of a fibre: [first, last).
struct RowRange {
  long first = 0, last = 0;
};
[[nodiscard]] RowRange whole_rows(const PsfModel& psf, const ExtractOptions& options,
                                  std::size_t fiber);

/// Windows of x and, with `widths`, of sigma_x: [parameter of {x, sigma_x}]. `extract` makes the
/// part of a derivative that fluxes can imitate, which is taken off.
[[nodiscard]] std::vector<std::vector<TraceWindow>> windows_of_residuals(
    const TraceRoundInput& round, const std::vector<TraceParameter>& parameters,
    const ExtractImage& extract);

}  // namespace fiberloom
