// SPDX-License-Identifier: BSD-3-Clause
// What an extraction will take beside its input, before any of it is allocated. Arithmetic only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fiberloom/extract/exact/bundle_extent.hpp"

namespace fiberloom {

/// Bytes. The estimate is meant for frames without large defects: whose band of S has to grow takes
/// more than this for the bundle in question (docs/fiberloom/performance.md has what was measured).
struct EngineMemory {
  std::uint64_t shared = 0;  ///< result, packed PSF, model image
  std::uint64_t task = 0;    ///< workspace of a task in work
  std::size_t tasks = 1;     ///< so many at most are in work at once
  std::size_t bins = 0;      ///< of the result: fibres x wavelengths
  bool needs_cpu = false;    ///< even where there is a device
  [[nodiscard]] std::uint64_t with(std::size_t threads) const noexcept {
    return shared + task * std::min(std::max<std::size_t>(threads, 1), tasks);
  }
};

/// Of the exact engine; `options.wave` is not looked at. O(fibres).
[[nodiscard]] EngineMemory exact_memory(const PsfModel& psf, const ExtractOptions& options,
                                        const GridSize& grid);

/// Of the patch engine.
[[nodiscard]] EngineMemory patch_memory(const PsfModel& psf, const ExtractOptions& options,
                                        const GridSize& grid);

}  // namespace fiberloom
