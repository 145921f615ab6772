// SPDX-License-Identifier: BSD-3-Clause
// How this process uses its heap; a hint to the C library where it is glibc.
#pragma once

namespace loom {

/// For one frame: freed memory is kept for the next stage. Fresh pages must be cleared by the
/// kernel, which under a hypervisor can cost as much as the extraction itself.
void keep_freed_memory() noexcept;

/// For many frames: large blocks come from the kernel and go back to it. Kept in the heap, blocks
/// of frames that overlap in time leave holes that fit nothing: 4 GB after 30 frames, and growing.
void return_large_blocks() noexcept;

}  // namespace loom
