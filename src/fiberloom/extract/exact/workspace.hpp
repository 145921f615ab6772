// SPDX-License-Identifier: BSD-3-Clause
// Memory that is kept from bundle to bundle: fresh pages cost more than the arithmetic on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::exact {

/// Memory for buffers of less than a huge page, side by side in huge ones: in pages of 4 KiB,
/// wherever the system happens to put them, they drive each other out of the second-level cache
/// (square roots took 1 to 1.7 times as long, from run to run).
class WorkArena {
 public:
  WorkArena() = default;
  WorkArena(const WorkArena&) = delete;
  WorkArena& operator=(const WorkArena&) = delete;
  /// Uninitialised; lives as long as the arena.
  template <class T>
  T* take(std::size_t n) {
    constexpr std::size_t kAlign = Buffer<std::byte>::kAlign;
    const std::size_t bytes = (n * sizeof(T) + kAlign - 1) / kAlign * kAlign;
    if (bytes > left_) {
      chunks_.emplace_back(std::max(bytes, kChunk));
      next_ = chunks_.back().data();
      left_ = chunks_.back().size();
    }
    left_ -= bytes;
    return reinterpret_cast<T*>(std::exchange(next_, next_ + bytes));
  }

 private:
  static constexpr std::size_t kChunk = 2 * Buffer<std::byte>::kHugePage;
  std::vector<Buffer<std::byte>> chunks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

/// A buffer that only grows. resize() leaves the contents undefined. Small ones may live in an
/// arena, where what they have outgrown stays lost: they grow a few times in all.
template <class T>
class GrowBuffer {
 public:
  GrowBuffer() = default;
  explicit GrowBuffer(WorkArena& arena) : arena_(&arena) {}
  T* resize(std::size_t n) {
    if (n > capacity_) {
      if (arena_ == nullptr) own_ = Buffer<T>(n);
      data_ = arena_ == nullptr ? own_.data() : arena_->take<T>(n);
      capacity_ = n;
    }
    size_ = n;
    return data_;
  }
  T* resize(std::size_t n, T value) {
    std::fill_n(resize(n), n, value);
    return data_;
  }
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  WorkArena* arena_ = nullptr;
  Buffer<T> own_;
  T* data_ = nullptr;
  std::size_t capacity_ = 0, size_ = 0;
};

/// Hands out one T a task and takes it back; at most as many as tasks run at once are ever made.
template <class T>
class Pool {
 public:
  class Lease {
   public:
    Lease(Pool& pool, std::unique_ptr<T> item) : pool_(pool), item_(std::move(item)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() {
      const std::lock_guard lock(pool_.mutex_);
      try {
        pool_.free_.push_back(std::move(item_));
      } catch (...) {  // no memory for the place in the list: the item goes
      }
    }
    T& operator*() { return *item_; }
    T* operator->() { return item_.get(); }

   private:
    Pool& pool_;
    std::unique_ptr<T> item_;
  };
  [[nodiscard]] Lease take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return Lease(*this, std::make_unique<T>());
    auto item = std::move(free_.back());
    free_.pop_back();
    return Lease(*this, std::move(item));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_;
};

}  // namespace fiberloom::exact
