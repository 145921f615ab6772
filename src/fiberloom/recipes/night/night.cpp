// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/night.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/recipes/frame_outputs.hpp"
#include "fiberloom/recipes/night/extract_kind.hpp"
#include "fiberloom/recipes/night/night_status.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/batch/plan_file.hpp"
#include "loom/batch/shared_ledger.hpp"
#include "loom/batch/task_files.hpp"
#include "loom/files/output_files.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::night {
namespace {

std::vector<Task> find_tasks(const FrameRequest& request) {
  std::vector<Task> tasks;
  for (FrameTask& frame : find_frames(request)) tasks.push_back(to_task(std::move(frame)));
  return tasks;
}

/// Exposures and cameras that were asked for by name, and of which there is no frame.
void warn_of_absent(const FrameRequest& request, const std::vector<Task>& frames,
                    const Observer& observer) {
  std::string absent;
  const auto look = [&](const auto& asked, const char* what, const auto& name_of, auto has) {
    for (const auto& one : asked) {
      const auto it_has = [&](const Task& task) { return has(frame_of(task), one); };
      if (std::any_of(frames.begin(), frames.end(), it_has)) continue;
      absent += (absent.empty() ? "" : ", ") + std::string(what) + name_of(one);
    }
  };
  look(
      request.exposures, "exposure ", [](long expid) { return std::to_string(expid); },
      [](const FrameTask& frame, long expid) { return frame.expid == expid; });
  look(
      request.cameras, "camera ", [](const std::string& camera) { return camera; },
      [](const FrameTask& frame, const std::string& camera) { return frame.camera == camera; });
  if (!absent.empty()) observer.warn("no frame here of " + absent + ", which was asked for");
}

std::vector<Task> frames_of(const std::vector<Task>& tasks) {
  std::vector<Task> frames;
  std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(frames),
               [](const Task& task) { return task.kind == kExtractKind; });
  return frames;
}

WorkKinds kinds_of(const NightJob& job, std::shared_ptr<ExtractKind> frames) {
  std::vector<std::shared_ptr<WorkKind>> kinds;
  if (job.beyond) kinds = job.beyond->kinds;
  kinds.push_back(std::move(frames));
  return WorkKinds(std::move(kinds));
}

/// Says which frames also lie there packed, or unpacked, as an earlier run left them: nobody makes
/// those again. `told`: of which frames that was said before, in a watch.
void warn_of_twins(const std::vector<Task>& tasks, std::set<std::string>& told,
                   const Observer& observer) {
  std::string first;
  std::size_t count = 0;
  for (const Task& task : tasks) {
    const std::string& path = task.outputs.front();
    const std::string twin = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path + ".gz";
    if (!is_there(twin) || !told.insert(twin).second) continue;
    if (first.empty()) first = twin;
    ++count;
  }
  if (count == 0) return;
  observer.warn(first + (count > 1 ? print(" and %zu more are", count - 1) : " is") +
                " of a run with another --compress: this run neither reads nor renews " +
                (count > 1 ? "them" : "it"));
}

/// Before any of the frames is begun: remembers their options, or throws kUsage where the folder's
/// are others (remember_options); with kYes says how many frames stay as they are.
void admit_frames(const std::vector<Task>& tasks, const RunFolder& folder, Redo redo,
                  const Observer& observer) {
  if (!remember_options(tasks, folder, redo)) return;
  std::set<std::string> ours;
  for (const Task& task : tasks) ours.insert(task.name);
  if (const std::size_t strays = count_strays(folder, ours); strays > 0) {
    observer.warn(folder.output() + ": " + std::to_string(strays) +
                  " frames that this run leaves alone are made with other options");
  }
}

/// RankHello::device of an engine.
int kind_of(const DeviceEngine* device) {
  return device_kind(device == nullptr ? nullptr : &device->info());
}

std::size_t places_of(const Engine& engine) {
  return engine.device() != nullptr ? engine.device()->places() : 0;
}
std::uint64_t kept_of(const Engine& engine) {
  return engine.device() != nullptr ? DeviceEngine::kKeptBytes : 0;
}

