// SPDX-License-Identifier: BSD-3-Clause
// The back half of the extraction recipe: refuse early what cannot be written, write in the right
// order.
#pragma once

#include <optional>

#include "fiberloom/pipeline/extract_frame.hpp"

namespace fiberloom {

/// Before any work: kUsage when two outputs or an output and an input are one file, kOutputExists
/// with
/// --no-clobber, kUnwritable when a folder is missing or may not be written.
void check_outputs(const ExtractJob& job);

/// Throws kUnwritable when the folder of `path` is missing or may not be written.
void check_folder(const std::string& path);

/// Model and residual images, then the frame: its presence says that all is done. When a later file
/// fails the earlier ones of this call that are new are removed.
void write_outputs(const ExtractJob& job, const CcdFrame& ccd, const HeaderCards& header,
                   ExtractResult result, const std::optional<RawTable>& fibermap, Tracer* tracer);

/// image - model where the pixel was used, 0 elsewhere; electrons.
[[nodiscard]] Array2D<float> residual_image(const CcdFrame& ccd, const Array2D<float>& model);

}  // namespace fiberloom
