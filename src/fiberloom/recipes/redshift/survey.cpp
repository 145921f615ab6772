// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/survey.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/files/files_below.hpp"
#include "loom/files/listed_names.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/fits_name.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::survey {
namespace {

namespace fs = std::filesystem;

/// A file, and the folder below the output that its results go to.
struct Found {
  std::string path, below;
};

bool is_spectra(const fs::path& path, const char* prefix) {
  const std::string name = path.filename().string();
  return name.starts_with(prefix) && loom::fits::is_fits_name(name);
}

void find_below(const std::string& folder, std::vector<Found>& out) {
  const loom::FilesBelow below = loom::files_below(folder);
  if (!below.unreadable.empty()) throw Error(Status::kNotFound, below.unreadable.front());
  for (const char* prefix : {"coadd-", "spectra-", "spPlate-"}) {
    const std::size_t before = out.size();
    for (const std::string& name : below.files) {
      const fs::path path = name;
      if (!is_spectra(path, prefix) || !loom::is_file_or_lost(name)) continue;
      // by its name: a link's target may lie anywhere, and results must not
      out.push_back({path.string(), path.parent_path().lexically_relative(folder).string()});
    }
    if (out.size() > before) return;
  }
  throw Error(Status::kNotFound,
              folder + ": no coadd-*.fits, spectra-*.fits or spPlate-*.fits below it");
}

void find_listed(const std::string& list, std::vector<Found>& out) {
  const auto text = read_text_file(list);
  if (!text) throw Error(Status::kNotFound, list + ": cannot be read");
  const std::size_t before = out.size();
  for (const std::string& name : loom::listed_names(*text, list)) {
    const fs::path path(name);
    const fs::path file = path.is_absolute() ? path : fs::path(list).parent_path() / path;
    out.push_back({file.string(), "."});
  }
  if (out.size() == before) throw Error(Status::kNotFound, list + ": names no file");
}

std::vector<Found> find_files(const RedshiftJob& job) {
  std::vector<Found> out;
  for (const std::string& path : job.inputs) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      find_below(path, out);
    } else if (loom::has_ending(path, ".txt")) {
      find_listed(path, out);
    } else {
      out.push_back({path, "."});
    }
  }
  return out;
}

/// What the results of a file are called after: "0-80613-thru20210324" of a coadd's.
std::string rest_of(const std::string& path) {
  const std::string stem = stem_of(path);
  for (const std::string_view prefix : {"coadd-", "spectra-"}) {
    if (stem.starts_with(prefix)) return stem.substr(prefix.size());
  }
  return stem;
}

BatchJob batch_job(const SurveyJob& job, std::shared_ptr<RedshiftKind> kind) {
  BatchJob batch{.folder = run_folder(job),
                 .kinds = WorkKinds({std::move(kind)}),
                 .plan = [&job] { return plan_survey(job); },
                 .watch = {},
                 .find = {},
                 .admit = {},
                 .title = {},
                 .pipeline = job.pipeline,
                 .packing = Packing::kNo,
                 .claims = job.claims,
                 .monitor = {}};
  batch.title = [&job](const std::vector<Task>&) {
    return "redshifts of " + job.job.inputs.front();
  };
  batch.monitor.order = {"spectra"};
  batch.monitor.ledger = ledger_shape();
  batch.monitor.files = [](const RunStatus& status) {
    return std::vector<StatusFile>{{"status.json", status_json(status)},
                                   {"status.html", status_html(status)}};
  };
  return batch;
}

}  // namespace

std::string stem_of(const std::string& path) {
  return loom::fits::without_fits_ending(fs::path(path).filename().string());
}

/// "cframe-b3-00000011" -> "cframe-3-00000011", which the cameras of an exposure share; nothing for
/// what is no name of a frame.
std::optional<std::string> exposure_of(const std::string& name) {
  constexpr std::string_view kWord = "frame-", kBands = "brz";
  const std::size_t word = name.find(kWord);
  if (word > 1 || (word == 1 && name[0] != 'c' && name[0] != 's')) return std::nullopt;
  const std::string rest = name.substr(word + kWord.size());
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (rest.size() < 4 || kBands.find(rest[0]) == std::string_view::npos || !is_digit(rest[1]) ||
      rest[2] != '-' || !std::all_of(rest.begin() + 3, rest.end(), is_digit)) {
    return std::nullopt;
  }
  return name.substr(0, word + kWord.size()) + rest.substr(1);
}

