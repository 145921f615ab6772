// SPDX-License-Identifier: BSD-3-Clause
// Executors with threads, behind one factory. No task here ever waits for a file: I/O has its own
// threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "loom/base/executor.hpp"

namespace loom {

/// An Executor on `threads` threads, the caller's among them; 0 asks default_thread_count(), 1
/// gives the serial body. run() may be called from within a task (nested) and from several threads
/// at once.
[[nodiscard]] std::unique_ptr<Executor> make_executor(std::size_t threads);

/// The plain std::thread body whatever the build prefers: what the thread sanitizer can follow.
[[nodiscard]] std::unique_ptr<Executor> make_thread_executor(std::size_t threads);

/// "oneTBB" or "std::thread": the body that make_executor() was built with.
[[nodiscard]] std::string_view executor_kind() noexcept;

}  // namespace loom
