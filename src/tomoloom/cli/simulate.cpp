// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom simulate`: a scan whose truth is known.
#include <memory>
#include <string>

#include "loom/program/console.hpp"
#include "loom/program/row_options.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/simulate_option_table.hpp"
#include "tomoloom/recipes/simulate_scan.hpp"

namespace tomoloom::cli {
namespace {

struct SimulateCommand {
  SimulateJob job;
  std::size_t threads = 0;
  LogOptions log;
};

int run_simulate(const SimulateCommand& command) {
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const auto executor = make_executor(command.threads);
  simulate_scan(command.job, *executor, observer);
  observer.info("wrote " + command.job.output);
  if (!command.job.truth.empty()) observer.info("wrote " + command.job.truth);
  return 0;
}

}  // namespace

Command make_simulate() {
  Command command{
      .name = "simulate",
      .text = "make a scan of a phantom, projected exactly",
      .footer = "Example:\n  tomoloom simulate -o scan.h5 --truth truth.h5 --rings 0.01\n\n" +
                exit_codes_of_writer().text()};
  const auto state = std::make_shared<SimulateCommand>();
  Options& options = command.options;
  SimulateJob& job = state->job;
  options.group("Files");
  options.add("-o,--output", &job.output, "the scan, a Data Exchange file", {.required = true});
  options.add("--truth", &job.truth, "the volume that the scan is of, as recon would write it");
  for (const char* group : {kBodyOptions, kDetectorOptions}) {
    add_rows(options, simulate_option_rows(), group, job);
  }
  options.group("Running");
  add_no_clobber_option(options, job.overwrite);
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_simulate(*state); };
  return command;
}

}  // namespace tomoloom::cli