Packing packing_of(const FrameRequest& request) {
  return request.compress == Compress::kYes ? Packing::kYes : Packing::kNo;
}

BatchJob batch_job(const NightJob& job, std::shared_ptr<ExtractKind> kind,
                   const Observer& observer) {
  const std::uint64_t kept_bytes = kept_of(kind->engine());
  BatchJob batch{.folder = run_folder(job.request.output), .kinds = kinds_of(job, std::move(kind))};
  batch.plan = [&job, observer] { return plan_night(job, observer); };
  batch.watch = job.watch;
  batch.find = [&job](const std::set<std::string>& skip) {
    FrameRequest request = job.request;
    request.skip.insert(skip.begin(), skip.end());
    return find_tasks(request);
  };
  if (job.watch && job.beyond) {
    batch.grow = [&job](std::vector<Task> frames, const std::vector<Task>& arriving) {
      std::vector<Task> tasks = job.beyond->grow(std::move(frames), arriving);
      check_files(job, tasks);
      job.beyond->open(tasks);
      return tasks;
    };
  }
  batch.admit = [&job, folder = batch.folder, observer,
                 told = std::set<std::string>()](const std::vector<Task>& tasks) mutable {
    const std::vector<Task> frames = frames_of(tasks);
    admit_frames(frames, folder, job.redo, observer);
    warn_of_twins(frames, told, observer);
  };
  batch.title = [&job](const std::vector<Task>& tasks) {
    return run_title(job.request, frames_of(tasks));
  };
  batch.pipeline = job.pipeline;
  batch.pipeline.kept_bytes = kept_bytes;
  batch.packing = packing_of(job.request);
  batch.claims = job.claims;
  if (!job.beyond) batch.monitor.order = {"expid", "camera"};
  batch.monitor.ledger = ledger_shape();
  batch.monitor.state = job.state;
  batch.monitor.files = [limits = job.limits](const RunStatus& status) {
    return std::vector<StatusFile>{{"status.json", status_json(status, limits)},
                                   {"status.html", status_html(status, limits)}};
  };
  if (job.beyond) batch.monitor.files = job.beyond->status;
  return batch;
}

}  // namespace

RunFolder run_folder(const std::string& output) {
  return {output, {"fiberloom", std::string(version())}};
}

LedgerShape ledger_shape() {
  using Type = LedgerShape::LabelColumn::Type;
  LedgerShape shape;
  shape.table = "frames";
  shape.labels = {{"night", Type::kText}, {"expid", Type::kInteger}, {"camera", Type::kText}};
  shape.inputs = {"image", "psf"};
  for (std::size_t m = 0; m < kMetrics; ++m) shape.measures.emplace_back(metric_name(m));
  return shape;
}

void check_files(const NightJob& job, const std::vector<Task>& tasks) {
  const RunFolder folder = run_folder(job.request.output);
  std::vector<NamedFile> outputs = own_files(folder);
  std::vector<NamedFile> inputs = job.sources;
  std::set<std::string> made;
  for (const Task& task : tasks) {
    for (const std::string& path : task.outputs) made.insert(absolute_path(path));
  }
  for (const Task& task : tasks) {
    if (task.kind != kExtractKind) {
      for (const std::string& path : task.outputs) {
        outputs.push_back({"output of " + task.name, path});
      }
      for (const auto* paths : {&task.inputs, &task.any_inputs}) {
        for (const std::string& path : *paths) {
          if (!made.contains(absolute_path(path)))
            inputs.push_back({"input of " + task.name, path});
        }
      }
      continue;
    }
    for (NamedFile& file : outputs_of(frame_of(task).job)) {
      outputs.push_back({file.what + " of " + task.name, std::move(file.path)});
    }
    for (NamedFile& file : inputs_of(frame_of(task).job)) {
      inputs.push_back({file.what + " of " + task.name, std::move(file.path)});
    }
  }
  for (const NamedFile& text : job.texts) {
    outputs.push_back(text);
    spare_state(folder, job.state, text);
  }
  check_distinct(outputs, inputs);
}

