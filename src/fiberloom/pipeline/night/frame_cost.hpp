// SPDX-License-Identifier: BSD-3-Clause
// What a frame will take, before it is read: memory and core-seconds. All guesses in one place.
#pragma once

#include <cstdint>
#include <string>

#include "fiberloom/pipeline/night/frame_task.hpp"

namespace fiberloom::night {

/// What is known of a frame from outside.
struct FrameSize {
  std::uint64_t file_bytes = 0;      ///< of the image, on disk
  std::uint64_t unpacked_bytes = 0;  ///< 0: as on disk
  int nspec = 500;
  std::size_t nwave = 2326;
};

/// Bytes of an image file, packed and unpacked (gzip says so at its end; .fz is guessed). Zeros
/// when it is not there.
void measure_image(const std::string& path, FrameSize& size);

/// Fills image_bytes, memory_bytes, staging_bytes and cost_s.
void estimate_cost(const FrameSize& size, FrameTask& task);

}  // namespace fiberloom::night
