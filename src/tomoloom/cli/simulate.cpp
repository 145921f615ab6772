// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom simulate`: a scan whose truth is known.
#include <memory>
#include <optional>
#include <string>

#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/simulate_scan.hpp"
#include "tomoloom/simulate/phantom.hpp"

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

void add_body(Options& options, SimulateJob& job) {
  const Interval size = between(2, 32768);
  options.group("Scan");
  options.add("-o,--output", &job.output, "the scan, a Data Exchange file", {.required = true});
  options.add("--truth", &job.truth, "the volume that the scan is of, as recon would write it");
  options.add("--phantom", &job.phantom, "the body",
              {.words = phantom_names(), .shows_default = true});
  options.add("--columns", &job.columns, "pixels of a row",
              {.value = "N", .interval = size, .shows_default = true});
  options.add("--rows", &job.rows, "rows of the detector",
              {.value = "N", .interval = between(1, 32768), .shows_default = true});
  options.add("--angles", &job.angles, "projections",
              {.value = "N", .interval = between(1, 1000000), .shows_default = true});
  options.add("--arc", &job.arc_deg, "degrees; the last projection is a step before its end",
              {.interval = between(0.001, 36000), .shows_default = true});
  options.add("--center", &job.centre,
              "column that the axis is projected to; default: the middle of the row");
  options.add("--absorption", &job.absorption,
              "of a body of value 1 as wide as the detector, as a line integral",
              {.interval = above(0), .shows_default = true});
  options.add("--flats", &job.flats, "frames of the beam alone",
              {.value = "N", .interval = between(1, 10000), .shows_default = true});
  options.add("--darks", &job.darks, "frames without beam",
              {.value = "N", .interval = between(1, 10000), .shows_default = true});
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
  add_body(options, job);
  options.group("Detector");
  options.add("--photons", &job.detector.photons, "in a pixel of a flat; 0: no noise",
              {.interval = at_least(0), .shows_default = true});
  options.add("--rings", &job.detector.rings,
              "spread of what flats do not tell of a pixel's response",
              {.interval = between(0, 0.5), .shows_default = true});
  options.add("--drift", &job.detector.drift, "fraction by which the beam fades during the scan",
              {.interval = between(0, 0.99), .shows_default = true});
  options.add("--zingers", &job.detector.zingers, "fraction of pixels of projections that are hit",
              {.interval = between(0, 1), .shows_default = true});
  options.add("--seed", &job.detector.seed, "same seed, same bytes", {.shows_default = true});
  options.group("Running");
  options.flag(
      "--no-clobber", [&job] { job.overwrite = Overwrite::kNo; },
      "refuse to replace existing files");
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_simulate(*state); };
  return command;
}

}  // namespace tomoloom::cli
