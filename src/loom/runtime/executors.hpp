// SPDX-License-Identifier: BSD-3-Clause
// The executor with threads, behind a factory. No task here ever waits for a file: I/O has its own
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

/// What reports call the body of make_executor(); older ones may say "oneTBB".
[[nodiscard]] constexpr std::string_view executor_kind() noexcept { return "std::thread"; }

}  // namespace loom
