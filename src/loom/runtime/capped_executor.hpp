// SPDX-License-Identifier: BSD-3-Clause
// Fewer threads than an executor has, where memory does not suffice for all of them.
#pragma once

#include <cstddef>

#include "loom/base/executor.hpp"

namespace loom {

/// Lends another executor's threads: of one run() at most `most` tasks are in work at once.
class CappedExecutor final : public Executor {
 public:
  /// `inner` must outlive this; `most` at least 1.
  CappedExecutor(Executor& inner, std::size_t most) noexcept;
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override;
  [[nodiscard]] std::size_t concurrency() const noexcept override;
  void idle(const std::function<void()>& wait) override { inner_.idle(wait); }

 private:
  Executor& inner_;
  std::size_t most_;
};

}  // namespace loom
