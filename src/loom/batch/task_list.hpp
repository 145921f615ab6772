// SPDX-License-Identifier: BSD-3-Clause
// The frames of a run, by number. It grows while a folder is watched; a task never moves, and what
// it is replaced by stands beside it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "loom/batch/task.hpp"

namespace loom::batch {

/// Safe from any thread.
class TaskList {
 public:
  TaskList() = default;
  explicit TaskList(std::vector<Task> tasks) {
    for (Task& task : tasks) add(std::move(task));
  }
  /// Its number.
  std::size_t add(Task task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::make_shared<const Task>(std::move(task)));
    return tasks_.size() - 1;
  }
  /// A task under a number of the giver's: on another rank than the one that found the frames.
  /// Nothing when there is one.
  void put(std::size_t number, Task task) {
    const std::lock_guard lock(mutex_);
    while (tasks_.size() <= number) tasks_.push_back(std::make_shared<const Task>());
    if (tasks_[number]->name.empty())
      tasks_[number] = std::make_shared<const Task>(std::move(task));
  }
  /// put(), or replace() where what is there is made of others.
  void learn(std::size_t number, Task task) {
    {
      const std::lock_guard lock(mutex_);
      const Task* const known = number < tasks_.size() ? tasks_[number].get() : nullptr;
      if (known != nullptr && !known->name.empty()) {
        if (is_made_alike(*known, task)) return;
        auto& now = tasks_[number];
        replaced_.push_back(std::exchange(now, std::make_shared<const Task>(std::move(task))));
        return;
      }
    }
    put(number, std::move(task));
  }
  /// The same task, made of others than it was. References to it as it was stay whole.
  void replace(std::size_t number, Task task) {
    const std::lock_guard lock(mutex_);
    auto& now = tasks_.at(number);
    replaced_.push_back(std::exchange(now, std::make_shared<const Task>(std::move(task))));
  }
  [[nodiscard]] const Task& at(std::size_t i) const {
    const std::lock_guard lock(mutex_);
    return *tasks_.at(i);
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return tasks_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const Task>> tasks_, replaced_;
};

}  // namespace loom::batch
