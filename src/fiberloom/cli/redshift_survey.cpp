// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/redshift_survey.hpp"

#include <functional>
#include <memory>

#include "fiberloom/cli/device_json.hpp"
#include "fiberloom/cli/night_options.hpp"
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/redshift/scan_device.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/program/heap.hpp"
#include "loom/program/standard_output.hpp"
#include "loom/runtime/ranks_module.hpp"
#include "loom/runtime/stop_signal.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::cli {
namespace {

constexpr const char* kFiles = "files";  // what tasks are called

std::vector<std::string> summary_of(const survey::BatchReport& report) {
  double targets = 0, sure = 0;
  for (const survey::Outcome& o : report.outcomes) {
    for (const survey::Measure& m : o.measures) {
      if (m.name == "targets") targets += m.value;
      if (m.name == "zwarn_0") sure += m.value;
    }
  }
  return {survey::counts_text(report.counts, kFiles),
          print("%.0f targets, %.0f with ZWARN 0; ", targets, sure) + survey::effort_text(report)};
}

std::string survey_json(const survey::BatchReport& report, const RedshiftCommand& command,
                        const Given& given, const redshift::DeviceScan* device,
                        const std::vector<survey::RankReport>& ranks) {
  Json json = {{"program", "fiberloom redshift"},
               {"versions", {{"fiberloom", version()}, {"compiler", __VERSION__}}},
               {"method", redshift_method_name(command.job.options.method)},
               {"ranks", ranks.empty() ? std::size_t{1} : ranks.size()},
               {"wall_s", report.wall_s},
               {"cpu_s", report.cpu_s},
               {"peak_memory_bytes", report.peak_memory_bytes}};
  json["device"] = device_json(device);  // of this process, as what the CPU took over
  json["taken_over_by_cpu"] = taken_over_json(device);
  json["options"] = given.texts();
  const survey::RunCounts& n = report.counts;
  json["counts"] = {{"files", n.tasks},           {"done", n.done},
                    {"up_to_date", n.up_to_date}, {"failed", n.failed},
                    {"missing", n.missing},       {"blocked", n.blocked},
                    {"elsewhere", n.elsewhere},   {"left", n.left}};
  json["files"] = Json::array();
  for (std::size_t k = 0; k < report.tasks.size(); ++k) {
    const survey::Outcome& o = report.outcomes[k];
    Json file = {{"name", report.tasks[k].name},
                 {"spectra", report.tasks[k].inputs.front()},
                 {"state", survey::state_name(o.state)},
                 {"exit_code", o.exit_code},
                 {"message", o.message},
                 {"rank", o.rank},
                 {"parts", o.parts}};
    for (const survey::Measure& m : o.measures) file[m.name] = m.value;
    json["files"].push_back(std::move(file));
  }
  return json.dump(1, JsonText::kAscii) + "\n";
}

int run_dry(const survey::SurveyJob& job) {
  const survey::PlanText plan = survey::plan_text(survey::plan_survey(job));
  put(plan.text);
  return static_cast<int>(plan.status);
}

int run_alone(const Given& given, RedshiftCommand& command, survey::SurveyJob job,
              Console& console) {
  const Observer observer = console.observer();
  job.device = open_scan_device(command.device, command.job.options.method, observer);
  warn_of_fallback(job.job, observer);
  Tracer tracer(!command.trace.empty());
  const survey::BatchReport report = survey::run_survey(
      job, observer,
      [&](const survey::RunStatus& s) { console.line(survey::progress_text(s, kFiles)); }, &tracer);
  for (const std::string& line : summary_of(report)) observer.info(line);
  if (!command.trace.empty()) write_text(command.trace, tracer.chrome_json());
  if (!command.json.empty())
    write_text(command.json, survey_json(report, command, given, job.device.get(), {}));
  return survey::end_run(report, kFiles);
}

int run_on_ranks(const Given& given, RedshiftCommand& command, survey::SurveyJob survey_job,
                 const Launch& launch) {
  survey::SurveyRanksJob job;
  job.launch_s = process_seconds();
  const auto ranks = open_ranks(launch, process_environment());
  job.open_s = process_seconds() - job.launch_s;
  catch_stop_signals();  // MPI may have put its own handlers there
  const bool first = ranks->rank() == 0;
  Console console(first ? command.log.threshold() : LogLevel::kWarning);
  const Observer observer = console.observer();
  if (first) warn_of_fallback(survey_job.job, observer);
  std::function<int()> end = [] { return 0; };  // rank 0 tells how it went
  try {
    Tracer tracer(!command.trace.empty());
    job.survey = std::move(survey_job);
    job.survey.device = open_scan_device(command.device, command.job.options.method, observer);
    const auto device = job.survey.device;
    job.dispatch.part_overhead_s = command.part_overhead_s;
    job.silence_s = command.ranks.silence_s;
    job.fatal = [&](const std::exception_ptr& thrown) { abort_ranks(kProgram, *ranks, thrown); };
    const survey::RanksReport report = survey::run_survey_on_ranks(
        *ranks, std::move(job), observer,
        [&](const survey::RunStatus& s) { console.line(survey::progress_text(s, kFiles)); },
        &tracer);
    if (first) {
      for (const std::string& line : summary_of(report.batch)) observer.info(line);
      observer.info(print("%zu ranks on %d nodes, %s", report.ranks.size(), report.nodes,
                          report.library.c_str()));
      if (!command.trace.empty()) {
        write_text(command.trace, Tracer::wrap_chrome_events(report.trace));
      }
      if (!command.json.empty()) {
        // ranks may have agreed on the CPU
        const bool used = device != nullptr && device->report().scans + device->report().by_cpu > 0;
        write_text(command.json, survey_json(report.batch, command, given,
                                             used ? device.get() : nullptr, report.ranks));
      }
    }
    ranks->finish();
    if (first) {
      auto batch = std::make_shared<survey::BatchReport>(report.batch);
      end = [batch] { return survey::end_run(*batch, kFiles); };
    }
  } catch (const std::exception&) {
    abort_ranks(kProgram, *ranks, std::current_exception());
  }
  return end();
}

/// A folder where one is wanted.
void require_folder(const char* option, const std::string& path) {
  if (path.empty() || survey::is_folder_name(path)) return;
  throw Error(Status::kUsage, std::string(option) + " " + path +
                                  ": -o is a folder, so this must be one (it is there, or its name "
                                  "ends in /)");
}

}  // namespace

