// SPDX-License-Identifier: BSD-3-Clause
// Work space that tasks borrow: as many as run at a time, made once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace loom {

template <class Work>
class WorkPool {
 public:
  /// Borrowed until it is destroyed.
  class Loan {
   public:
    Loan(WorkPool& pool, std::unique_ptr<Work> work) : pool_(pool), work_(std::move(work)) {}
    ~Loan() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.free_.push_back(std::move(work_));
    }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Work& operator*() noexcept { return *work_; }
    Work* operator->() noexcept { return work_.get(); }

   private:
    WorkPool& pool_;
    std::unique_ptr<Work> work_;
  };

  [[nodiscard]] Loan borrow() {
    std::unique_ptr<Work> work;
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        work = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!work) work = std::make_unique<Work>();
    return Loan(*this, std::move(work));
  }

  /// Frees what nobody has borrowed.
  void clear() {
    const std::lock_guard lock(mutex_);
    free_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Work>> free_;
};

}  // namespace loom
