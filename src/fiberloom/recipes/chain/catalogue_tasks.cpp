// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/catalogue_tasks.hpp"

#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "fiberloom/recipes/catalogue/which_catalogue.hpp"
#include "fiberloom/recipes/chain/chain_status.hpp"
#include "fiberloom/recipes/chain/places.hpp"
#include "fiberloom/recipes/chain/step_kind.hpp"
#include "fiberloom/recipes/chain/steps.hpp"
#include "fiberloom/recipes/night/night.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::chain {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsOfFile = 0.02;
constexpr std::uint64_t kBytes = 200'000'000;  // what SQLite may keep of its file, and a table

std::string folder_of(const std::string& path) { return fs::path(path).parent_path().string(); }

/// Does the catalogue keep what the step makes of an exposure?
bool is_kept(const std::string& step) {
  return step == name_of(Step::kExtract) || step == name_of(Step::kCalibrate) ||
         step == name_of(Step::kQuality);
}

/// Where the rows go.
struct Where {
  std::string note, database;
  bool afresh;
};

/// Loads `frames` and such as far as they are there, then `files`; after `receipts` of others.
struct Load {
  std::string name;
  std::vector<Label> labels;
  std::vector<std::string> frames{}, receipts{}, files{};
  std::string output{};
  long priority = 0;
};

Task to_task(Load load, const Where& where) {
  StepWork work{.step = Step::kCatalogue};
  work.frames = load.frames;
  work.frames.insert(work.frames.end(), load.files.begin(), load.files.end());
  work.output = load.output;
  work.database = where.database;
  work.afresh = where.afresh;
  Task task;
  task.name = "catalogue-" + load.name;
  task.kind = kStepKind;
  task.labels = std::move(load.labels);
  task.labels.push_back({"step", name_of(Step::kCatalogue)});
  task.priority = load.priority;
  task.cost_s = 0.1 + kSecondsOfFile * static_cast<double>(work.frames.size());
  task.memory_bytes = kBytes;
  task.any_inputs = std::move(load.frames);
  std::move(load.receipts.begin(), load.receipts.end(), std::back_inserter(task.any_inputs));
  task.inputs = std::move(load.files);
  if (!where.afresh) task.inputs.push_back(where.note);  // a plan has not made it
  task.outputs = {load.output};
  task.by_content = true;
  task.on_first = is_catalogue_file(where.database);
  task.content = content_of(std::move(work));
  return task;
}

std::optional<long> exposure_of(const Task& task) {
  const Label* const expid = find_label(task.labels, "expid");
  if (expid == nullptr) return std::nullopt;
  return std::get<long>(expid->value);
}

/// Frames, calibrated frames and quality by exposure.
std::map<long, Load> exposures_of(const std::vector<Task>& steps) {
  std::map<long, Load> out;
  for (const Task& task : steps) {
    const std::optional<long> expid = exposure_of(task);
    if (!expid || !is_kept(step_of(task.labels))) continue;
    const std::string file = absolute(task.outputs.front());
    Load& load = out[*expid];
    if (load.frames.empty()) {
      load.name = print("%08ld", *expid);
      load.labels = {*find_label(task.labels, "night"), {"of", "all"}, {"expid", *expid}};
      load.output = folder_of(file) + "/catalogued-" + load.name + ".json";
      load.priority = *expid;
    }
    load.frames.push_back(file);
  }
  return out;
}

}  // namespace

std::string default_catalogue(const std::string& output) {
  return (fs::path(absolute(output)) / "catalogue.sqlite").string();
}

std::string catalogue_note(const std::string& output) {
  return absolute(night::run_folder(output).state() + "/catalogue.json");
}

std::vector<Task> catalogue_tasks(const std::vector<Task>& steps, const std::string& output,
                                  const std::string& database, bool afresh) {
  const Where where{catalogue_note(output), database, afresh};
  const std::map<long, Load> exposures = exposures_of(steps);
  std::map<std::string, const Task*> maker;
  for (const Task& task : steps) maker[absolute(task.outputs.front())] = &task;
  std::vector<Task> out;
  for (const auto& [number, load] : exposures) out.push_back(to_task(load, where));
  for (const Task& task : steps) {
    if (step_of(task.labels) != name_of(Step::kRedshift)) continue;
    const std::string& coadd = task.inputs.front();
    const std::string& redshifts = task.outputs.front();
    Load load{.name = task.name.substr(task.name.find('-') + 1), .labels = task.labels};
    std::erase_if(load.labels, [](const Label& label) { return label.name == "step"; });
    load.files = {coadd, redshifts};
    load.output = folder_of(redshifts) + "/catalogued-" + load.name + ".json";
    load.priority = task.priority;
    // After its exposures: of these a file of redshifts may know more than their frames do.
    std::set<std::string> receipts;
    if (const auto made = maker.find(absolute(coadd)); made != maker.end()) {
      for (const std::string& frame : made->second->any_inputs) {
        const auto its = maker.find(absolute(frame));
        const auto expid = its == maker.end() ? std::nullopt : exposure_of(*its->second);
        if (expid) receipts.insert(exposures.at(*expid).output);
      }
    }
    load.receipts.assign(receipts.begin(), receipts.end());
    out.push_back(to_task(std::move(load), where));
  }
  return out;
}

}  // namespace fiberloom::chain