std::vector<Task> find_tasks(const RedshiftJob& job) {
  std::vector<RedshiftJob> jobs;
  std::vector<fs::path> places;
  std::map<std::string, std::size_t> exposures;
  for (const Found& file : find_files(job)) {
    std::string rest = rest_of(file.path);
    if (const std::optional<std::string> exposure = exposure_of(rest)) {
      rest = *exposure;
      const std::string key = fs::path(file.path).parent_path().string() + "/" + rest;
      const auto [known, is_new] = exposures.emplace(key, jobs.size());
      if (!is_new) {
        jobs[known->second].inputs.push_back(absolute_path(file.path));
        continue;
      }
    }
    RedshiftJob one = job;
    one.inputs = {absolute_path(file.path)};
    const fs::path below = fs::path(file.below).lexically_normal();
    const auto in = [&](const std::string& folder, const std::string& name) {
      return folder.empty() ? "" : absolute_path((fs::path(folder) / below / name).string());
    };
    one.output = in(job.output, "redrock-" + rest + ".fits");
    one.details = in(job.details, "rrdetails-" + rest + ".h5");
    one.model = in(job.model, "rrmodel-" + rest + ".fits");
    for (std::string& path : one.templates) path = absolute_path(path);
    one.archetypes = absolute_path(job.archetypes);
    one.priors = absolute_path(job.priors);
    one.chi2_scan = absolute_path(job.chi2_scan);
    places.push_back(below / rest);
    jobs.push_back(std::move(one));
  }
  TaskNames names;
  std::vector<Task> tasks;
  for (std::size_t k = 0; k < jobs.size(); ++k) {
    std::string name = task_name_of(places[k].string());
    names.take(name, jobs[k].inputs.front(), "redshifts");
    tasks.push_back(to_task(std::move(name), std::move(jobs[k])));
  }
  return tasks;
}

RunFolder run_folder(const SurveyJob& job) {
  return {absolute_path(job.job.output + "/."), {"fiberloom", std::string(version())}};
}

LedgerShape ledger_shape() {
  LedgerShape shape;
  shape.table = "redshifts";
  shape.labels = {{"spectra", LedgerShape::LabelColumn::Type::kText}};
  shape.measures = {"targets", "zwarn_0", "no_data"};
  return shape;
}

BatchPlan plan_survey(const SurveyJob& job) {
  std::vector<Task> tasks = find_tasks(job.job);
  std::vector<NamedFile> sources;  // lists among them
  for (const std::string& path : job.job.inputs) sources.push_back({"input", path});
  check_task_files(run_folder(job), tasks, job.texts, sources);
  const WorkKinds kinds({std::make_shared<RedshiftKind>()});
  return plan_batch(std::move(tasks), kinds, run_folder(job), job.pipeline.check);
}

BatchReport run_survey(const SurveyJob& job, const Observer& observer,
                       const Monitor::Progress& progress, Tracer* tracer) {
  return run_batch(batch_job(job, std::make_shared<RedshiftKind>(job.device)), observer, progress,
                   tracer);
}

RanksReport run_survey_on_ranks(Ranks& ranks, SurveyRanksJob job, const Observer& observer,
                                const Monitor::Progress& progress, Tracer* tracer) {
  const auto kind = std::make_shared<RedshiftKind>(job.survey.device);
  const auto kind_of = [](const std::shared_ptr<redshift::DeviceScan>& device) {
    return device_kind(device == nullptr ? nullptr : &device->info());
  };
  RanksJob ranks_job{.batch = batch_job(job.survey, kind),
                     .dispatch = job.dispatch,
                     .silence_s = job.silence_s,
                     .launch_s = job.launch_s,
                     .open_s = job.open_s,
                     .isa = static_cast<int>(active_isa()),
                     .device = kind_of(job.survey.device),
                     .agreed =
                         [&](int isa, int device) {
                           lower_isa(static_cast<Isa>(isa));
                           if (device != kind_of(job.survey.device)) {
                             observer.warn(
                                 "not all ranks have a device of this kind: this one scans on its "
                                 "CPU, so that it does not matter who scans what");
                             job.survey.device = nullptr;
                             kind->set_device(nullptr);
                           }
                           return std::size_t{0};  // the CPU does most of the work in any case
                         },
                     .fatal = std::move(job.fatal)};
  return run_batch_on_ranks(ranks, std::move(ranks_job), observer, progress, tracer);
}

}  // namespace fiberloom::survey
