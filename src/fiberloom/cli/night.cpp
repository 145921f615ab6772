// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom night` and `fiberloom expose`: options -> recipe -> summary. One exposure is a night
// with a single exposure in it.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include "fiberloom/cli/chain_report.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/night_options.hpp"
#include "fiberloom/cli/night_report.hpp"
#include "fiberloom/cli/submit.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/program/console.hpp"
#include "loom/program/heap.hpp"
#include "loom/program/standard_output.hpp"
#include "loom/runtime/ranks_module.hpp"
#include "loom/runtime/stop_signal.hpp"
#include "loom/runtime/usage.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::cli {
namespace {

void print_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  put(text);
}

int run_dry(const NightCommand& command) {
  Console console(command.log.threshold());
  const night::BatchPlan plan = night::plan_night(command.job, console.observer());
  const night::PipelineOptions options =
      night::complete_options(command.job.pipeline, command.job.request, Engine());
  print_lines(command.is_chain() ? chain_table(plan, options) : plan_table(plan, options));
  if (command.is_chain()) return 0;
  for (const night::Finding& finding : plan.findings) {
    if (finding.state == night::TaskState::kMissing) return static_cast<int>(Status::kSomeFailed);
  }
  return 0;
}

/// `expose` is for one exposure: more than one is a slip of the command line.
void require_one_exposure(const NightCommand& command) {
  std::set<long> exposures;
  for (const night::FrameTask& task : night::find_frames(command.job.request)) {
    exposures.insert(task.expid);
  }
  if (exposures.size() > 1) {
    throw Error(Status::kUsage, command.job.request.input + ": has " +
                                    std::to_string(exposures.size()) +
                                    " exposures; choose one with -e, or use fiberloom night");
  }
}

int end_night(const NightCommand& command, const night::NightReport& report) {
  return night::end_run(report, command.is_chain() ? "tasks" : "frames");
}

Engine engine_of(const NightCommand& command, const Observer& observer) {
  return open_engine(command.device, command.job.request.job.method, observer);
}

night::Monitor::Progress progress_of(const NightCommand& command, Console& console) {
  return [&console, chain = command.is_chain()](const night::RunStatus& status) {
    console.line(chain ? chain_line(status) : night_line(status));
  };
}

std::vector<std::string> summary_of(const NightCommand& command, const night::NightReport& report) {
  return command.is_chain() ? chain_summary(report) : night_summary(report);
}

int run_alone(NightCommand& command, Console& console) {
  const Observer observer = console.observer();
  const Engine engine = engine_of(command, observer);
  Tracer tracer(!command.trace.empty());
  const night::NightReport report =
      night::run_night(command.job, engine, observer, progress_of(command, console), &tracer);
  for (const std::string& line : summary_of(command, report)) observer.info(line);
  night::check_files(command.job, report.tasks);  // a watch has found more since it began
  if (!command.trace.empty()) write_text(command.trace, tracer.chrome_json());
  if (!command.json.empty()) {
    write_text(command.json, command.is_chain() ? chain_json(report, command.chain.options, tracer)
                                                : night_json(report, command.job.request, tracer));
  }
  return end_night(command, report);
}

int run_on_ranks(NightCommand& command, const Launch& launch) {
  night::NightRanksJob job;
  job.launch_s = process_seconds();
  const auto ranks = open_ranks(launch, process_environment());
  job.open_s = process_seconds() - job.launch_s;
  catch_stop_signals();  // MPI may have put its own handlers there
  const bool first = ranks->rank() == 0;
  Console console(first ? command.log.threshold() : LogLevel::kWarning);
  const Observer observer = console.observer();
  std::function<int()> end = [] { return 0; };  // rank 0 tells how it went
  try {
    Tracer tracer(!command.trace.empty());
    Engine engine = engine_of(command, observer);
    job.night = command.job;
    job.dispatch.part_overhead_s = command.part_overhead_s;
    job.silence_s = command.ranks.silence_s;
    job.fatal = [&](const std::exception_ptr& thrown) { abort_ranks(kProgram, *ranks, thrown); };
    const night::NightRanksReport report = night::run_night_on_ranks(
        *ranks, job, std::move(engine), observer, progress_of(command, console), &tracer);
    if (first) {
      for (const std::string& line : summary_of(command, report.night)) observer.info(line);
      observer.info(ranks_summary(report));
      if (!command.trace.empty()) {
        write_text(command.trace, Tracer::wrap_chrome_events(report.trace));
      }
      if (!command.json.empty()) {
        write_text(command.json,
                   command.is_chain()
                       ? chain_json(report.night, command.chain.options, tracer)
                       : night_json(report.night, command.job.request, tracer, &report));
      }
    }
    ranks->finish();
    if (first) end = [&command, night = report.night] { return end_night(command, night); };
  } catch (const std::exception&) {
    abort_ranks(kProgram, *ranks, std::current_exception());
  }
  return end();
}

int run_night_command(const Given& given, NightCommand& command) {
  finish_night_options(given, command);
  if (command.rebuild) {
    const std::size_t rows = night::rebuild_ledger(night::run_folder(command.job.request.output),
                                                   night::ledger_shape(), command.job.state);
    Console(command.log.threshold())
        .message(LogLevel::kInfo, "ledger rebuilt: " + std::to_string(rows) + " frames");
    return 0;
  }
  if (command.kind == NightKind::kExposure) require_one_exposure(command);
  std::optional<Console> plans;  // what the chain passes over is said once
  if (command.is_chain()) {
    plans.emplace(command.log.threshold());
    chain::extend(command.job, command.chain, plans->observer());
  }
  if (command.submit) return submit_night(command, plans->observer());
  if (command.dry_run) return run_dry(command);
  check_text_outputs(command.job.texts);
  catch_stop_signals();
  return_large_blocks();
  (void)active_isa();  // a wrong FIBERLOOM_ISA is an error before anything is read
  if (const auto launch = decide_launch(process_environment(), mpi_choice(command.ranks.mpi))) {
    return run_on_ranks(command, *launch);
  }
  Console console(command.log.threshold());
  return run_alone(command, console);
}

Command make(NightKind kind, const char* name, const char* text, const char* footer) {
  std::vector<Status> more{Status::kSomeFailed, Status::kInterrupted, Status::kDevice};
  if (kind == NightKind::kNight) {
    more.insert(more.end(), {kNewerSchema, kCatalogueBusy, kServerGone});
  }
  Command command{
      .name = name,
      .text = text,
      .footer = footer + exit_codes_of({.reads = true, .writes = true, .more = std::move(more)})};
  const auto state = std::make_shared<NightCommand>();
  state->kind = kind;
  add_night_options(command.options, *state);
  command.run = [state](const Invocation& call) { return run_night_command(call.given, *state); };
  return command;
}

}  // namespace

Command make_expose() {
  return make(NightKind::kExposure, "expose",
              "extract all cameras of one exposure, bundles of all frames in parallel",
              "Example:\n  fiberloom expose preproc/20261121/00000012 -o out\n\n");
}

Command make_night() {
  return make(
      NightKind::kNight, "night",
      "extract many exposures, or take them to redshifts and a catalogue; again: only what is left "
      "to do",
      "Examples:\n  fiberloom night preproc/20261121 -o out\n"
      "  fiberloom night preproc/20261121 -o out --watch\n"
      "  fiberloom night raw -o out --until catalogue --starmodels raw/starmodels.fits ...\n\n");
}

}  // namespace fiberloom::cli
