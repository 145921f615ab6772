// SPDX-License-Identifier: BSD-3-Clause
// Between two stages: the item of the lowest order comes out first. It is bounded by what may be in
// flight at all (the memory budget), not here: a second bound could only deadlock with the first.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "loom/runtime/sure_wait.hpp"

namespace loom {

/// Safe from any thread.
template <class T>
class StageQueue {
 public:
  void push(std::uint64_t order, T item) {
    {
      const std::lock_guard lock(mutex_);
      items_.emplace(order, std::move(item));
    }
    filled_.notify_one();
  }
  /// Waits; nullopt when the queue is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    sure_wait(filled_, lock, [&] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.begin()->second));
    items_.erase(items_.begin());
    return item;
  }
  /// No more will come.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    filled_.notify_all();
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::multimap<std::uint64_t, T> items_;
  bool closed_ = false;
};

}  // namespace loom
