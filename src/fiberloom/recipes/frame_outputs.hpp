// SPDX-License-Identifier: BSD-3-Clause
// The back half of the extraction recipe: refuse early what cannot be written, write in the right
// order.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "fiberloom/recipes/extract_frame.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {

struct PreparedFrame;

/// What a job reads and what it writes, with the words that name it in a message.
[[nodiscard]] std::vector<NamedFile> inputs_of(const ExtractJob& job);
[[nodiscard]] std::vector<NamedFile> outputs_of(const ExtractJob& job);

/// kUsage for options that do not go together, and when two outputs or an output and an input are
/// one file. `more`: outputs of whoever runs the job.
void check_names(const ExtractJob& job, std::span<const NamedFile> more = {});
/// Before any work: check_names(), kOutputExists with --no-clobber, kUnwritable where a folder may
/// not be written or cannot be made.
void check_outputs(const ExtractJob& job);

/// Model and residual images and pixel mask, then the frame: its presence says that all is done.
/// When a later file fails the earlier ones of this call that are new are removed.
void write_outputs(const ExtractJob& job, const PreparedFrame& frame, const HeaderCards& header,
                   ExtractResult result, Tracer* tracer);

/// MASK of the image, where it has one, with bit COSMIC of the pixels that were dropped.
[[nodiscard]] Array2D<std::uint32_t> pixel_mask(const PreprocFile& image,
                                                const std::vector<CcdPixel>& rejected);

/// image - model where the pixel was used, 0 elsewhere; electrons.
[[nodiscard]] Array2D<float> residual_image(const CcdFrame& ccd, const Array2D<float>& model);

}  // namespace fiberloom
