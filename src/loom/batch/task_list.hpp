// SPDX-License-Identifier: BSD-3-Clause
// The frames of a run, by number. It grows while a folder is watched; a task never moves or
// changes.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "loom/batch/task.hpp"

namespace loom::batch {

/// Safe from any thread.
class TaskList {
 public:
  TaskList() = default;
  explicit TaskList(std::vector<Task> tasks) {
    for (Task& task : tasks) tasks_.push_back(std::move(task));
  }
  /// Its number.
  std::size_t add(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    return tasks_.size() - 1;
  }
  /// A task under a number of the giver's: on another rank than the one that found the frames.
  /// Nothing when there is one.
  void put(std::size_t number, Task task) {
    const std::lock_guard lock(mutex_);
    while (tasks_.size() <= number) tasks_.emplace_back();
    if (tasks_[number].name.empty()) tasks_[number] = std::move(task);
  }
  [[nodiscard]] const Task& at(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return tasks_.at(i);
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return tasks_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Task> tasks_;  // growing at its end leaves references whole
};

}  // namespace loom::batch
