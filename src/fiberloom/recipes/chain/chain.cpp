// SPDX-License-Identifier: BSD-3-Clause
// The chain as work of a night: its tasks for a folder that is there, or that grows.
#include "fiberloom/recipes/chain/chain.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>

#include "fiberloom/recipes/catalogue/which_catalogue.hpp"
#include "fiberloom/recipes/chain/catalogue_tasks.hpp"
#include "fiberloom/recipes/chain/chain_status.hpp"
#include "fiberloom/recipes/chain/exposure_info.hpp"
#include "fiberloom/recipes/chain/places.hpp"
#include "fiberloom/recipes/chain/planner.hpp"
#include "fiberloom/recipes/chain/step_kind.hpp"
#include "fiberloom/recipes/redshift/redshift_kind.hpp"
#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom::chain {
namespace {

namespace fs = std::filesystem;

/// Those that are named. Throws kUsage where a name is nobody's.
std::vector<Task> chosen(std::vector<Task> tasks, const std::vector<std::string>& names) {
  if (names.empty()) return tasks;
  std::set<std::string> left(names.begin(), names.end());
  std::erase_if(tasks, [&](const Task& task) { return left.erase(task.name) == 0; });
  if (left.empty()) return tasks;
  throw Error(Status::kUsage, "night: --tasks: no task of this night is named " + *left.begin());
}

/// Makes sure of the catalogue before anything that goes into it is begun. False: nothing does yet.
bool open_catalogue(const ChainRequest& request, const std::string& output,
                    const std::vector<Task>& tasks) {
  const bool any = std::any_of(tasks.begin(), tasks.end(), [](const Task& task) {
    return step_of(task.labels) == name_of(Step::kCatalogue);
  });
  if (!any || !request.writes) return any;
  const std::string database = database_of(request, output);
  if (request.catalogue.empty()) make_folder_of(database);
  note_catalogue(database, catalogue_note(output));
  return true;
}

}  // namespace

std::string database_of(const ChainRequest& request, const std::string& output) {
  if (request.catalogue.empty()) return default_catalogue(output);
  return is_catalogue_file(request.catalogue) ? absolute(catalogue_at(request.catalogue, ""))
                                              : request.catalogue;
}

bool has_step(const ChainRequest& request, Step step) {
  if (step == Step::kFiberFlat && !request.flats.empty()) return false;
  if (step == Step::kStdStars && !request.stars.empty()) return false;
  return request.only ? step == *request.only : step <= request.until;
}

void check(const ChainRequest& request) {
  check(request.options);
  if (has_step(request, Step::kStdStars) && (request.models.empty() || request.passbands.empty())) {
    throw Error(Status::kUsage,
                "night: standard stars need models and passbands: give --starmodels and --filters, "
                "or --stdstars with files that are there");
  }
  std::error_code ignored;
  for (const std::string& folder :
       {request.flats, request.stars, request.passbands, request.averages, request.desimodel}) {
    if (folder.empty() || fs::is_directory(folder, ignored)) continue;
    throw Error(Status::kNotFound, folder + ": no such folder");
  }
}

std::vector<Task> plan_chain(std::vector<Task> frames, const std::string& output,
                             night::Compress compress, const ChainRequest& request,
                             const Observer& observer) {
  ExposureCache cache;
  return plan_steps(std::move(frames), output, compress, request, observer, Unreadable::kField,
                    cache);
}

night::GrowingSource::Grow grow_chain(const std::string& output, night::Compress compress,
                                      const ChainRequest& request, const Observer& observer) {
  struct Memory {
    ExposureCache headers;
    std::set<std::string> said;
  };
  return [=, memory = std::make_shared<Memory>()](std::vector<Task> frames,
                                                  const std::vector<Task>& arriving) {
    std::set<std::pair<std::string, long>> incomplete;
    for (const Task& task : arriving) {
      incomplete.insert({night::frame_of(task).night, night::frame_of(task).expid});
    }
    std::erase_if(frames, [&](const Task& task) {
      const night::FrameTask& frame = night::frame_of(task);
      return incomplete.contains({frame.night, frame.expid});
    });
    Observer once = observer;
    once.message = [&](LogLevel level, const std::string& text) {
      if (memory->said.insert(text).second && observer.message) observer.message(level, text);
    };
    return plan_steps(std::move(frames), output, compress, request, once, Unreadable::kNothing,
                      memory->headers);
  };
}

void extend(night::NightJob& job, const ChainRequest& request, const Observer& observer) {
  check(request);
  night::Beyond beyond;
  beyond.plan = [output = job.request.output, compress = job.request.compress, request,
                 observer](std::vector<Task> frames) {
    return chosen(plan_chain(std::move(frames), output, compress, request, observer),
                  request.tasks);
  };
  beyond.grow = grow_chain(job.request.output, job.request.compress, request, observer);
  beyond.open = [output = job.request.output, request,
                 opened = std::make_shared<bool>(false)](const std::vector<Task>& tasks) {
    if (!*opened) *opened = open_catalogue(request, output, tasks);
  };
  beyond.kinds = {std::make_shared<StepKind>(), std::make_shared<survey::RedshiftKind>()};
  if (request.tasks.empty()) {  // a page of a few tasks would take the place of that of all
    beyond.status = [](const RunStatus& status) {
      return std::vector<StatusFile>{{"status.json", status_json(status)},
                                     {"status.html", status_html(status)}};
    };
  }
  job.beyond = std::move(beyond);
  if (!request.models.empty()) job.sources.push_back({"models of stars", request.models});
  for (const std::string& path : request.redshift.templates) {
    if (fs::is_regular_file(path)) job.sources.push_back({"templates", path});
  }
  if (!has_step(request, Step::kCatalogue)) return;
  const std::string catalogue = database_of(request, job.request.output);
  std::ranges::move(named("catalogue", files_of_catalogue(catalogue)),
                    std::back_inserter(job.sources));
}

}  // namespace fiberloom::chain
