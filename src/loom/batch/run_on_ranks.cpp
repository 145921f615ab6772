// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/run_on_ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "loom/base/error.hpp"
#include "loom/batch/joiner.hpp"
#include "loom/runtime/affinity.hpp"
#include "loom/runtime/process_identity.hpp"
#include "loom/runtime/thread_count.hpp"
#include "loom/runtime/usage.hpp"

namespace loom::batch {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

double seconds_of(SteadyTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

SteadyTime time_of(double seconds) {
  return SteadyTime(
      std::chrono::duration_cast<SteadyTime::duration>(std::chrono::duration<double>(seconds)));
}

RankHello hello_of(const RanksJob& job) {
  RankHello hello;
  hello.host = this_process().host;
  hello.cores = static_cast<double>(job.batch.pipeline.threads);
  hello.isa = job.isa;
  hello.processors = affinity_list();
  hello.device = job.device;
  return hello;
}

/// Open MPI binds each of a few ranks to one core unless it is told otherwise.
void tell_of_binding(const std::vector<RankHello>& ranks, const Observer& observer) {
  std::set<int> processors;
  for (const RankHello& hello : ranks) {
    if (hello.host == ranks[0].host) {
      processors.insert(hello.processors.begin(), hello.processors.end());
    }
  }
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (static_cast<long>(processors.size()) >= online) return;
  observer.info("the ranks on " + ranks[0].host + " are bound to " +
                std::to_string(processors.size()) + " of its " + std::to_string(online) +
                " processors (mpirun --bind-to none lets them use all)");
}

/// Threads and the start of the run as agreed; a job's own limits (cgroup, Slurm) still hold.
PipelineOptions agreed_options(PipelineOptions options, const RankAgreement& agreement, int rank,
                               std::size_t local_ranks) {
  if (options.threads == 0) {
    ThreadLimits limits = find_thread_limits(process_environment());
    limits.affinity = static_cast<std::size_t>(std::max(agreement.cores, 1.0));
    if (limits.cgroup_quota) {
      limits.cgroup_quota = *limits.cgroup_quota / static_cast<double>(local_ranks);
    }
    limits.local_ranks = 1;  // divided already
    options.threads = thread_count(limits);
  }
  options.rank = rank;
  options.start = time_of(agreement.origin_s - agreement.clock_offset_s);
  return options;
}

std::string trace_of(Tracer* tracer, int rank, SteadyTime start) {
  if (tracer == nullptr) return {};
  const std::chrono::duration<double, std::micro> shift = tracer->origin() - start;
  return tracer->chrome_events(rank, shift.count());
}

/// The load of this rank's pipeline, for a monitor that outlives it, and of the ranks that have
/// told of theirs.
class LoadGauge {
 public:
  /// Looks at a pipeline for as long as this lives.
  class Look {
   public:
    Look(LoadGauge& gauge, const Pipeline& pipeline) : gauge_(gauge) {
      const std::lock_guard lock(gauge.mutex_);
      gauge.pipeline_ = &pipeline;
    }
    Look(const Look&) = delete;
    Look& operator=(const Look&) = delete;
    ~Look() {
      const std::lock_guard lock(gauge_.mutex_);
      gauge_.last_ = gauge_.pipeline_->load();
      gauge_.pipeline_ = nullptr;
    }

   private:
    LoadGauge& gauge_;
  };
  void heard(int rank, const StageLoad& load) {
    const std::lock_guard lock(mutex_);
    others_[rank] = load;
  }
  [[nodiscard]] StageLoad own() const {
    const std::lock_guard lock(mutex_);
    return pipeline_ != nullptr ? pipeline_->load() : last_;
  }
  [[nodiscard]] StageLoad of_all() const {
    StageLoad sum = own();
    const std::lock_guard lock(mutex_);
    for (const auto& [rank, load] : others_) sum += load;
    return sum;
  }

 private:
  mutable std::mutex mutex_;
  const Pipeline* pipeline_ = nullptr;
  StageLoad last_;
  std::map<int, StageLoad> others_;
};

/// What rank 0 has beside its pipeline.
struct Desk {
  BatchPlan plan;
  LoadGauge gauge;
  std::unique_ptr<WorkSource> watch;  ///< what arrives; holds back itself what has to wait
  bool grows = false;                 ///< it is a GrowingSource
  std::unique_ptr<Monitor> monitor;
  std::vector<ListedTask> waiting;
};

/// The task as the ranks share it: with what it can be cut into.
QueuedTask queued_task(const ListedTask& listed, const TaskList& tasks, const WorkKinds& kinds) {
  Task task = tasks.at(listed.task);
  task.parts = std::max(kinds.of(task).count_parts(task), 1);
  return {listed.task, listed.after, std::move(task), listed.any};
}

/// Gives the tasks to the dispatcher: at once, or as they come.
void feed_tasks(TaskFeed& feed, Desk& desk, const TaskList& tasks, const WorkKinds& kinds) {
  if (desk.watch) {
    for (;;) {
      if (const auto unit = desk.watch->next()) {
        feed.add({queued_task({unit->task, {}}, tasks, kinds)});
      } else if (!desk.watch->more_later()) {
        return;
      }
    }
  }
  std::vector<QueuedTask> queued;
  for (const ListedTask& listed : desk.waiting) {
    queued.push_back(queued_task(listed, tasks, kinds));
    queued.back().task.priority = 0;  // all are there: what takes longest comes first
  }
  feed.add(queued);
}

void open_desk(Desk& desk, const BatchJob& job, const PipelineOptions& pipeline, const Ranks& ranks,
               Claims& claims, TaskList& tasks, const Observer& observer,
               const Monitor::Progress& progress, double threads) {
  if (!job.watch) desk.plan = job.plan();
  if (job.admit) job.admit(desk.plan.tasks);
  clean_up(desk.plan.tasks, job.folder, claims);
  for (const Task& task : desk.plan.tasks) tasks.add(task);
  MonitorOptions options;
  options.ranks = ranks.size();
  options.threads = static_cast<int>(threads);
  options.nodes = ranks.nodes();
  options.start = pipeline.start;
  desk.monitor =
      open_monitor(job, std::move(options), tasks, desk.plan, claims, observer, progress);
  const auto changed = [&](const Outcome& outcome) { desk.monitor->changed(outcome); };
  desk.grows = job.watch && job.grow;
  if (desk.grows) {
    desk.watch = std::make_unique<GrowingSource>(
        Intake(job.find, *job.watch, observer), job.grow, tasks, *job.watch, observer,
        admit_and_keep(job, desk.monitor->keeps_files(), observer), changed);
  } else if (job.watch) {
    desk.watch =
        std::make_unique<WatchSource>(job.find, tasks, *job.watch, observer,
                                      admit_and_keep(job, desk.monitor->keeps_files(), observer));
  } else {
    desk.waiting = waiting_tasks(desk.plan, pipeline.retry, changed);
  }
}

/// Rank 0's part of the job. Everything outlives it.
void set_desk(RankJob& job, Desk& desk, Claims& claims, const TaskList& tasks) {
  job.feed = [&](TaskFeed& feed) { feed_tasks(feed, desk, tasks, *job.kinds); };
  job.outcome = [&](const Outcome& outcome) {
    desk.monitor->changed(outcome);
    if (is_settled(outcome.state)) claims.release(tasks.at(outcome.task).name);  // cut in parts
    // what another run has claimed the server looks at again by itself
    const bool settles = desk.grows ? is_settled(outcome.state) : outcome.end_s > 0;
    if (desk.watch && settles) desk.watch->finished(outcome);
  };
  job.claim = [&](std::size_t task) -> std::optional<Outcome> {
    const ClaimResult claim = claims.acquire(tasks.at(task).name);
    if (claim.mine) return std::nullopt;
    Outcome outcome;
    outcome.task = task;
    outcome.state = TaskState::kClaimed;
    outcome.message = "in work on " + claim.holder;
    return outcome;
  };
}

void sum_up(RanksReport& report) {
  BatchReport& batch = report.batch;
  for (const RankReport& rank : report.ranks) {
    batch.cpu_s += rank.cpu_s;
    batch.peak_memory_bytes = std::max(batch.peak_memory_bytes, rank.peak_memory_bytes);
    report.trace += (report.trace.empty() || rank.trace.empty() ? "" : ",") + rank.trace;
  }
}

/// What this rank does: its pipeline, and the joining of the tasks that it owns.
void work(RankSource& source, const TaskList& tasks, const PipelineOptions& options,
          PipelineContext context, Desk& desk, BatchReport& report) {
  context.changed = [&](const Outcome& outcome) { source.changed(outcome); };
  Joiner joiner(tasks, options, context,
                [&](const Outcome& outcome) { source.task_done(outcome); });
  source.set_joiner([&](PartialTask part) { joiner.add(std::move(part)); });
  context.part_done = [&](PartialTask part, std::unique_ptr<Opaque> material, InputStamps inputs) {
    if (source.owns(part.unit)) joiner.keep(part.unit.task, std::move(material), std::move(inputs));
    source.part_done(std::move(part));
  };
  Pipeline pipeline(tasks, source, options, context);
  const LoadGauge::Look look(desk.gauge, pipeline);
  if (desk.monitor) desk.monitor->start([&] { return desk.gauge.of_all(); });
  report.end = pipeline.run();
  source.set_joiner({});  // a rank that still works may send a part when this one is gone
  if (auto fatal = joiner.finish(); fatal && !report.end.fatal) report.end.fatal = std::move(fatal);
  if (report.end.fatal) throw *report.end.fatal;
}

}  // namespace

RanksReport run_batch_on_ranks(Ranks& ranks, RanksJob job, const Observer& observer,
                               const Monitor::Progress& progress, Tracer* tracer) {
  RanksReport report;
  report.library = ranks.library();
  report.nodes = ranks.nodes();
  RankJob rank_job;
  rank_job.hello = hello_of(job);
  rank_job.agreement =
      meet_ranks(ranks, rank_job.hello, unique_id(), seconds_of(job.batch.pipeline.start));
  const RankAgreement& agreement = rank_job.agreement;
  if (job.agreed) {
    job.batch.pipeline.device_places = job.agreed(agreement.isa, agreement.device);
  }
  const PipelineOptions pipeline = report.batch.pipeline =
      complete(agreed_options(job.batch.pipeline, agreement, ranks.rank(),
                              static_cast<std::size_t>(ranks.local_size())),
               job.batch.packing);
  rank_job.agreement.cores = static_cast<double>(pipeline.threads);

  job.batch.folder.create();
  ClaimOptions claiming = job.batch.claims;
  claiming.run_id = agreement.run_id;
  claiming.rank = ranks.rank();
  Claims claims(job.batch.folder, claiming);
  TaskList tasks;
  Desk desk;
  rank_job.kinds = &job.batch.kinds;
  if (ranks.rank() == 0) {
    double threads = 0;
    tell_of_binding(agreement.ranks, observer);
    for (const RankHello& hello : agreement.ranks) threads += hello.cores;
    open_desk(desk, job.batch, pipeline, ranks, claims, tasks, observer, progress, threads);
    set_desk(rank_job, desk, claims, tasks);
  }
  rank_job.dispatch = job.dispatch;
  rank_job.tasks = &tasks;
  rank_job.silence_s = job.silence_s;
  rank_job.launch_s = job.launch_s;
  rank_job.open_s = job.open_s;
  rank_job.fatal = job.fatal;
  rank_job.stop = observer.stop_requested;
  rank_job.trace = [&] { return trace_of(tracer, ranks.rank(), pipeline.start); };
  rank_job.work = [&](RankSource& source) {
    work(source, tasks, pipeline,
         {job.batch.folder, job.batch.kinds, claims, observer, tracer, {}, {}}, desk, report.batch);
  };
  rank_job.load = [&] { return desk.gauge.own(); };
  rank_job.heard_load = [&](int rank, const StageLoad& load) { desk.gauge.heard(rank, load); };
  report.ranks = run_ranks(ranks, rank_job);
  report.batch.load = desk.gauge.of_all();
  if (ranks.rank() != 0) return report;
  desk.monitor->finish();
  fill_report(report.batch, tasks, *desk.monitor);
  sum_up(report);
  return report;
}

}  // namespace loom::batch
