// SPDX-License-Identifier: BSD-3-Clause
// Memory that is kept from bundle to bundle: fresh pages cost more than the arithmetic on them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "fiberloom/base/array.hpp"

namespace fiberloom::exact {

/// A buffer that only grows. resize() leaves the contents undefined.
template <class T>
class GrowBuffer {
 public:
  T* resize(std::size_t n) {
    if (n > buffer_.size()) buffer_ = Buffer<T>(n);
    size_ = n;
    return buffer_.data();
  }
  T* resize(std::size_t n, T value) {
    resize(n);
    for (std::size_t i = 0; i < n; ++i) buffer_[i] = value;
    return buffer_.data();
  }
  [[nodiscard]] T* data() noexcept { return buffer_.data(); }
  [[nodiscard]] const T* data() const noexcept { return buffer_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) noexcept { return buffer_[i]; }
  const T& operator[](std::size_t i) const noexcept { return buffer_[i]; }

 private:
  Buffer<T> buffer_;
  std::size_t size_ = 0;
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
      pool_.free_.push_back(std::move(item_));
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
