// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/ranks_night.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/recipes/night/frame_joiner.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/affinity.hpp"
#include "loom/runtime/process_identity.hpp"
#include "loom/runtime/thread_count.hpp"
#include "loom/runtime/usage.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::night {
namespace {

constexpr std::size_t kPsfs = 30;  // cameras of an exposure

using SteadyTime = std::chrono::steady_clock::time_point;

double seconds_of(SteadyTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

SteadyTime time_of(double seconds) {
  return SteadyTime(
      std::chrono::duration_cast<SteadyTime::duration>(std::chrono::duration<double>(seconds)));
}

RankDevice kind_of(const DeviceEngine* device) {
  if (device == nullptr) return RankDevice::kCpu;
  const DeviceInfo& info = device->info();
  return info.emulated ? RankDevice::kEmulated : RankDevice{info.capability()};
}

RankHello hello_of(const PipelineOptions& options, const DeviceEngine* device) {
  RankHello hello;
  hello.host = this_process().host;
  hello.cores = static_cast<double>(options.threads);
  hello.isa = static_cast<int>(active_isa());
  hello.processors = affinity_list();
  hello.device = kind_of(device);
  return hello;
}

/// One job agrees on one instruction set, so that it does not matter who extracts what.
void take_isa(int isa) {
  if (isa >= static_cast<int>(active_isa())) return;
  ::setenv("FIBERLOOM_ISA", std::string(isa_name(static_cast<Isa>(isa))).c_str(), 1);
}

/// And on what computes.
Engine agreed_engine(Engine own, RankDevice agreed, const Observer& observer) {
  if (agreed == kind_of(own.device())) return own;
  observer.warn(
      "not all ranks have a device of this kind: this one computes on its CPU, so that it "
      "does not matter who extracts what");
  return Engine(own.method());
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
    Look(LoadGauge& gauge, const FramePipeline& pipeline) : gauge_(gauge) {
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
  const FramePipeline* pipeline_ = nullptr;
  StageLoad last_;
  std::map<int, StageLoad> others_;
};

bool ended(FrameState state) {
  return state == FrameState::kDone || state == FrameState::kFailed ||
         state == FrameState::kUpToDate || state == FrameState::kMissing;
}

/// What rank 0 has beside its pipeline.
struct Desk {
  NightPlan plan;
  LoadGauge gauge;
  std::unique_ptr<WatchSource> watch;
  std::unique_ptr<Monitor> monitor;
  std::vector<std::size_t> waiting;
};

/// The frame as the ranks share it: with what it can be cut into, by the PSF that will be used. One
/// that cannot be read is told of by who extracts the frame, whole.
QueuedTask queued_task(std::size_t number, long priority, FrameTask task, PsfCache& psfs) {
  task.bundles = 1;
  const ExtractJob& job = task.job;
  try {
    if (divisible(job)) {
      const auto psf = psfs.get(job.psf, job.psf_options);
      const bool known = job.options.bundle_size > 0 || !psf->model.bundle.empty();
      if (known) task.bundles = static_cast<int>(wanted_bundles(psf->model, job.options).size());
    }
  } catch (const std::exception&) {
  }
  return {number, priority, std::move(task)};
}

/// Gives the frames to the dispatcher: at once, or as they come.
void feed_frames(FrameFeed& feed, Desk& desk, const TaskList& tasks) {
  PsfCache psfs(kPsfs);
  if (desk.watch) {
    for (;;) {
      if (const auto unit = desk.watch->next()) {
        const FrameTask& task = tasks.at(unit->frame);
        feed.add({queued_task(unit->frame, task.expid, task, psfs)});
      } else if (!desk.watch->more_later()) {
        return;
      }
    }
  }
  std::vector<QueuedTask> queued;
  for (const std::size_t i : desk.waiting) queued.push_back(queued_task(i, 0, tasks.at(i), psfs));
  feed.add(queued);
}

void open_desk(Desk& desk, const RanksJob& job, const RanksReport& report, const Ranks& ranks,
               const RunFolder& folder, Claims& claims, TaskList& tasks, const Observer& observer,
               const Monitor::Progress& progress, double threads) {
  if (!job.night.watch) desk.plan = plan_night(job.night);
  const auto admit = [&folder, &observer, redo = job.night.redo](const auto& found) {
    admit_frames(found, folder, redo, observer);
  };
  admit(desk.plan.tasks);
  clean_up(desk.plan.tasks, folder, claims);
  for (const FrameTask& task : desk.plan.tasks) tasks.add(task);
  MonitorOptions options;
  options.title = run_title(job.night.request, desk.plan.tasks);
  options.ranks = ranks.size();
  options.threads = static_cast<int>(threads);
  options.nodes = ranks.nodes();
  options.watching = job.night.watch.has_value();
  options.start = report.night.pipeline.start;
  options.limits = job.night.limits;
  const ClaimResult keeper = claims.acquire("ledger");
  options.keep = keeper.mine ? KeepFiles::kYes : KeepFiles::kNo;
  if (!keeper.mine) observer.info("ledger and status are kept by " + keeper.holder);
  desk.monitor = std::make_unique<Monitor>(tasks, folder, options, observer, progress);
  const auto changed = [&](const FrameOutcome& outcome) { desk.monitor->changed(outcome); };
  if (job.night.watch) {
    desk.watch =
        std::make_unique<WatchSource>(job.night.request, tasks, *job.night.watch, observer, admit);
  } else {
    desk.waiting = waiting_frames(desk.plan.findings, report.night.pipeline.retry, changed);
  }
}

/// Rank 0's part of the job. Everything outlives it.
void set_desk(RankJob& job, Desk& desk, Claims& claims, const TaskList& tasks) {
  job.feed = [&](FrameFeed& feed) { feed_frames(feed, desk, tasks); };
  job.outcome = [&](const FrameOutcome& outcome) {
    desk.monitor->changed(outcome);
    if (ended(outcome.state)) claims.release(tasks.at(outcome.frame).name);  // one cut in parts
    if (desk.watch && outcome.end_s > 0) desk.watch->finished(outcome);
  };
  job.claim = [&](std::size_t frame) -> std::optional<FrameOutcome> {
    const ClaimResult claim = claims.acquire(tasks.at(frame).name);
    if (claim.mine) return std::nullopt;
    FrameOutcome outcome;
    outcome.frame = frame;
    outcome.state = FrameState::kClaimed;
    outcome.message = "in work on " + claim.holder;
    return outcome;
  };
}

void fill_report(RanksReport& report, const TaskList& tasks, const Desk& desk) {
  NightReport& night = report.night;
  for (std::size_t i = 0; i < tasks.size(); ++i) night.tasks.push_back(tasks.at(i));
  night.outcomes = desk.monitor->outcomes();
  night.counts = count_frames(night.outcomes);
  night.status = desk.monitor->status();
  night.wall_s = night.status.elapsed_s;
  for (const RankReport& rank : report.ranks) {
    night.cpu_s += rank.cpu_s;
    night.peak_memory_bytes = std::max(night.peak_memory_bytes, rank.peak_memory_bytes);
    report.trace += (report.trace.empty() || rank.trace.empty() ? "" : ",") + rank.trace;
  }
}

}  // namespace

RanksReport run_night_on_ranks(Ranks& ranks, RanksJob job, Engine engine, const Observer& observer,
                               const Monitor::Progress& progress, Tracer* tracer) {
  RanksReport report;
  report.library = ranks.library();
  report.nodes = ranks.nodes();
  RankJob rank_job;
  rank_job.hello = hello_of(job.night.pipeline, engine.device());
  rank_job.agreement =
      meet_ranks(ranks, rank_job.hello, unique_id(), seconds_of(job.night.pipeline.start));
  take_isa(rank_job.agreement.isa);
  engine = agreed_engine(std::move(engine), rank_job.agreement.device, observer);
  report.night.engine = engine;
  report.night.pipeline =
      complete(agreed_options(job.night.pipeline, rank_job.agreement, ranks.rank(),
                              static_cast<std::size_t>(ranks.local_size())),
               job.night.request, engine);
  rank_job.agreement.cores = static_cast<double>(report.night.pipeline.threads);

  const RunFolder folder(job.night.request.output);
  folder.create();
  ClaimOptions claiming = job.night.claims;
  claiming.run_id = rank_job.agreement.run_id;
  claiming.rank = ranks.rank();
  Claims claims(folder, claiming);
  TaskList tasks;
  Desk desk;
  if (ranks.rank() == 0) {
    double threads = 0;
    tell_of_binding(rank_job.agreement.ranks, observer);
    for (const RankHello& hello : rank_job.agreement.ranks) threads += hello.cores;
    open_desk(desk, job, report, ranks, folder, claims, tasks, observer, progress, threads);
    set_desk(rank_job, desk, claims, tasks);
  }
  rank_job.dispatch = job.dispatch;
  rank_job.tasks = &tasks;
  rank_job.silence_s = job.silence_s;
  rank_job.launch_s = job.launch_s;
  rank_job.open_s = job.open_s;
  rank_job.fatal = job.fatal;
  rank_job.stop = observer.stop_requested;
  rank_job.trace = [&] { return trace_of(tracer, ranks.rank(), report.night.pipeline.start); };
  rank_job.work = [&](RankSource& source) {
    FrameJoiner joiner(source, tasks, folder, report.night.pipeline, tracer);
    FramePipeline pipeline(tasks, source, report.night.pipeline,
                           {folder, claims, engine, observer, tracer,
                            [&](const FrameOutcome& outcome) { source.changed(outcome); },
                            [&](FramePart part) { joiner.part_done(std::move(part)); }});
    const LoadGauge::Look look(desk.gauge, pipeline);
    if (desk.monitor) desk.monitor->start([&] { return desk.gauge.of_all(); });
    report.night.end = pipeline.run();
    if (auto fatal = joiner.finish(); fatal && !report.night.end.fatal) {
      report.night.end.fatal = std::move(fatal);
    }
    if (report.night.end.fatal) throw *report.night.end.fatal;
  };
  rank_job.load = [&] { return desk.gauge.own(); };
  rank_job.heard_load = [&](int rank, const StageLoad& load) { desk.gauge.heard(rank, load); };
  report.ranks = run_ranks(ranks, rank_job);
  report.night.load = desk.gauge.of_all();
  if (ranks.rank() != 0) return report;
  desk.monitor->finish();
  fill_report(report, tasks, desk);
  return report;
}

}  // namespace fiberloom::night
