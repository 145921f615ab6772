// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom simulate`: a camera without any outside file.
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/simulate_camera.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::cli {
namespace {

struct SimulateCommand {
  SimulateJob job;
  std::size_t threads = 0;
  RankChoice ranks;
  LogOptions log;
};

int run_simulate(const SimulateCommand& command) {
  const RankPart part = part_of_rank(
      command.ranks, "give each rank cameras of its own (--cameras) or start one process");
  if (!part.works) return 0;
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const auto executor = make_executor(command.threads > 0 ? command.threads : part.threads);
  if (!part.note.empty()) observer.info(part.note);
  const SimulateSummary summary = simulate_cameras(command.job, *executor, observer);
  for (const std::string& file : summary.files) observer.info("wrote " + file);
  return 0;
}

}  // namespace

Command make_simulate() {
  Command command{
      .name = "simulate",
      .text = "make a camera: PSF, preprocessed frames, fibermap and truth",
      .footer =
          "Example:\n"
          "  fiberloom simulate -o night --cameras b0,r0,z0 --exposures 3\n\n" +
          exit_codes_of(
              {.reads = true, .matches = true, .writes = true, .more = {Status::kInterrupted}})};
  const auto state = std::make_shared<SimulateCommand>();
  SimulateJob& job = state->job;
  Options& options = command.options;
  options.add("-o,--output", &job.directory,
              "folder for psf-CAM.fits, preproc-CAM-EXPID.fits and truth-CAM-EXPID.fits",
              {.required = true});
  options.add("--cameras", &job.cameras, "such as r0 or b0,r0,z0",
              {.shows_default = true, .delimiter = ','});
  options.add("--nspec", &job.nspec, "fibres that are lit",
              {.interval = above(0), .shows_default = true});
  options.add("--exposures", &job.exposures, "exposures of each camera",
              {.interval = above(0), .shows_default = true});
  options.add("--seed", &job.seed, "same seed, same bytes", {.shows_default = true});
  options.add("--psf", &job.psf, "use this PSF instead of making one");
  options.choice<Gh00>("--gh00", &job.gh00, {{"file", Gh00::kFile}, {"one", Gh00::kOne}},
                       "how to read GH-0-0 of --psf");
  add_verify_option(options, job.verify);
  options.choice<TruthGrid>(
      "--truth-grid", &job.truth_grid,
      {{"fine", TruthGrid::kFine}, {"extraction", TruthGrid::kExtraction}},
      "grid that the spectra live on; with extraction the model of the extraction holds exactly");
  options.flag(
      "--defects", [&job] { job.defects = WithDefects::kYes; },
      "dead columns and blocks, saturated rows, a bad amplifier");
  options.flag(
      "--no-clobber", [&job] { job.overwrite = Overwrite::kNo; },
      "refuse to replace existing files");
  options.group("Running");
  add_thread_option(options, state->threads);
  add_rank_option(options, state->ranks);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_simulate(*state); };
  return command;
}

}  // namespace fiberloom::cli
