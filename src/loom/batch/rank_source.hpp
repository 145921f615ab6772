// SPDX-License-Identifier: BSD-3-Clause
// The pipeline's side of a job over several ranks: units come from rank 0, outcomes go there, parts
// of a frame go to its owner. Knows no MPI: it posts letters, and the loop that speaks MPI fills
// it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "loom/batch/rank_mail.hpp"
#include "loom/batch/task_list.hpp"
#include "loom/batch/wire.hpp"

namespace loom::batch {

/// What ranks tell each other.
enum RankTag : int {
  kTagHello,
  kTagClock,  ///< steady clock, there and back
  kTagReady,  ///< the ranks know each other's clocks
  kTagAsk,    ///< a unit is wanted
  kTagUnit,   ///< Assignment and Task
  kTagNoMore,
  kTagPart,     ///< PartialTask, to its owner
  kTagPartEnd,  ///< Assignment of a part that is computed, to rank 0
  kTagState,    ///< Outcome of a task in work, to rank 0
  kTagOutcome,  ///< Outcome, to rank 0
  kTagAdd,      ///< QueuedTasks, from rank 0's own threads
  kTagClose,    ///< no more tasks will be added
  kTagStop,     ///< finish what is in flight
  kTagBye,      ///< RankReport
  kTagAlive,
  kTagEnd,
};

/// next() and finished() as WorkSource says. One unit is always asked for ahead, so that the answer
/// is there when the pipeline has room for it.
class RankSource final : public WorkSource {
 public:
  using TakePart = std::function<void(PartialTask)>;

  /// Tasks that come with the units are put into `tasks`, which the pipeline reads.
  RankSource(RankMail& mail, TaskList& tasks, const WorkKinds& kinds, int rank);

  [[nodiscard]] std::optional<WorkUnit> next() override;
  [[nodiscard]] bool more_later() const override;
  /// The outcome of a unit. Of a part only those that are not kDone say anything new: part_done()
  /// came before.
  void finished(const Outcome& outcome) override;
  /// Does this rank join the parts of the task that the unit in its hands is of?
  [[nodiscard]] bool owns(const WorkUnit& unit) const;
  /// A part is computed: it goes to the task's owner. From any thread.
  void part_done(PartialTask part);
  /// A task is read, computed, written: for rank 0's status. Other states are left out.
  void changed(const Outcome& outcome);
  /// The outcome of a task whose parts were joined here.
  void task_done(const Outcome& outcome);
  /// Who takes the parts of the tasks that this rank owns; called from any thread, the one that
  /// speaks MPI among them, and must not wait. Before the first next(). With nobody they are
  /// dropped.
  void set_joiner(TakePart take);

  // The other side.
  void deliver(const Assignment& assignment, Task task);
  void receive_part(PartialTask part);
  void no_more();  ///< next() says so when what was delivered is taken
  void stop();     ///< next() says so at once

  struct Counters {
    double wait_s = 0;
    int tasks = 0, parts = 0;
  };
  [[nodiscard]] Counters counters() const;

 private:
  [[nodiscard]] std::optional<Assignment> take_back(std::size_t task, int first_part);
  void pass_on(PartialTask part, const Assignment& assignment);

  RankMail& mail_;
  TaskList& tasks_;
  const WorkKinds& kinds_;
  const int rank_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Assignment> inbox_;
  std::map<std::pair<std::size_t, int>, Assignment> in_work_;  ///< by task and first part
  bool no_more_ = false, stopped_ = false;
  bool asked_ = false;
  Counters counters_;
  std::mutex joiner_mutex_;
  TakePart joiner_;
};

}  // namespace loom::batch
