// SPDX-License-Identifier: BSD-3-Clause
// Which task waits for which others. Pure bookkeeping: knows numbers, no files and no threads.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "loom/batch/task.hpp"

namespace loom::batch {

/// By number of task, the numbers of those that are done before it: it names them (Task::after), or
/// an input of it is an output of theirs. Ascending, each once. Throws kUsage where a name is
/// nobody's, a task needs itself by way of others (they are named), or two make one file.
[[nodiscard]] std::vector<std::vector<std::size_t>> link_tasks(const std::vector<Task>& tasks);

/// The same of Task::any_inputs, without those that link_tasks() names.
[[nodiscard]] std::vector<std::vector<std::size_t>> link_any(
    const std::vector<Task>& tasks, const std::vector<std::vector<std::size_t>>& after);

/// Numbers in an order in which each comes after what it needs; among equals as they were. `any`:
/// of link_any(), or nothing.
[[nodiscard]] std::vector<std::size_t> sorted_by_need(
    const std::vector<std::vector<std::size_t>>& after,
    const std::vector<std::vector<std::size_t>>& any = {});

/// Holds tasks back until what they need is settled. What a task needs may be added after it.
class TaskGraph {
 public:
  /// The task may begin when each of `after` is settled well. True: it may now.
  /// Precondition: none of them has failed. It waits for all of `any` too, and is blocked when none
  /// of these is settled well.
  bool add(std::size_t task, const std::vector<std::size_t>& after, const AnyOf& any = {});

  /// What a task that was settled leads to.
  struct News {
    std::vector<std::size_t> ready;  ///< held back until now
    /// will never be begun, with the task that failed: it, or what is needed by way of others
    std::vector<std::size_t> blocked;
  };
  /// `good`: its outputs are there. Said twice, the second time leads to nothing.
  News settle(std::size_t task, bool good);
  /// Tasks that are held back.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }

 private:
  struct Node {
    std::size_t missing = 0;  ///< needs that are not settled
    bool waits = false;
    bool enough = true;  ///< of `any` one is settled well, or there is none
    std::optional<bool> good;
    std::vector<std::size_t> needed_by, wanted_by;
  };
  void block_after(std::size_t task, News& news);
  void settle_one(std::size_t next, News& news);

  std::map<std::size_t, Node> nodes_;
  std::size_t held_ = 0;
};

}  // namespace loom::batch
