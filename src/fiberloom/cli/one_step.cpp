// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/one_step.hpp"

#include <array>
#include <chrono>

#include "fiberloom/recipes/version.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::cli {

void add_step_options(Options& options, StepRun& run) {
  options.group("Running");
  options.add("--json", &run.json, "summary to write; - is standard output", {.value = "FILE"});
  add_thread_option(options, run.threads);
  add_rank_option(options, run.ranks);
  add_log_options(options, run.log);
}

Json paths_json(const std::vector<std::string>& paths) {
  Json all = Json::array();
  for (const std::string& path : paths) all.push_back(path);
  return all;
}

int run_step(const Step& step, const StepRun& run, const Given& given) {
  const auto start = std::chrono::steady_clock::now();
  const RankPart part =
      part_of_rank(run.ranks, "give each rank files of its own or start one process");
  if (!part.works) return 0;
  Console console(run.log.threshold());
  const Observer observer = console.observer();
  const std::array<NamedFile, 1> texts{{{"--json", run.json}}};
  step.check(texts);
  check_text_outputs(texts);
  const auto executor = make_executor(run.threads > 0 ? run.threads : part.threads);
  if (!part.note.empty()) observer.info(part.note);
  Json json;
  json["program"] = "fiberloom " + step.name;
  json["versions"] = {{"fiberloom", version()}, {"compiler", __VERSION__}};
  json["threads"] = executor->concurrency();
  json["executor"] = executor_kind();
  json["options"] = given.texts();
  step.work(*executor, observer, json);
  if (run.json.empty()) return 0;
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  json["seconds"] = {{"all", {{"wall_s", wall}, {"cpu_s", cpu_seconds()}}}};
  json["peak_memory_bytes"] = peak_memory_bytes();
  write_text(run.json, json.dump(2) + "\n");
  return 0;
}

}  // namespace fiberloom::cli
