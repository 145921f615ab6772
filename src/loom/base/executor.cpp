// SPDX-License-Identifier: BSD-3-Clause
// The serial executor, and work in runs.
#include "loom/base/executor.hpp"

#include <algorithm>

namespace loom {

void SerialExecutor::run(std::size_t n, const std::function<void(std::size_t)>& task) {
  for (std::size_t i = 0; i < n; ++i) task(i);
}

Executor& serial_executor() noexcept {
  static SerialExecutor executor;
  return executor;
}

void run_in_parts(Executor& executor, std::size_t n, std::size_t unit,
                  const std::function<void(std::size_t, std::size_t)>& task) {
  const std::size_t units = (n + unit - 1) / unit, parts = std::min(units, executor.concurrency());
  executor.run(parts, [&](std::size_t p) {
    const std::size_t first = units * p / parts * unit, next = units * (p + 1) / parts * unit;
    task(first, std::min(next, n) - first);
  });
}

}  // namespace loom
