// SPDX-License-Identifier: BSD-3-Clause
// A tree of tasks that grows while the folder below it fills: what has arrived is planned anew with
// each arrival, and what then is made of more than it was, or of what is made again, is done again.
#pragma once

#include <chrono>
#include <condition_variable>
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

/// Of a process, or of rank 0 for all. A task keeps its number when it is planned anew
/// (TaskList::replace).
class GrowingSource final : public WorkSource {
 public:
  /// All tasks that follow from the leaves that have arrived, the leaves among them; `arriving`:
  /// others of which it is known that they come. The same leaves give the same tasks.
  using Grow =
      std::function<std::vector<Task>(std::vector<Task> leaves, const std::vector<Task>& arriving)>;
  using Admit = std::function<void(const std::vector<Task>&)>;

  /// `changed` hears of tasks that wait again, and of those that cannot be done. What `grow` and
  /// `admit` throw ends the watch.
  GrowingSource(Intake intake, Grow grow, TaskList& tasks, const WatchOptions& options,
                Observer observer, Admit admit, std::function<void(const Outcome&)> changed);
  std::optional<WorkUnit> next() override;
  [[nodiscard]] bool more_later() const override;
  void finished(const Outcome& outcome) override;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Stand { kOpen, kGood, kBad };
  struct Node {
    Stand stand = Stand::kOpen;
    bool in_work = false;
    std::optional<std::size_t> lacks;        ///< what keeps it from being begun: that failed
    bool stale = false;                      ///< in work, but of inputs that are others by now
    std::optional<Clock::time_point> again;  ///< when a fault of the machine is tried again
    int times = 0;                           ///< that it was
  };
  void look();
  void grow(std::set<std::size_t> redo);
  [[nodiscard]] std::set<std::size_t> take_plan(std::vector<Task> plan);
  void connect(const std::set<std::size_t>& redo);
  [[nodiscard]] std::set<std::size_t> with_what_follows(const std::set<std::size_t>& redo) const;
  void tell_stand(std::size_t task);
  [[nodiscard]] std::optional<WorkUnit> best();

  // Of who asks, one thread at a time:
  Intake intake_;
  Grow grow_;
  TaskList& tasks_;
  WatchOptions options_;
  Observer observer_;
  Admit admit_;
  std::function<void(const Outcome&)> changed_state_;
  std::vector<Task> leaves_;
  std::size_t planned_leaves_ = 0, planned_arriving_ = 0;
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::vector<std::size_t>> after_, any_;  ///< by number
  std::vector<std::size_t> order_;

  mutable std::mutex mutex_;  ///< of what follows; never held while files are looked at
  std::condition_variable changed_;
  std::vector<Node> nodes_;
  TaskGraph graph_;
  std::vector<std::size_t> ready_;
  std::size_t in_work_ = 0;
  bool ended_ = false;
  Clock::time_point last_work_ = Clock::now();
};

}  // namespace loom::batch
