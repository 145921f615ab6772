// SPDX-License-Identifier: BSD-3-Clause
// make_executor() of a build without oneTBB.
#include "loom/runtime/executors.hpp"
#include "loom/runtime/thread_count.hpp"

namespace loom {

std::unique_ptr<Executor> make_executor(std::size_t threads) {
  if (threads == 0) threads = default_thread_count();
  if (threads == 1) return std::make_unique<SerialExecutor>();
  return make_thread_executor(threads);
}

std::string_view executor_kind() noexcept { return "std::thread"; }

}  // namespace loom
