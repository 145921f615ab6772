// SPDX-License-Identifier: BSD-3-Clause
// What a frame takes in memory, known before it is read or computed, and whether that is granted.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fiberloom/recipes/engine_memory.hpp"
#include "fiberloom/recipes/extract_frame.hpp"
#include "loom/runtime/memory_limit.hpp"

namespace fiberloom {

/// An image file from outside.
struct ImageFileSize {
  std::uint64_t file_bytes = 0;      ///< on disk
  std::uint64_t unpacked_bytes = 0;  ///< as on disk where it is not packed
};

/// Packed and unpacked bytes (gzip says so at its end; .fz is guessed). Zeros when it is not there.
[[nodiscard]] ImageFileSize measure_image(const std::string& path);

/// Throws kMemory where the image alone is more than what is granted.
void require_memory_to_read(const std::string& path, const ImageFileSize& file,
                            const MemoryGrant& grant);

/// Bytes of one frame, by what it is doing.
struct FrameMemory {
  std::uint64_t reading = 0;  ///< the file, unpacked and as pixels
  std::uint64_t pixels = 0;   ///< image and weights, until they are extracted
  std::uint64_t writing = 0;  ///< beside the result
  EngineMemory engine;
  /// The most at once, the program's own memory included.
  [[nodiscard]] std::uint64_t peak(std::size_t threads) const noexcept;
  /// Without workspaces: what each of many frames in flight holds at most.
  [[nodiscard]] std::uint64_t holding() const noexcept;
};

/// Of the job's engine on a grid, as wave_range() has it. Fine grids take 0.1 s: keep it where many
/// frames are alike.
[[nodiscard]] EngineMemory engine_memory(const ExtractJob& job, const PsfModel& psf,
                                         const std::array<double, 3>& wave);

/// Of a frame. `pixels`: as they lie in memory, 0 where the image has not been read; they then
/// follow from the file.
[[nodiscard]] FrameMemory frame_memory(const ExtractJob& job, const Engine& engine,
                                       const EngineMemory& memory, const ImageFileSize& file,
                                       std::uint64_t pixels);

/// Threads with which the frame fits into what is granted, at most `threads`. Throws kMemory, with
/// the image, the step, what is needed and granted and what would help, when one is too many.
[[nodiscard]] std::size_t threads_that_fit(const FrameMemory& need, const MemoryGrant& grant,
                                           std::size_t threads, const std::string& image,
                                           double step_aa);

}  // namespace fiberloom
