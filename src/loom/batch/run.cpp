// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/run.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "loom/base/error.hpp"
#include "loom/batch/flight.hpp"
#include "loom/batch/plan_file.hpp"
#include "loom/batch/shared_ledger.hpp"
#include "loom/files/output_files.hpp"
#include "loom/runtime/usage.hpp"

namespace loom::batch {
namespace {

namespace fs = std::filesystem;

/// Small files that dead runs were writing. Age says nothing of one whose task is in work: its
/// writer may have been suspended, or the disk be slow.
void remove_state_temporaries(const RunFolder& folder, const std::set<long>& dead_pids,
                              const Claims& claims) {
  std::error_code ignored;
  const auto old = [&](const fs::path& path) {
    return claims.age_s(path.string()) > claims.timeout_s();
  };
  for (const std::string& where : {folder.output(), folder.state(), folder.receipts(),
                                   folder.failures(), folder.runs(), folder.options()}) {
    for (const auto& entry : fs::directory_iterator(where, ignored)) {
      const std::string name = entry.path().filename().string();
      const auto at = name.rfind(".tmp-");
      if (at == std::string::npos) continue;
      if (where == folder.output() && !name.starts_with("status.")) continue;  // outputs

      const long pid = std::atol(name.c_str() + at + 5);
      const bool of_a_task = where == folder.receipts() || where == folder.failures();
      const std::string owner = of_a_task ? fs::path(name.substr(0, at)).stem().string() : "ledger";
      const bool in_work = where != folder.runs() && claims.holder(owner);
      if (dead_pids.count(pid) > 0 || (old(entry.path()) && !in_work)) {
        fs::remove(entry.path(), ignored);
      }
    }
  }
}

/// Does any file in the folder of `output` look like a temporary one?
bool has_temporaries(const std::string& output) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent_of(output), ignored)) {
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) return true;
  }
  return false;
}

/// The run that kept the ledger has ended before this one: adds what it cannot know.
void complete_ledger(const RunFolder& folder, const MonitorOptions& options, Claims& claims,
                     const Observer& observer) {
  if (!claims.acquire("ledger").mine) return;
  try {
    open_ledger(folder, options.ledger, options.state)->put(collect_rows(folder));
  } catch (const Error& error) {
    observer.warn(error.what());
  }
}

}  // namespace

BatchPlan plan_batch(std::vector<Task> tasks, const WorkKinds& kinds, const RunFolder& folder,
                     Check check) {
  BatchPlan plan;
  plan.after = link_tasks(tasks);
  plan.any = link_any(tasks, plan.after);
  plan.tasks = std::move(tasks);
  plan.findings.reserve(plan.tasks.size());
  StampCache cache;
  for (const Task& task : plan.tasks) {
    plan.findings.push_back(inspect_task(task, kinds.of(task), folder, check, cache));
  }
  return plan;
}

std::vector<ListedTask> waiting_tasks(const BatchPlan& plan, int retry,
                                      const std::function<void(const Outcome&)>& changed) {
  std::vector<std::size_t> place(plan.tasks.size(), 0);  // 1 + place in the list, where it is there
  std::vector<std::optional<std::size_t>> lacks(plan.tasks.size());  // what fails it
  for (const std::size_t i : sorted_by_need(plan.after, plan.any)) {
    const Finding& finding = plan.findings[i];
    bool needs_waiting = false;
    for (const std::size_t need : plan.after[i]) {
      needs_waiting = needs_waiting || place[need] != 0;
      if (lacks[need] && !lacks[i]) lacks[i] = need;
    }
    bool enough = plan.any[i].empty() || !needs_any(plan.tasks[i]);
    for (const std::size_t want : plan.any[i]) {
      needs_waiting = needs_waiting || place[want] != 0;
      enough = enough || !lacks[want];
    }
    if (!enough && !lacks[i]) lacks[i] = plan.any[i].front();
    const bool again = finding.state == TaskState::kFailed && retry > 0;
    Outcome outcome = outcome_of(finding);
    outcome.task = i;
    if (lacks[i]) {
      outcome = blocked_outcome(i, plan.tasks[*lacks[i]].name);
    } else if (finding.state == TaskState::kWaiting || again || finding.lacks_page ||
               needs_waiting) {
      place[i] = 1;
      continue;
    } else if (!is_good(finding.state)) {
      lacks[i] = i;
    }
    changed(outcome);
  }
  std::vector<ListedTask> waiting;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    if (place[i] == 0) continue;
    ListedTask listed{i, {}};
    listed.any.enough = !needs_any(plan.tasks[i]);
    for (const std::size_t need : plan.after[i]) {
      if (place[need] != 0) listed.after.push_back(need);
    }
    for (const std::size_t want : plan.any[i]) {
      if (place[want] != 0) listed.any.tasks.push_back(want);
      if (place[want] == 0 && !lacks[want]) listed.any.enough = true;
    }
    waiting.push_back(std::move(listed));
  }
  return waiting;
}

void clean_up(const std::vector<Task>& tasks, const RunFolder& folder, Claims& claims) {
  const auto dead = claims.tidy();
  std::set<long> pids;
  for (const auto& [name, its_pids] : dead) pids.insert(its_pids.begin(), its_pids.end());
  // Where a claim was lost its holder is not known: what nobody has touched for long is nobody's.
  std::map<std::string, bool> suspect;  // by folder
  for (const Task& task : tasks) {
    bool any = false;
    for (const std::string& output : task.outputs) {
      const auto [known, fresh] = suspect.try_emplace(parent_of(output).string(), false);
      if (fresh) known->second = has_temporaries(output);
      any = any || known->second;
    }
    if (!any) continue;
    if (claims.holder(task.name)) continue;  // in work: not even what is old is forsaken
    const auto found = dead.find(task.name);
    const std::vector<long> its_pids = found != dead.end() ? found->second : std::vector<long>{};
    remove_temporaries(task, its_pids, claims);
  }
  remove_state_temporaries(folder, pids, claims);
}

