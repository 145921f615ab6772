// SPDX-License-Identifier: BSD-3-Clause
// What a frame will take, before it is read: memory and core-seconds. All guesses in one place.
#pragma once

#include <cstdint>

#include "fiberloom/recipes/frame_memory.hpp"
#include "fiberloom/recipes/night/frame_task.hpp"

namespace fiberloom::night {

/// What is known of a frame from outside.
struct FrameSize {
  ImageFileSize file;
  EngineMemory engine;  ///< of its camera's PSF and its grid
};

/// Fills image_bytes, memory_bytes, workspace_bytes, staging_bytes and cost_s.
void estimate_cost(const FrameSize& size, FrameTask& task);

/// A camera like DESI's, for estimates where the PSF cannot be read (yet).
[[nodiscard]] PsfModel usual_camera(const std::array<double, 3>& wave);

}  // namespace fiberloom::night
