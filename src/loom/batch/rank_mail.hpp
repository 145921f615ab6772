// SPDX-License-Identifier: BSD-3-Clause
// The letter box between the threads of a pipeline and the one thread that may speak MPI.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace loom::batch {

struct Letter {
  int to = 0;
  int tag = 0;
  std::vector<std::byte> bytes;
};

/// Never blocks who posts; letters keep their order.
class RankMail {
 public:
  void post(int to, int tag, std::vector<std::byte> bytes) {
    {
      const std::lock_guard lock(mutex_);
      letters_.push_back({to, tag, std::move(bytes)});
    }
    posted_.notify_one();
  }
  [[nodiscard]] std::optional<Letter> take() {
    const std::lock_guard lock(mutex_);
    if (letters_.empty()) return std::nullopt;
    Letter letter = std::move(letters_.front());
    letters_.pop_front();
    return letter;
  }
  /// Until there is a letter, at most so long.
  void wait(std::chrono::microseconds limit) {
    std::unique_lock lock(mutex_);
    posted_.wait_for(lock, limit, [&] { return !letters_.empty(); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Letter> letters_;
};

}  // namespace loom::batch
