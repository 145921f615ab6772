// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom recon` on many scans: the batch engine, alone or over the ranks of a job.
#include <functional>
#include <memory>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/program/heap.hpp"
#include "loom/program/standard_output.hpp"
#include "loom/runtime/ranks_module.hpp"
#include "loom/runtime/stop_signal.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/cli/recon_command.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/version.hpp"

namespace tomoloom::cli {
namespace {

constexpr const char* kScans = "scans";  // what tasks are called

std::string summary_of(const scans::BatchReport& report) {
  return scans::counts_text(report.counts, kScans) + "; " + scans::effort_text(report);
}

std::string many_json(const scans::BatchReport& report, const ReconCommand& command,
                      std::size_t ranks) {
  Json json = {{"program", "tomoloom recon"},
               {"version", version()},
               {"isa", isa_name(active_isa())},
               {"ranks", ranks},
               {"wall_s", report.wall_s},
               {"cpu_s", report.cpu_s},
               {"peak_memory_bytes", report.peak_memory_bytes}};
  json["options"] = Json::object();
  for (const auto& [key, text] : option_texts(recon_option_rows(), command.job)) {
    json["options"][key] = text;
  }
  const scans::RunCounts& n = report.counts;
  json["counts"] = {{"scans", n.tasks},   {"done", n.done},       {"up_to_date", n.up_to_date},
                    {"failed", n.failed}, {"missing", n.missing}, {"elsewhere", n.elsewhere},
                    {"left", n.left}};
  json["scans"] = Json::array();
  for (std::size_t k = 0; k < report.tasks.size(); ++k) {
    const scans::Outcome& o = report.outcomes[k];
    const ReconJob& job = scans::job_of(report.tasks[k]);
    Json scan = {{"name", report.tasks[k].name},
                 {"scan", job.scan},
                 {"volume", job.output},
                 {"state", scans::state_name(o.state)},
                 {"exit_code", o.exit_code},
                 {"message", o.message},
                 {"rank", o.rank}};
    for (const scans::Measure& m : o.measures) scan[m.name] = m.value;
    json["scans"].push_back(std::move(scan));
  }
  return json.dump(2) + "\n";
}

int run_dry(const scans::ManyScansJob& job) {
  const scans::PlanText plan = scans::plan_text(scans::plan_scans(job));
  put(plan.text);
  return static_cast<int>(plan.status);
}

int run_alone(const ReconCommand& command, const scans::ManyScansJob& job) {
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const scans::BatchReport report = scans::run_scans(job, observer, [&](const scans::RunStatus& s) {
    console.line(scans::progress_text(s, kScans));
  });
  observer.info(summary_of(report));
  if (!command.json.empty()) write_text(command.json, many_json(report, command, 1));
  return scans::end_run(report, kScans);
}

int run_on_ranks(const ReconCommand& command, const scans::ManyScansJob& job,
                 const Launch& launch) {
  scans::RanksChoice choice{.silence_s = command.ranks.silence_s, .launch_s = process_seconds()};
  const auto ranks = open_ranks(launch, process_environment());
  choice.open_s = process_seconds() - choice.launch_s;
  choice.fatal = [&](const std::exception_ptr& thrown) { abort_ranks(kProgram, *ranks, thrown); };
  catch_stop_signals();  // MPI may have put its own handlers there
  const bool first = ranks->rank() == 0;
  Console console(first ? command.log.threshold() : LogLevel::kWarning);
  const Observer observer = console.observer();
  std::function<int()> end = [] { return 0; };  // rank 0 tells how it went
  try {
    const scans::RanksReport report = scans::run_scans_on_ranks(
        *ranks, job, std::move(choice), observer,
        [&](const scans::RunStatus& s) { console.line(scans::progress_text(s, kScans)); });
    if (first) {
      observer.info(summary_of(report.batch));
      observer.info(print("%zu ranks on %d nodes, %s", report.ranks.size(), report.nodes,
                          report.library.c_str()));
      if (!command.json.empty()) {
        write_text(command.json, many_json(report.batch, command, report.ranks.size()));
      }
    }
    ranks->finish();
    if (first) {
      auto batch = std::make_shared<scans::BatchReport>(report.batch);
      end = [batch] { return scans::end_run(*batch, kScans); };
    }
  } catch (const std::exception&) {
    abort_ranks(kProgram, *ranks, std::current_exception());
  }
  return end();
}

}  // namespace

int run_many_scans(const ReconCommand& command) {
  scans::ManyScansJob job;
  job.inputs = command.scans;
  job.job = command.job;
  job.pipeline.threads = command.threads;
  job.pipeline.memory_bytes = command.job.memory;
  job.pipeline.retry = command.retry;
  if (command.verify) job.pipeline.check = scans::Check::kBytes;
  job.claims = command.claims;
  job.by_content = command.by_content;
  job.texts = {{"--json", command.json}};
  std::erase_if(job.texts,
                [](const NamedFile& file) { return file.path.empty() || file.path == "-"; });
  if (command.rebuild) {
    const std::size_t rows = scans::rebuild_ledger(scans::run_folder(job), scans::ledger_shape());
    Console(command.log.threshold())
        .message(LogLevel::kInfo, "ledger rebuilt: " + std::to_string(rows) + " volumes");
    return 0;
  }
  if (command.dry_run) return run_dry(job);
  check_text_outputs(job.texts);
  catch_stop_signals();
  return_large_blocks();
  (void)active_isa();  // a wrong FIBERLOOM_ISA is an error before anything is read
  if (const auto launch = decide_launch(process_environment(), mpi_choice(command.ranks.mpi))) {
    return run_on_ranks(command, job, *launch);
  }
  return run_alone(command, job);
}

}  // namespace tomoloom::cli
