// SPDX-License-Identifier: BSD-3-Clause
// How many frames may be in flight: as many as fit into the memory, at least one, and no more than
// the stages can use.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

#include "loom/runtime/sure_wait.hpp"

namespace loom::batch {

/// Safe from any thread.
class MemoryBudget {
 public:
  MemoryBudget(std::uint64_t bytes, std::size_t frames) : bytes_(bytes), frames_(frames) {}

  /// Gives back what was reserved, when destroyed.
  class Share {
   public:
    Share() = default;
    Share(MemoryBudget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Share(Share&& o) noexcept : budget_(std::exchange(o.budget_, nullptr)), bytes_(o.bytes_) {}
    Share& operator=(Share&& o) noexcept {
      std::swap(budget_, o.budget_);
      std::swap(bytes_, o.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_ != nullptr) budget_->give_back(bytes_);
    }

   private:
    MemoryBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// Sets so many bytes aside for good, beside the frames. The most that was asked for counts.
  void keep(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    kept_ = std::max(kept_, bytes);
  }

  /// Waits until a frame of so many bytes fits. One that never fits goes alone.
  [[nodiscard]] Share reserve(std::uint64_t bytes) {
    std::unique_lock lock(mutex_);
    sure_wait(returned_, lock, [&] {
      return in_flight_ == 0 || (in_flight_ < frames_ && kept_ + used_ + bytes <= bytes_);
    });
    used_ += bytes;
    ++in_flight_;
    most_ = std::max(most_, in_flight_);
    return {this, bytes};
  }

  [[nodiscard]] std::uint64_t used() const {
    const std::lock_guard lock(mutex_);
    return kept_ + used_;
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t most_in_flight() const {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  void give_back(std::uint64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      used_ -= bytes;
      --in_flight_;
    }
    returned_.notify_all();
  }

  const std::uint64_t bytes_;
  const std::size_t frames_;
  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::uint64_t used_ = 0, kept_ = 0;
  std::size_t in_flight_ = 0, most_ = 0;
};

}  // namespace loom::batch
