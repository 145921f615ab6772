// SPDX-License-Identifier: BSD-3-Clause
// The recipe of a batch in one process: look what is there, do the rest, say what became of it. Its
// parts serve a job over several ranks too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loom/batch/growing_source.hpp"
#include "loom/batch/inspect.hpp"
#include "loom/batch/monitor.hpp"
#include "loom/batch/pipeline.hpp"
#include "loom/batch/work_sources.hpp"

namespace loom::batch {

/// Tasks, what each waits for (link_tasks), and what is there of each.
struct BatchPlan {
  std::vector<Task> tasks;
  std::vector<std::vector<std::size_t>> after, any;  ///< of link_tasks(), of link_any()
  std::vector<Finding> findings;
};

/// Links and inspects; writes nothing. Throws kUsage where tasks cannot be put in an order.
[[nodiscard]] BatchPlan plan_batch(std::vector<Task> tasks, const WorkKinds& kinds,
                                   const RunFolder& folder, Check check);

/// What a program asks of the engine. All functions are called on the process that keeps the books:
/// rank 0, where there are several.
struct BatchJob {
  RunFolder folder;
  WorkKinds kinds;
  std::function<BatchPlan()> plan{};    ///< called once, before anything is written
  std::optional<WatchOptions> watch{};  ///< then there is no plan, but `find`
  WatchSource::Find find{};
  GrowingSource::Grow grow{};  ///< in a watch: what follows from the tasks that were found
  /// Sees tasks before any of them is begun; what it throws ends the run.
  WatchSource::Admit admit{};
  std::function<std::string(const std::vector<Task>&)> title{};
  PipelineOptions pipeline{};
  Packing packing = Packing::kNo;
  ClaimOptions claims{};
  MonitorOptions monitor{};  ///< order, ledger, files; the engine sets the rest
};

struct RunCounts {
  std::size_t tasks = 0, done = 0, up_to_date = 0, failed = 0, missing = 0, blocked = 0,
              elsewhere = 0, left = 0;
};
[[nodiscard]] RunCounts count_tasks(const std::vector<Outcome>& outcomes);

struct BatchReport {
  std::vector<Task> tasks;
  std::vector<Outcome> outcomes;  ///< one for each task
  RunCounts counts;
  PipelineEnd end;
  RunStatus status;  ///< at the end
  PipelineOptions pipeline;
  StageLoad load;  ///< busy thread-seconds of the stages
  double wall_s = 0, cpu_s = 0;
  std::uint64_t peak_memory_bytes = 0;
};

/// The exit code: a fatal fault's own; kInterrupted when stopped with work left; kSomeFailed when a
/// task failed, is missing or was never begun for want of another; kOk.
[[nodiscard]] Status exit_status(const BatchReport& report);

/// Does it all. Throws where nothing could be begun (what the job's functions throw, kUnwritable,
/// kDiskFull).
[[nodiscard]] BatchReport run_batch(const BatchJob& job, const Observer& observer,
                                    const Monitor::Progress& progress, Tracer* tracer);

// Parts of it.

/// Tells of the tasks that need no work (up to date, missing, in quarantine without --retry, in
/// need of such) and returns the others, in the order in which they should be done.
[[nodiscard]] std::vector<ListedTask> waiting_tasks(
    const BatchPlan& plan, int retry, const std::function<void(const Outcome&)>& changed);

/// Removes what dead runs left: their claims, and temporaries of the tasks they worked on.
void clean_up(const std::vector<Task>& tasks, const RunFolder& folder, Claims& claims);

/// Notes the tasks in the folder's plan; a warning where that cannot be.
void keep_plan(const BatchJob& job, const std::vector<Task>& tasks, const Observer& observer);

/// What a watch does with tasks before any of them is begun: what the job asks for, and notes them
/// where this process `keeps` the books. The job outlives it.
[[nodiscard]] WatchSource::Admit admit_and_keep(const BatchJob& job, bool keeps,
                                                const Observer& observer);

/// The job's monitor, once its tasks are known: the books are kept by who holds the claim "ledger".
[[nodiscard]] std::unique_ptr<Monitor> open_monitor(const BatchJob& job, MonitorOptions options,
                                                    const TaskList& tasks, const BatchPlan& plan,
                                                    Claims& claims, const Observer& observer,
                                                    const Monitor::Progress& progress);

/// Tasks, outcomes, counts and the status at the end, as the monitor knows them.
void fill_report(BatchReport& report, const TaskList& tasks, const Monitor& monitor);

}  // namespace loom::batch
