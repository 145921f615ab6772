// SPDX-License-Identifier: BSD-3-Clause
// The steps of the extraction recipe, one function each, for whoever puts them in a row: one frame
// (extract_frame), or many at once with reading, computing and writing on different threads.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "fiberloom/recipes/coverage.hpp"
#include "fiberloom/recipes/frame_grid.hpp"
#include "fiberloom/recipes/frame_inputs.hpp"

namespace fiberloom {

/// A frame read, masked and checked: what the engine needs, and what the output's header needs.
struct PreparedFrame {
  FrameInputs in;
  ExtractOptions options;
  FrameGrid grid;                    ///< its `solved` part has gone to the options
  std::optional<RawTable> fibermap;  ///< rows of the fibres asked for
  MaskCounts pixels;
  Coverage coverage;
};

/// Masks, makes the options whole, checks them against image, PSF and fibermap. Throws kCorrupt
/// where no pixel is good.
[[nodiscard]] PreparedFrame prepare_frame(const ExtractJob& job, FrameInputs in,
                                          const Observer& observer);

/// Spectra of all fibres asked for. The engine is one of the job's method.
[[nodiscard]] ExtractResult compute_frame(const ExtractJob& job, const PreparedFrame& frame,
                                          const Engine& engine, Executor& executor,
                                          const Observer& observer, Tracer* tracer);

/// As many diagonals as the job's bound on the leakage asks for; done by compute_frame() and
/// join_parts(), since it is decided on a whole frame.
void settle_diagonals(const ExtractJob& job, ExtractResult& result);

/// How many bundles hold fibres asked for: the parts that a frame can be cut into.
[[nodiscard]] std::size_t count_bundles(const PreparedFrame& frame);

/// Spectra of bundles [first, last) of those, 0 <= first < last <= count_bundles(). Throws kUsage
/// when a model image is wanted: its bundles overlap, and their sum depends on where it is cut.
[[nodiscard]] ExtractResult compute_bundles(const ExtractJob& job, const PreparedFrame& frame,
                                            std::size_t first, std::size_t last,
                                            const Engine& engine, Executor& executor,
                                            const Observer& observer, Tracer* tracer);

/// Puts the parts of a frame, in any order, together: to the bit what compute_frame() gives, with
/// the mask that compares fibres set over all of them. Throws kInternal where they are not all the
/// fibres asked for, once each, or the grids differ.
[[nodiscard]] ExtractResult join_parts(const ExtractJob& job, std::vector<ExtractResult> parts,
                                       const PreparedFrame& frame);

/// Everything of the summary but the times.
[[nodiscard]] ExtractSummary summarize(const ExtractJob& job, const PreparedFrame& frame,
                                       const ExtractResult& result);

/// The files of the job, the frame last. The frame's grid is the one that was asked for, not the
/// one divided by the barycentric factor; its flux stays per observed Angstrom, as desispec's.
/// Where no bin is good nothing is written: kCorrupt, or kNumerical where the equations failed.
void write_result(const ExtractJob& job, const PreparedFrame& frame, ExtractResult result,
                  Tracer* tracer);

}  // namespace fiberloom
