// SPDX-License-Identifier: BSD-3-Clause
// Where a single process gets its tasks: a list, or a folder that fills.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loom/base/log.hpp"
#include "loom/batch/intake.hpp"
#include "loom/batch/task_graph.hpp"
#include "loom/batch/task_list.hpp"

namespace loom::batch {

/// A task of a list, and the tasks of the list that are done before it.
struct ListedTask {
  std::size_t task = 0;
  std::vector<std::size_t> after;
  AnyOf any{};
};

/// Tasks in a fixed order, each whole, and each when those that it needs are done. One that another
/// run has claimed is offered again, after all others, until it is done (or that run is dead, and
/// its claim can be taken over).
class ListSource final : public WorkSource {
 public:
  /// `changed` hears of tasks that cannot be done since what they need has failed.
  ListSource(const std::vector<ListedTask>& tasks, const TaskList& names,
             std::function<bool()> stop_requested,
             std::function<void(const Outcome&)> changed = {});
  std::optional<WorkUnit> next() override;
  [[nodiscard]] bool more_later() const override;
  void finished(const Outcome& outcome) override;

 private:
  const TaskList& names_;
  std::function<bool()> stop_;
  std::function<void(const Outcome&)> changed_state_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  TaskGraph graph_;
  std::deque<std::size_t> waiting_, elsewhere_;
};

/// New tasks as they are completed on disk, the highest priority first. There is no notification on
/// network file systems, so it looks. One that failed is a new task when its files have changed;
/// one that the machine failed is tried again, ever more rarely.
class WatchSource final : public WorkSource {
 public:
  using Find = Intake::Find;
  using Admit = std::function<void(const std::vector<Task>&)>;

  /// Tasks found are added to `tasks`, once `admit` has seen them; what that throws ends the
  /// watch.
  WatchSource(Find find, TaskList& tasks, const WatchOptions& options, const Observer& observer,
              Admit admit = {});
  /// Says after a moment that there is none for now: who asks may have a task to try again, or a
  /// reason to end.
  std::optional<WorkUnit> next() override;
  [[nodiscard]] bool more_later() const override;
  void finished(const Outcome& outcome) override;

 private:
  using Clock = std::chrono::steady_clock;
  /// A task that failed.
  struct Failed {
    std::optional<Clock::time_point> again;  ///< when the machine's fault is tried again
    int times = 0;                           ///< that it was
  };
  void look();
  [[nodiscard]] std::optional<WorkUnit> best();

  // Of who asks, one thread at a time:
  Intake intake_;
  TaskList& tasks_;
  WatchOptions options_;
  Observer observer_;
  std::vector<std::size_t> ready_;
  std::map<std::string, std::size_t> taken_;  ///< numbers of those that were given out
  Admit admit_;

  mutable std::mutex mutex_;  ///< of what follows; never held while files are looked at
  std::condition_variable changed_;
  bool ended_ = false;
  std::vector<std::size_t> later_;
  std::map<std::size_t, Failed> failed_;
  std::size_t in_work_ = 0;
  Clock::time_point last_work_ = Clock::now();
};

}  // namespace loom::batch
