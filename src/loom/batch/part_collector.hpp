// SPDX-License-Identifier: BSD-3-Clause
// A task that several ranks compute. Every rank that has a part reads the inputs itself (from the
// page cache, or from a parallel file system, which is built for that); only results travel, to the
// rank that began the task, its owner, who joins and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "loom/batch/task.hpp"

namespace loom::batch {

/// What one rank found for some parts of a task.
struct PartialTask {
  WorkUnit unit;
  std::uint32_t round = 0;        ///< of its Assignment
  Outcome outcome;                ///< of this part: one that ends_task() is the task's
  std::unique_ptr<Opaque> piece;  ///< what its kind computed; null where it is not kDone
};

/// A part in this state is the end of the whole task. Of a task that is up to date all parts are
/// waited for: one of them may be making its page.
[[nodiscard]] inline bool ends_task(TaskState state) { return !is_good(state); }

/// Collects the parts of the tasks that this process owns. Safe from any thread.
class PartCollector {
 public:
  /// Takes a part; all of them when this was the last one or the first that ends the task. Parts of
  /// a task that is complete, or of an older round, are dropped.
  [[nodiscard]] std::optional<std::vector<PartialTask>> add(PartialTask part);
  /// Tasks begun and not complete.
  [[nodiscard]] std::vector<std::size_t> open() const;

 private:
  struct Begun {
    std::uint32_t round = 0;
    std::vector<PartialTask> parts;
  };
  mutable std::mutex mutex_;
  std::map<std::size_t, Begun> tasks_;
  std::set<std::pair<std::size_t, std::uint32_t>> closed_;
};

}  // namespace loom::batch
