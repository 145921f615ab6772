// SPDX-License-Identifier: BSD-3-Clause
// For the tests of simulate/ only: an executor that hands its tasks to n threads out of order.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "loom/base/executor.hpp"

namespace loom {

class TestThreads final : public Executor {
 public:
  explicit TestThreads(std::size_t threads) : threads_(threads) {}
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> pool;
    for (std::size_t t = 0; t < threads_; ++t) {
      pool.emplace_back([&] {
        for (std::size_t i = next++; i < n; i = next++) task(n - 1 - i);
      });
    }
    for (std::thread& t : pool) t.join();
  }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return threads_; }

 private:
  std::size_t threads_;
};

}  // namespace loom
