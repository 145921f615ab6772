// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/scans/many_scans.hpp"

#include <algorithm>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/runtime/memory_limit.hpp"
#include "loom/runtime/thread_count.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/version.hpp"

namespace tomoloom::scans {
namespace {

namespace fs = std::filesystem;

/// What each scan may take: as much as all together, since one may be alone; what the engine keeps
/// for itself is left out.
std::uint64_t granted(const ManyScansJob& job) {
  constexpr std::uint64_t kEngine = std::uint64_t{32} << 20;
  const std::uint64_t all = job.pipeline.memory_bytes > 0
                                ? job.pipeline.memory_bytes
                                : memory_share(find_memory_limits(process_environment()));
  return all - std::min(kEngine, all / 2);
}

ReconJob job_for(const ManyScansJob& many, const FoundScan& found) {
  ReconJob one = many.job;
  one.scan = absolute_path(found.path);
  const fs::path folder = fs::path(many.job.output) / found.below;
  const char* const end = one.format == VolumeFormat::kHdf5   ? ".h5"
                          : one.format == VolumeFormat::kZarr ? ".zarr"
                                                              : "";
  one.output = absolute_path((folder / (volume_name(one.scan) + end)).string());
  one.flats = absolute_path(one.flats);
  one.darks = absolute_path(one.darks);
  std::error_code ignored;
  if (fs::is_regular_file(one.theta, ignored)) one.theta = absolute_path(one.theta);
  one.memory = granted(many);
  if (found.axis.empty()) return one;
  try {
    set_option(recon_option_rows(), one, "center", found.axis);
  } catch (const Error& error) {  // which of the scans of a list it is
    throw Error(error.status(), found.path + " of a list: " + error.what());
  }
  return one;
}

BatchJob batch_job(const ManyScansJob& job, std::function<bool()> stop) {
  BatchJob batch{.folder = run_folder(job),
                 .kinds = WorkKinds({std::make_shared<ScanKind>(std::move(stop))}),
                 .plan = [&job] { return plan_scans(job); },
                 .pipeline = job.pipeline,
                 .claims = job.claims};
  batch.title = [&job](const std::vector<Task>&) { return "volumes of " + job.inputs.front(); };
  batch.monitor.order = {"scan"};
  batch.monitor.ledger = ledger_shape();
  batch.monitor.files = [](const RunStatus& status) {
    return std::vector<StatusFile>{{"status.json", status_json(status)},
                                   {"status.html", status_html(status)}};
  };
  return batch;
}

}  // namespace

std::vector<Task> find_tasks(const ManyScansJob& job) {
  const std::size_t threads =
      job.pipeline.threads > 0 ? job.pipeline.threads : default_thread_count();
  std::vector<Task> tasks;
  TaskNames names;
  for (const FoundScan& found : find_scans(job.inputs)) {
    const std::string place = (fs::path(found.below) / volume_name(found.path)).string();
    std::string name = task_name_of(place);
    names.take(name, found.path, "volumes");
    tasks.push_back(to_task(std::move(name), job_for(job, found), threads));
    tasks.back().by_content = job.by_content;
  }
  return tasks;
}

RunFolder run_folder(const ManyScansJob& job) {
  return {absolute_path(job.job.output + "/."), {"tomoloom", std::string(version())}};
}

LedgerShape ledger_shape() {
  LedgerShape shape;
  shape.table = "volumes";
  shape.labels = {{"scan", LedgerShape::LabelColumn::Type::kText}};
  shape.measures = {"slices", "axis", "blind_pixels", "saturated_pixels"};
  return shape;
}

BatchPlan plan_scans(const ManyScansJob& job) {
  std::vector<Task> tasks = find_tasks(job);
  check_task_files(run_folder(job), tasks, job.texts);
  const WorkKinds kinds({std::make_shared<ScanKind>()});
  return plan_batch(std::move(tasks), kinds, run_folder(job), job.pipeline.check);
}

BatchReport run_scans(const ManyScansJob& job, const Observer& observer,
                      const Monitor::Progress& progress) {
  return run_batch(batch_job(job, observer.stop_requested), observer, progress, nullptr);
}

RanksReport run_scans_on_ranks(Ranks& ranks, const ManyScansJob& job, RanksChoice choice,
                               const Observer& observer, const Monitor::Progress& progress) {
  RanksJob ranks_job{.batch = batch_job(job, observer.stop_requested),
                     .silence_s = choice.silence_s,
                     .launch_s = choice.launch_s,
                     .open_s = choice.open_s,
                     .isa = static_cast<int>(active_isa()),
                     .agreed =
                         [](int isa, int /*device*/) {
                           lower_isa(static_cast<Isa>(isa));
                           return std::size_t{0};
                         },
                     .fatal = std::move(choice.fatal)};
  return run_batch_on_ranks(ranks, std::move(ranks_job), observer, progress, nullptr);
}

}  // namespace tomoloom::scans
