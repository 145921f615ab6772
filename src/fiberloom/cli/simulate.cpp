// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom simulate`: a camera without any outside file, or spectra of known redshift.
#include <cmath>
#include <cstdlib>
#include <memory>
#include <span>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/simulate_camera.hpp"
#include "fiberloom/recipes/simulate_night.hpp"
#include "fiberloom/recipes/simulate_targets.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::cli {
namespace {

struct SimulateCommand {
  SimulateJob job;
  SimulateTargetsJob targets;
  SimulateNightJob night;
  bool of_night = false;
  std::string snr = "0.5,20", mix = "50,20,20,10", mags = "18,20";
  bool no_defects = false;
  std::size_t threads = 0;
  RankChoice ranks;
  LogOptions log;
};

/// "1,2,3" as `count` numbers. Throws kUsage.
std::vector<double> numbers(const std::string& option, const std::string& text, std::size_t count) {
  std::vector<double> out;
  const char* at = text.c_str();
  while (true) {
    char* end = nullptr;
    out.push_back(std::strtod(at, &end));
    const bool good = end != at && std::isfinite(out.back());
    if (good && *end == ',' && out.size() < count) {
      at = end + 1;
      continue;
    }
    if (good && *end == '\0' && out.size() == count) return out;
    throw Error(Status::kUsage, option + ": found '" + text + "', expected " +
                                    std::to_string(count) + " numbers with commas between");
  }
}

SimulateTargetsJob targets_job(const SimulateCommand& command) {
  SimulateTargetsJob job = command.targets;
  job.directory = command.job.directory;
  job.overwrite = command.job.overwrite;
  job.survey.seed = command.job.seed;
  const std::vector<double> snr = numbers("--snr", command.snr, 2);
  const std::vector<double> mix = numbers("--mix", command.mix, 4);
  job.survey.least_snr = snr[0];
  job.survey.most_snr = snr[1];
  job.survey.mix = {.galaxy = mix[0], .qso = mix[1], .star = mix[2], .sky = mix[3]};
  if (command.no_defects) job.survey = truth::without_defects(job.survey);
  return job;
}

/// Options that belong to what is not made, or to a PSF that is not given, are a mistake, not
/// nothing.
void check_wishes(const Given& given, const SimulateCommand& command) {
  constexpr const char* kOfCameras[] = {"--cameras", "--nspec",      "--exposures", "--psf",
                                        "--gh00",    "--truth-grid", "--defects"};
  constexpr const char* kOfTargets[] = {"--archetypes", "--snr", "--mix", "--no-defects"};
  constexpr const char* kOfNights[] = {"--lamps", "--arc", "--tiles", "--mags"};
  const auto refuse = [&](std::span<const char* const> names, const char* why) {
    for (const char* name : names) {
      if (given.has(name)) throw Error(Status::kUsage, std::string("simulate: ") + name + why);
    }
  };
  const bool targets = command.targets.targets > 0;
  if (!command.of_night) refuse(kOfNights, " is of --night");
  if (!targets) refuse(kOfTargets, " is of --targets");
  if (targets && !command.of_night) refuse(kOfCameras, " is of cameras, not of --targets");
  if (!targets && !command.of_night && given.has("--templates")) {
    throw Error(Status::kUsage, "simulate: --templates is of --targets and --night");
  }
  if (given.has("--gh00") && command.job.psf.empty()) {
    throw Error(Status::kUsage, "simulate: --gh00 is how --psf is read");
  }
}

/// What cameras and nights share. Throws kUsage for what a night does without.
SimulateNightJob night_job(const SimulateCommand& command) {
  if (command.targets.targets > 0 || !command.job.psf.empty()) {
    throw Error(Status::kUsage,
                "simulate --night: draws its own targets and makes its own PSFs, without --targets "
                "and --psf");
  }
  SimulateNightJob job = command.night;
  job.directory = command.job.directory;
  job.cameras = command.job.cameras;
  job.nspec = command.job.nspec;
  job.exposures = command.job.exposures;
  job.seed = command.job.seed;
  job.templates = command.targets.templates;
  job.defects = command.job.defects;
  job.truth_grid = command.job.truth_grid;
  job.overwrite = command.job.overwrite;
  const std::vector<double> mags = numbers("--mags", command.mags, 2);
  constexpr double kBrightest = 10, kFaintest = 30;
  if (!(mags[0] >= kBrightest && mags[0] <= mags[1] && mags[1] <= kFaintest)) {
    throw Error(Status::kUsage, "--mags " + command.mags +
                                    ": expected the brightest and the faintest, from 10 to 30");
  }
  job.brightest_mag = mags[0];
  job.faintest_mag = mags[1];
  return job;
}

int run_simulate(const Given& given, const SimulateCommand& command) {
  const RankPart part = part_of_rank(
      command.ranks, "give each rank cameras of its own (--cameras) or start one process");
  if (!part.works) return 0;
  check_wishes(given, command);
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const auto executor = make_executor(command.threads > 0 ? command.threads : part.threads);
  if (!part.note.empty()) observer.info(part.note);
  if (command.of_night) {
    for (const std::string& file : simulate_night(night_job(command), *executor, observer)) {
      observer.info("wrote " + file);
    }
    return 0;
  }
  if (command.targets.targets > 0) {
    for (const std::string& file : simulate_targets(targets_job(command), *executor, observer)) {
      observer.info("wrote " + file);
    }
    return 0;
  }
  const SimulateSummary summary = simulate_cameras(command.job, *executor, observer);
  for (const std::string& file : summary.files) observer.info("wrote " + file);
  return 0;
}

void add_camera_options(Options& options, SimulateJob& job) {
  options.add("-o,--output", &job.directory,
              "folder for psf-CAM.fits, preproc-CAM-EXPID.fits and truth-CAM-EXPID.fits",
              {.required = true});
  options.add("--cameras", &job.cameras, "such as r0 or b0,r0,z0",
              {.shows_default = true, .delimiter = ','});
  options.add("--nspec", &job.nspec, "fibres that are lit",
              {.interval = above(0), .shows_default = true});
  options.add("--exposures", &job.exposures, "exposures of each camera",
              {.interval = between(1, kMostExposures), .shows_default = true});
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
  add_no_clobber_option(options, job.overwrite);
}

void add_night_options(Options& options, SimulateCommand& state) {
  SimulateNightJob& night = state.night;
  options.group("A night, from lamps to fields");
  options.flag("--night", &state.of_night,
               "write NIGHT/EXPID/preproc-CAM-EXPID.fits of lamps and fields, their truth, models "
               "of stars and passbands; --exposures are of each tile");
  options.add("--lamps", &night.lamps, "exposures of lamps, a lamp each",
              {.interval = between(0, 100), .shows_default = true});
  options.flag("--arc", &night.arc, "and one of an arc lamp");
  options.add("--tiles", &night.tiles, "tiles, each with targets of its own",
              {.interval = between(0, 1000), .shows_default = true});
  options.add("--mags", &state.mags, "brightest and faintest of the targets, AB in the r camera",
              {.value = "MAG,MAG", .shows_default = true});
}

void add_target_options(Options& options, SimulateCommand& state) {
  SimulateTargetsJob& targets = state.targets;
  options.group("Targets of known redshift, as spectra");
  options.add("--targets", &targets.targets,
              "write coadd-NNNN.fits and truth-NNNN.fits with so many targets, 500 a file, instead "
              "of cameras",
              {.interval = between(0, kMostTargets)});
  options.add("-t,--templates", &targets.templates,
              "templates to draw from; none: $RR_TEMPLATE_DIR, else a small built-in set");
  options.add("--archetypes", &targets.archetypes, "archetypes to draw from as well");
  options.add("--snr", &state.snr, "lowest and highest S/N, median over pixels",
              {.value = "LOW,HIGH", .shows_default = true});
  options.add("--mix", &state.mix, "shares of galaxies, quasars, stars and sky fibres",
              {.value = "G,Q,S,SKY", .shows_default = true});
  options.flag("--no-defects", &state.no_defects,
               "no sky residuals, bad or hot pixels or missing cameras");
}

}  // namespace

Command make_simulate() {
  Command command{
      .name = "simulate",
      .text =
          "make a camera: PSF, preprocessed frames, fibermap and truth; or a night of lamps and "
          "fields; or spectra of known redshift",
      .footer =
          "Example:\n"
          "  fiberloom simulate -o night --cameras b0,r0,z0 --exposures 3\n"
          "  fiberloom simulate -o raw --night --cameras b0,r0,z0 --nspec 50 --lamps 2 --tiles 1\n"
          "  fiberloom simulate -o truth --targets 500\n\n" +
          exit_codes_of(
              {.reads = true, .matches = true, .writes = true, .more = {Status::kInterrupted}})};
  const auto state = std::make_shared<SimulateCommand>();
  Options& options = command.options;
  add_camera_options(options, state->job);
  add_night_options(options, *state);
  add_target_options(options, *state);
  options.group("Running");
  add_thread_option(options, state->threads);
  add_rank_option(options, state->ranks);
  add_log_options(options, state->log);
  command.run = [state](const Invocation& call) { return run_simulate(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
