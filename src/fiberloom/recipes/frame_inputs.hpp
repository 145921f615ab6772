// SPDX-License-Identifier: BSD-3-Clause
// The front half of the extraction recipe: files in, options made whole.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "fiberloom/recipes/extract_frame.hpp"

namespace fiberloom {

struct FrameGrid;

struct FrameInputs {
  PreprocFile preproc;
  std::shared_ptr<const PsfFile> psf;  ///< never null; frames of one camera may share it
  std::optional<RawTable> fibermap;    ///< of -f, else of the image file
  std::string fibermap_path;
  Array2D<double> wave_file;  ///< of the job's wave_file; empty: none
};

/// How to read the PSF of a job.
[[nodiscard]] PsfReadOptions psf_options(const ExtractJob& job);

/// Reads image and PSF, each in its own thread, and unpacks a .gz image by those of `executor`; the
/// image's fault is reported before the PSF's.
[[nodiscard]] FrameInputs read_inputs(const ExtractJob& job, Executor& executor,
                                      const Observer& observer, Tracer* tracer);

/// The same with a PSF that has been read already; on the caller's thread alone.
[[nodiscard]] FrameInputs read_inputs(const ExtractJob& job, std::shared_ptr<const PsfFile> psf,
                                      const Observer& observer, Tracer* tracer);

/// apply_mask() with the file's name on its errors; frees MASK unless a pixel mask is to be
/// written; says what was dropped for bad values.
MaskCounts mask_inputs(FrameInputs& in, const ExtractJob& job, const Observer& observer);

/// Of a FIBERMAP with more rows than the PSF has fibres, a whole exposure's say, those whose FIBER
/// is of the frame's spectrograph; a warning where FIBER does not tell, and the first ones stay.
void keep_own_fibers(FrameInputs& in, const Observer& observer);

/// wmin, wmax, step: what the job says, else the range of the PSF table and 0.8 Angstrom.
[[nodiscard]] std::array<double, 3> wave_range(const ExtractJob& job, const PsfFile& psf);

/// Bins of (wmin, wmax, step), each divided by `factor`: as many whatever the factor.
[[nodiscard]] std::vector<double> divided_grid(const std::array<double, 3>& wave, double factor);

/// The job's options with the grid (frame_grid()) filled in, checked against image and PSF; errors
/// name the file.
[[nodiscard]] ExtractOptions resolve_options(const ExtractJob& job, const FrameInputs& in,
                                             const FrameGrid& grid);

/// The rows of the fibres asked for; nullopt where there is no fibermap (an empty one counts as
/// none). Throws kFiberRange when it is too short.
[[nodiscard]] std::optional<RawTable> choose_fibermap(const FrameInputs& in,
                                                      const ExtractOptions& options,
                                                      const Observer& observer);

}  // namespace fiberloom
