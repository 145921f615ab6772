// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/night.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "fiberloom/recipes/frame_outputs.hpp"
#include "fiberloom/recipes/night/frame_flight.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;

/// Small files that dead runs were writing. Age says nothing of one whose frame is in work: its
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
      if (at == std::string::npos || name.starts_with("frame-")) continue;
      const long pid = std::atol(name.c_str() + at + 5);
      const bool of_a_frame = where == folder.receipts() || where == folder.failures();
      const std::string owner =
          of_a_frame ? fs::path(name.substr(0, at)).stem().string() : "ledger";
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
  for (const auto& entry : fs::directory_iterator(fs::path(output).parent_path(), ignored)) {
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) return true;
  }
  return false;
}

std::vector<Finding> inspect_all(const std::vector<FrameTask>& tasks, const RunFolder& folder,
                                 Check check) {
  std::vector<Finding> findings;
  findings.reserve(tasks.size());
  for (const FrameTask& task : tasks) findings.push_back(inspect_frame(task, folder, check));
  return findings;
}

/// The run that kept the ledger has ended before this one: adds what it cannot know.
void complete_ledger(const RunFolder& folder, Claims& claims, const Observer& observer) {
  if (!claims.acquire("ledger").mine) return;
  try {
    Ledger::open(folder.ledger())->put(collect_rows(folder));
  } catch (const Error& error) {
    observer.warn(error.what());
  }
}

}  // namespace

void check_files(const NightJob& job, const std::vector<FrameTask>& tasks) {
  const RunFolder folder(job.request.output);
  std::vector<NamedFile> outputs{{"ledger", folder.ledger()},
                                 {"status page", folder.output() + "/status.html"},
                                 {"status", folder.output() + "/status.json"}};
  std::vector<NamedFile> inputs = job.sources;
  for (const FrameTask& task : tasks) {
    for (NamedFile& file : outputs_of(task.job)) {
      outputs.push_back({file.what + " of " + task.name, std::move(file.path)});
    }
    for (NamedFile& file : inputs_of(task.job)) {
      inputs.push_back({file.what + " of " + task.name, std::move(file.path)});
    }
  }
  const fs::path state = fs::weakly_canonical(folder.state());
  for (const NamedFile& text : job.texts) {
    outputs.push_back(text);
    std::error_code ignored;  // a circle of links: whoever opens it will say so
    const fs::path place = fs::weakly_canonical(follow_links(text.path), ignored);
    if (std::mismatch(state.begin(), state.end(), place.begin(), place.end()).first ==
        state.end()) {
      throw Error(Status::kUsage,
                  text.path + " (" + text.what + "): lies among the run's own files");
    }
  }
  check_distinct(outputs, inputs);
}

NightPlan plan_night(const NightJob& job) {
  NightPlan plan;
  plan.tasks = find_frames(job.request);
  if (plan.tasks.empty()) {
    std::string where = job.request.input;  // empty where a job file names its frames
    if (where.empty()) where = job.sources.empty() ? "job file" : job.sources.front().path;
    throw Error(Status::kNotFound,
                where + ": no frames preproc-CAM-EXPID.fits[.gz|.fz] here that were asked for");
  }
  check_files(job, plan.tasks);
  const RunFolder folder(job.request.output);
  if (job.redo == Redo::kNo) require_same_options(plan.tasks, folder);
  plan.findings = inspect_all(plan.tasks, folder, job.pipeline.check);
  return plan;
}

std::vector<std::size_t> waiting_frames(const std::vector<Finding>& findings, int retry,
                                        const std::function<void(const FrameOutcome&)>& changed) {
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const bool again = finding.state == FrameState::kFailed && retry > 0;
    if (finding.state == FrameState::kWaiting || again || finding.lacks_report) {
      waiting.push_back(i);
      continue;
    }
    FrameOutcome outcome = outcome_of(finding);
    outcome.frame = i;
    changed(outcome);
  }
  return waiting;
}

void clean_up(const std::vector<FrameTask>& tasks, const RunFolder& folder, Claims& claims) {
  const auto dead = claims.tidy();
  std::set<long> pids;
  for (const auto& [name, its_pids] : dead) pids.insert(its_pids.begin(), its_pids.end());
  // Where a claim was lost its holder is not known: what nobody has touched for long is nobody's.
  std::map<std::string, bool> suspect;  // by folder
  for (const FrameTask& task : tasks) {
    const auto [folder_known, fresh] =
        suspect.try_emplace(fs::path(task.job.output).parent_path().string(), false);
    if (fresh) folder_known->second = has_temporaries(task.job.output);
    if (!folder_known->second) continue;
    if (claims.holder(task.name)) continue;  // in work: not even what is old is forsaken
    const auto found = dead.find(task.name);
    const std::vector<long> its_pids = found != dead.end() ? found->second : std::vector<long>{};
    remove_temporaries(task.job.output, its_pids, claims);
    if (!task.report.empty()) remove_temporaries(task.report, its_pids, claims);
  }
  remove_state_temporaries(folder, pids, claims);
}

