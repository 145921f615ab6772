// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom simulate`: a camera without any outside file.
#include <CLI/CLI.hpp>
#include <memory>

#include "fiberloom/cli/choice.hpp"
#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/console.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/limits.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/simulate_camera.hpp"
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

Command make_simulate(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "simulate", "make a camera: PSF, preprocessed frames, fibermap and truth");
  app->footer(
      "Example:\n  fiberloom simulate -o night --cameras b0,r0,z0 --exposures 3\n\n" +
      exit_codes_of(
          {.reads = true, .matches = true, .writes = true, .more = {Status::kInterrupted}}));
  const auto command = std::make_shared<SimulateCommand>();
  SimulateJob& job = command->job;
  app->add_option("-o,--output", job.directory,
                  "folder for psf-CAM.fits, preproc-CAM-EXPID.fits and truth-CAM-EXPID.fits")
      ->required();
  app->add_option("--cameras", job.cameras, "such as r0 or b0,r0,z0")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--nspec", job.nspec, "fibres that are lit")
      ->check(positive())
      ->capture_default_str();
  app->add_option("--exposures", job.exposures, "exposures of each camera")
      ->check(positive())
      ->capture_default_str();
  app->add_option("--seed", job.seed, "same seed, same bytes")->capture_default_str();
  app->add_option("--psf", job.psf, "use this PSF instead of making one");
  add_choice<Gh00>(*app, "--gh00", job.gh00, {{"file", Gh00::kFile}, {"one", Gh00::kOne}},
                   "how to read GH-0-0 of --psf");
  add_verify_option(*app, job.verify);
  add_choice<TruthGrid>(*app, "--truth-grid", job.truth_grid,
                        {{"fine", TruthGrid::kFine}, {"extraction", TruthGrid::kExtraction}},
                        "grid that the spectra live on; with extraction the model of the "
                        "extraction holds exactly");
  app->add_flag_callback(
      "--defects", [&job] { job.defects = WithDefects::kYes; },
      "dead columns and blocks, saturated rows, a bad amplifier");
  app->add_flag_callback(
      "--no-clobber", [&job] { job.overwrite = Overwrite::kNo; },
      "refuse to replace existing files");
  add_thread_option(*app, command->threads);
  add_rank_option(*app, command->ranks, "Running");
  add_log_options(*app, command->log);
  return {app, [command] { return run_simulate(*command); }};
}

}  // namespace fiberloom::cli
