// SPDX-License-Identifier: BSD-3-Clause
// As many tasks of the inner executor as may run; each takes numbers until none is left.
#include "loom/runtime/capped_executor.hpp"

#include <algorithm>
#include <atomic>

namespace loom {

CappedExecutor::CappedExecutor(Executor& inner, std::size_t most) noexcept
    : inner_(inner), most_(std::max<std::size_t>(most, 1)) {}

std::size_t CappedExecutor::concurrency() const noexcept {
  return std::min(most_, inner_.concurrency());
}

void CappedExecutor::run(std::size_t n, const std::function<void(std::size_t)>& task) {
  if (most_ >= inner_.concurrency()) return inner_.run(n, task);
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  inner_.run(std::min(n, most_), [&](std::size_t) {
    while (!failed) {
      const std::size_t i = next.fetch_add(1);
      if (i >= n) return;
      try {
        task(i);
      } catch (...) {
        failed = true;
        throw;
      }
    }
  });
}

}  // namespace loom
