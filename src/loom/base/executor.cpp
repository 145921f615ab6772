// SPDX-License-Identifier: BSD-3-Clause
// The serial executor.
#include "loom/base/executor.hpp"

namespace loom {

void SerialExecutor::run(std::size_t n, const std::function<void(std::size_t)>& task) {
  for (std::size_t i = 0; i < n; ++i) task(i);
}

}  // namespace loom