BatchPlan plan_night(const NightJob& job, const Observer& observer) {
  std::vector<Task> tasks = find_tasks(job.request);
  if (tasks.empty()) {
    std::string where = job.request.input;  // empty where a job file names its frames
    if (where.empty()) where = job.sources.empty() ? "job file" : job.sources.front().path;
    throw Error(Status::kNotFound,
                where + ": no frames preproc-CAM-EXPID.fits[.gz|.fz] here that were asked for");
  }
  warn_of_absent(job.request, tasks, observer);
  if (job.beyond) tasks = job.beyond->plan(std::move(tasks));
  if (tasks.empty()) {
    throw Error(Status::kNotFound, job.request.input + ": no exposure here that the step is for");
  }
  check_files(job, tasks);
  if (job.beyond) job.beyond->open(tasks);
  const RunFolder folder = run_folder(job.request.output);
  if (job.redo == Redo::kNo) require_same_options(frames_of(tasks), folder);
  const WorkKinds kinds =
      kinds_of(job, std::make_shared<ExtractKind>(Engine(job.request.job.method)));
  return plan_batch(std::move(tasks), kinds, folder, job.pipeline.check);
}

void keep_plan(const NightJob& job, const std::vector<Task>& tasks) {
  const RunFolder folder = run_folder(job.request.output);
  folder.create();
  save_plan(folder, tasks,
            kinds_of(job, std::make_shared<ExtractKind>(Engine(job.request.job.method))));
}

std::string run_title(const FrameRequest& request, const std::vector<Task>& tasks) {
  std::set<long> exposures;
  std::set<std::string> nights;
  for (const Task& task : tasks) {
    exposures.insert(frame_of(task).expid);
    if (!frame_of(task).night.empty()) nights.insert(frame_of(task).night);
  }
  if (exposures.size() == 1) return "exposure " + std::to_string(*exposures.begin());
  if (nights.size() == 1) return "night " + *nights.begin();
  return request.input.empty() ? request.output : request.input;
}

PipelineOptions complete_options(PipelineOptions options, const FrameRequest& request,
                                 const Engine& engine) {
  options.device_places = places_of(engine);
  return complete(options, packing_of(request));
}

NightReport run_night(const NightJob& job, const Engine& engine, const Observer& observer,
                      const Monitor::Progress& progress, Tracer* tracer) {
  if (job.watch) check_files(job, {});
  BatchJob batch = batch_job(job, std::make_shared<ExtractKind>(engine), observer);
  batch.pipeline.device_places = places_of(engine);
  batch.pipeline.kept_bytes = kept_of(engine);
  return {run_batch(batch, observer, progress, tracer), engine};
}

NightRanksReport run_night_on_ranks(Ranks& ranks, NightRanksJob job, Engine engine,
                                    const Observer& observer, const Monitor::Progress& progress,
                                    Tracer* tracer) {
  const auto kind = std::make_shared<ExtractKind>(engine);
  RanksJob ranks_job{.batch = batch_job(job.night, kind, observer)};
  ranks_job.dispatch = job.dispatch;
  ranks_job.silence_s = job.silence_s;
  ranks_job.launch_s = job.launch_s;
  ranks_job.open_s = job.open_s;
  ranks_job.isa = static_cast<int>(active_isa());
  ranks_job.device = kind_of(engine.device());
  ranks_job.agreed = [&](int isa, int device) {
    lower_isa(static_cast<Isa>(isa));
    if (device != kind_of(engine.device())) {
      observer.warn(
          "not all ranks have a device of this kind: this one computes on its CPU, so that it "
          "does not matter who extracts what");
      engine = Engine(engine.method());
      kind->set_engine(engine);
    }
    return places_of(engine);
  };
  ranks_job.fatal = std::move(job.fatal);
  RanksReport report = run_batch_on_ranks(ranks, std::move(ranks_job), observer, progress, tracer);
  return {{std::move(report.batch), engine},
          std::move(report.ranks),
          std::move(report.library),
          report.nodes,
          std::move(report.trace)};
}

}  // namespace fiberloom::night