void admit_frames(const std::vector<FrameTask>& tasks, const RunFolder& folder, Redo redo,
                  const Observer& observer) {
  if (!remember_options(tasks, folder, redo)) return;
  std::set<std::string> ours;
  for (const FrameTask& task : tasks) ours.insert(task.name);
  if (const std::size_t strays = count_strays(folder, ours); strays > 0) {
    observer.warn(folder.output() + ": " + std::to_string(strays) +
                  " frames that this run leaves alone are made with other options");
  }
}

std::string run_title(const FrameRequest& request, const std::vector<FrameTask>& tasks) {
  std::set<long> exposures;
  std::set<std::string> nights;
  for (const FrameTask& task : tasks) {
    exposures.insert(task.expid);
    if (!task.night.empty()) nights.insert(task.night);
  }
  if (exposures.size() == 1) return "exposure " + std::to_string(*exposures.begin());
  if (nights.size() == 1) return "night " + *nights.begin();
  return request.input.empty() ? request.output : request.input;
}

NightCounts count_frames(const std::vector<FrameOutcome>& outcomes) {
  NightCounts n;
  n.frames = outcomes.size();
  for (const FrameOutcome& o : outcomes) {
    switch (o.state) {
      case FrameState::kDone:
        ++n.done;
        break;
      case FrameState::kUpToDate:
        ++n.up_to_date;
        break;
      case FrameState::kFailed:
        ++n.failed;
        break;
      case FrameState::kMissing:
        ++n.missing;
        break;
      case FrameState::kClaimed:
        ++n.elsewhere;
        break;
      default:
        ++n.left;
    }
  }
  return n;
}

Status exit_status(const NightReport& report) {
  if (report.end.fatal) return report.end.fatal->status();
  if (report.counts.left + report.counts.elsewhere > 0) return Status::kInterrupted;
  if (report.counts.failed + report.counts.missing > 0) return Status::kSomeFailed;
  return Status::kOk;
}

NightReport run_night(const NightJob& job, const Observer& observer,
                      const Monitor::Progress& progress, Tracer* tracer) {
  NightReport report;
  NightPlan plan;
  if (job.watch) {
    check_files(job, {});
  } else {
    plan = plan_night(job);
  }
  report.pipeline = complete(job.pipeline, job.request);
  const RunFolder folder(job.request.output);
  folder.create();
  const auto admit = [&](const std::vector<FrameTask>& found) {
    admit_frames(found, folder, job.redo, observer);
  };
  admit(plan.tasks);
  Claims claims(folder, job.claims);
  clean_up(plan.tasks, folder, claims);

  TaskList tasks(plan.tasks);
  MonitorOptions watch;
  watch.title = run_title(job.request, plan.tasks);
  watch.threads = static_cast<int>(report.pipeline.threads);
  watch.watching = job.watch.has_value();
  watch.start = report.pipeline.start;
  watch.limits = job.limits;
  const ClaimResult keeper = claims.acquire("ledger");
  watch.keep = keeper.mine ? KeepFiles::kYes : KeepFiles::kNo;
  if (!keeper.mine) observer.info("ledger and status are kept by " + keeper.holder);
  Monitor monitor(tasks, folder, watch, observer, progress);

  const auto changed = [&](const FrameOutcome& outcome) { monitor.changed(outcome); };
  std::unique_ptr<WorkSource> source;
  if (job.watch) {
    source = std::make_unique<WatchSource>(job.request, tasks, *job.watch, observer, admit);
  } else {
    source = std::make_unique<ListSource>(
        waiting_frames(plan.findings, report.pipeline.retry, changed), observer.stop_requested);
  }
  FramePipeline pipeline(tasks, *source, report.pipeline,
                         {folder, claims, observer, tracer, changed, {}});
  monitor.start([&] { return pipeline.load(); });
  report.end = pipeline.run();
  monitor.finish();
  if (!keeper.mine) complete_ledger(folder, claims, observer);

  for (std::size_t i = 0; i < tasks.size(); ++i) report.tasks.push_back(tasks.at(i));
  report.outcomes = monitor.outcomes();
  report.counts = count_frames(report.outcomes);
  report.status = monitor.status();
  report.load = pipeline.load();
  report.wall_s = report.status.elapsed_s;
  report.cpu_s = cpu_seconds();
  report.peak_memory_bytes = peak_memory_bytes();
  return report;
}

}  // namespace fiberloom::night