int run_redshift_survey(const Given& given, RedshiftCommand& command) {
  Console console(command.log.threshold());
  const bool first =  // of ranks: what concerns all of them is said once
      command.ranks.mpi == "off" || find_launch(process_environment()).rank == 0;
  finish_redshift_options(given, command, first ? console.observer() : Observer{});
  require_folder("--details", command.job.details);
  require_folder("--model", command.job.model);
  if (!command.job.chi2_scan.empty()) {
    throw Error(Status::kUsage, "--chi2-scan: has one file's scans, and -o is a folder");
  }
  survey::SurveyJob job;
  job.job = command.job;
  job.pipeline = command.pipeline;
  job.pipeline.threads = command.threads;
  job.claims = command.claims;
  if (!command.memory.empty()) job.pipeline.memory_bytes = parse_bytes(command.memory);
  if (command.verify_outputs) job.pipeline.check = survey::Check::kBytes;
  job.texts = {{"--json", command.json}, {"--trace", command.trace}};
  std::erase_if(job.texts,
                [](const NamedFile& file) { return file.path.empty() || file.path == "-"; });
  if (command.rebuild) {
    const std::size_t rows =
        survey::rebuild_ledger(survey::run_folder(job), survey::ledger_shape());
    console.message(LogLevel::kInfo, "ledger rebuilt: " + std::to_string(rows) + " files");
    return 0;
  }
  if (command.dry_run) return run_dry(job);
  check_text_outputs(job.texts);
  catch_stop_signals();
  return_large_blocks();
  (void)active_isa();  // a wrong FIBERLOOM_ISA is an error before anything is read
  if (const auto launch = decide_launch(process_environment(), mpi_choice(command.ranks.mpi))) {
    return run_on_ranks(given, command, std::move(job), *launch);
  }
  return run_alone(given, command, std::move(job), console);
}

}  // namespace fiberloom::cli