void keep_plan(const BatchJob& job, const std::vector<Task>& tasks, const Observer& observer) {
  try {
    save_plan(job.folder, tasks, job.kinds);
  } catch (const Error& error) {  // who does the tasks will say what it means for them
    observer.warn(std::string(error.what()) + " (the run goes on)");
  }
}

RunCounts count_tasks(const std::vector<Outcome>& outcomes) {
  RunCounts n;
  n.tasks = outcomes.size();
  for (const Outcome& o : outcomes) {
    switch (o.state) {
      case TaskState::kDone:
        ++n.done;
        break;
      case TaskState::kUpToDate:
        ++n.up_to_date;
        break;
      case TaskState::kFailed:
        ++n.failed;
        break;
      case TaskState::kMissing:
        ++n.missing;
        break;
      case TaskState::kBlocked:
        ++n.blocked;
        break;
      case TaskState::kClaimed:
        ++n.elsewhere;
        break;
      default:
        ++n.left;
    }
  }
  return n;
}

Status exit_status(const BatchReport& report) {
  if (report.end.fatal) return report.end.fatal->status();
  const RunCounts& n = report.counts;
  if (n.left + n.elsewhere > 0) return Status::kInterrupted;
  if (n.failed + n.missing + n.blocked > 0) return Status::kSomeFailed;
  return Status::kOk;
}

std::unique_ptr<Monitor> open_monitor(const BatchJob& job, MonitorOptions options,
                                      const TaskList& tasks, const BatchPlan& plan, Claims& claims,
                                      const Observer& observer, const Monitor::Progress& progress) {
  options.title = job.title(plan.tasks);
  options.order = job.monitor.order;
  options.ledger = job.monitor.ledger;
  options.state = job.monitor.state;
  options.files = job.monitor.files;
  options.watching = job.watch.has_value();
  const ClaimResult keeper = claims.acquire("ledger");
  options.keep = keeper.mine ? KeepFiles::kYes : KeepFiles::kNo;
  if (!keeper.mine) observer.info("ledger and status are kept by " + keeper.holder);
  if (keeper.mine && !plan.tasks.empty()) keep_plan(job, plan.tasks, observer);
  return std::make_unique<Monitor>(tasks, job.kinds, job.folder, std::move(options), observer,
                                   progress);
}

WatchSource::Admit admit_and_keep(const BatchJob& job, bool keeps, const Observer& observer) {
  return [&job, keeps, observer](const std::vector<Task>& tasks) {
    if (job.admit) job.admit(tasks);
    if (keeps) keep_plan(job, tasks, observer);
  };
}

void fill_report(BatchReport& report, const TaskList& tasks, const Monitor& monitor) {
  for (std::size_t i = 0; i < tasks.size(); ++i) report.tasks.push_back(tasks.at(i));
  report.outcomes = monitor.outcomes();
  report.counts = count_tasks(report.outcomes);
  report.status = monitor.status();
  report.wall_s = report.status.elapsed_s;
}

BatchReport run_batch(const BatchJob& job, const Observer& observer,
                      const Monitor::Progress& progress, Tracer* tracer) {
  BatchReport report;
  BatchPlan plan;
  if (!job.watch) plan = job.plan();
  report.pipeline = complete(job.pipeline, job.packing);
  job.folder.create();
  if (job.admit) job.admit(plan.tasks);
  Claims claims(job.folder, job.claims);
  clean_up(plan.tasks, job.folder, claims);

  TaskList tasks(plan.tasks);
  MonitorOptions watch;
  watch.threads = static_cast<int>(report.pipeline.threads);
  watch.start = report.pipeline.start;
  const auto monitor = open_monitor(job, std::move(watch), tasks, plan, claims, observer, progress);
  const bool keeps = monitor->keeps_files();
  const auto changed = [&](const Outcome& outcome) { monitor->changed(outcome); };
  std::unique_ptr<WorkSource> source;
  if (job.watch && job.grow) {
    source = std::make_unique<GrowingSource>(Intake(job.find, *job.watch, observer), job.grow,
                                             tasks, *job.watch, observer,
                                             admit_and_keep(job, keeps, observer), changed);
  } else if (job.watch) {
    source = std::make_unique<WatchSource>(job.find, tasks, *job.watch, observer,
                                           admit_and_keep(job, keeps, observer));
  } else {
    source = std::make_unique<ListSource>(waiting_tasks(plan, report.pipeline.retry, changed),
                                          tasks, observer.stop_requested, changed);
  }
  Pipeline pipeline(tasks, *source, report.pipeline,
                    {job.folder, job.kinds, claims, observer, tracer, changed, {}});
  monitor->start([&] { return pipeline.load(); });
  report.end = pipeline.run();
  monitor->finish();
  if (!keeps) complete_ledger(job.folder, job.monitor, claims, observer);
  fill_report(report, tasks, *monitor);
  report.load = pipeline.load();
  report.cpu_s = cpu_seconds();
  report.peak_memory_bytes = peak_memory_bytes();
  return report;
}

}  // namespace loom::batch
