// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom fiberflat`, `sky` and `calibrate`: options -> recipe -> a line.
#include <array>
#include <chrono>
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/calibrate_frame.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::cli {
namespace {

/// What the three have beside their job.
struct Running {
  std::size_t threads = 0;
  std::string json;
  RankChoice ranks;
  LogOptions log;
};

void add_common(Options& options, CalibrationFiles& files, Running& running) {
  options.choice<CalibrationMethod>(
      "--method", &files.method,
      {{"fiberloom", CalibrationMethod::kOurs}, {"desispec", CalibrationMethod::kDesispec}},
      "whose rules where they differ", {.shows_default = true});
  options.flag(
      "--no-clobber", [&files] { files.overwrite = Overwrite::kNo; },
      "refuse to replace an existing file");
  add_verify_option(options, files.verify);
  options.group("Running");
  options.add("--json", &running.json, "summary to write; - is standard output", {.value = "FILE"});
  add_thread_option(options, running.threads);
  add_rank_option(options, running.ranks);
  add_log_options(options, running.log);
}

/// Runs `step` (executor, observer) -> the step's own part of the summary.
template <class Step>
int run_step(const char* name, const CalibrationFiles& files, const Running& running,
             const Given& given, Step step) {
  const auto start = std::chrono::steady_clock::now();
  const RankPart part =
      part_of_rank(running.ranks, "give each rank frames of its own or start one process");
  if (!part.works) return 0;
  Console console(running.log.threshold());
  const Observer observer = console.observer();
  const std::array<NamedFile, 1> texts{{{"--json", running.json}}};
  check_outputs(files, texts);
  check_text_outputs(texts);
  const auto executor = make_executor(running.threads > 0 ? running.threads : part.threads);
  if (!part.note.empty()) observer.info(part.note);
  Json result = step(*executor, observer);
  observer.info("wrote " + files.output);
  if (running.json.empty()) return 0;
  Json json;
  json["program"] = std::string("fiberloom ") + name;
  json["versions"] = {{"fiberloom", version()}, {"compiler", __VERSION__}};
  json["method"] = files.method == CalibrationMethod::kDesispec ? "desispec" : "fiberloom";
  json["threads"] = executor->concurrency();
  json["executor"] = executor_kind();
  json["input"] = {{"frame", files.input}, {"fiberflat", files.flat}, {"sky", files.sky}};
  json["output"] = files.output;
  json["options"] = given.texts();
  json["result"] = std::move(result);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  json["seconds"] = {{"all", {{"wall_s", wall}, {"cpu_s", cpu_seconds()}}}};
  json["peak_memory_bytes"] = peak_memory_bytes();
  write_text(running.json, json.dump(2) + "\n");
  return 0;
}

std::string codes() {
  return exit_codes_of(
      {.reads = true, .matches = false, .writes = true, .more = {Status::kNumerical}});
}

struct FiberFlatCommand {
  FiberFlatJob job;
  Running running;
};

int run_fiberflat(const Given& given, const FiberFlatCommand& c) {
  return run_step(
      "fiberflat", c.job.files, c.running, given,
      [&](Executor& executor, const Observer& observer) {
        const FiberFlatSummary s = make_fiber_flat(c.job, executor, observer);
        observer.info(
            print("fibre flat of %zu spectra: chi2 / dof %.3f after %d iterations, %zu "
                  "fibres without light, %zu pixels rejected, %zu without flat",
                  s.nspec, s.chi2_per_dof, s.iterations, s.lost_fibers, s.rejected, s.masked));
        Json json;
        json["nspec"] = s.nspec;
        json["nwave"] = s.nwave;
        json["iterations"] = s.iterations;
        json["chi2_per_dof"] = s.chi2_per_dof;
        json["lost_fibers"] = s.lost_fibers;
        json["rejected_pixels"] = s.rejected;
        json["masked_pixels"] = s.masked;
        return json;
      });
}

struct SkyCommand {
  SkyJob job;
  Running running;
};

int run_sky(const Given& given, const SkyCommand& c) {
  return run_step(
      "sky", c.job.files, c.running, given, [&](Executor& executor, const Observer& observer) {
        const SkySummary s = make_sky(c.job, executor, observer);
        observer.info(
            print("sky from %zu fibres, %zu of them discarded: %d iterations, %zu pixels clipped",
                  s.sky_fibers, s.discarded, s.iterations, s.clipped));
        Json json;
        json["nspec"] = s.nspec;
        json["nwave"] = s.nwave;
        json["iterations"] = s.iterations;
        json["sky_fibers"] = s.sky_fibers;
        json["discarded_fibers"] = s.discarded;
        json["clipped_pixels"] = s.clipped;
        json["masked_pixels"] = s.without;
        return json;
      });
}

struct CalibrateCommand {
  CalibrateJob job;
  Running running;
};

int run_calibrate(const Given& given, const CalibrateCommand& c) {
  if (c.job.files.flat.empty() && c.job.files.sky.empty()) {
    throw Error(Status::kUsage, "calibrate: nothing to apply, expected --fiberflat or --sky");
  }
  return run_step("calibrate", c.job.files, c.running, given,
                  [&](Executor&, const Observer& observer) {
                    const CalibrateSummary s = calibrate_frame(c.job, observer);
                    Json json;
                    json["nspec"] = s.nspec;
                    json["nwave"] = s.nwave;
                    json["masked_pixels"] = s.without;
                    return json;
                  });
}

}  // namespace

Command make_fiberflat() {
  Command command{.name = "fiberflat",
                  .text = "how much light each fibre passes, from a lamp's frame",
                  .footer =
                      "Example:\n"
                      "  fiberloom fiberflat -i frame-z0-00000001.fits -o "
                      "fiberflat-z0-00000001.fits\n\n" +
                      codes()};
  const auto state = std::make_shared<FiberFlatCommand>();
  FiberFlatJob& job = state->job;
  Options& options = command.options;
  options.add("-i,--infile", &job.files.input, "frame of a lamp (ours, desispec's)",
              {.value = "FRAME", .required = true});
  options.add("-o,--outfile", &job.files.output, "fibre flat to write",
              {.value = "FIBERFLAT", .required = true});
  options.add("--nsig", &job.clip_nsig, "pixels farther from the smooth flat are rejected",
              {.interval = above(0), .shows_default = true});
  options.add("--acc", &job.accuracy, "largest change of the last iteration",
              {.interval = above(0), .shows_default = true});
  options.add("--smoothing-resolution", &job.spacing_aa, "Angstrom between knots",
              {.interval = above(0), .shows_default = true});
  add_common(options, job.files, state->running);
  command.run = [state](const Invocation& call) { return run_fiberflat(call.given, *state); };
  return command;
}

Command make_sky() {
  Command command{.name = "sky",
                  .text = "the sky of a frame, from its sky fibres",
                  .footer =
                      "Example:\n"
                      "  fiberloom sky -i frame-z0-00000011.fits --fiberflat "
                      "fiberflat-z0-00000001.fits \\\n"
                      "      -o sky-z0-00000011.fits\n\n" +
                      codes()};
  const auto state = std::make_shared<SkyCommand>();
  CalibrationFiles& files = state->job.files;
  Options& options = command.options;
  options.add("-i,--infile", &files.input, "frame of an exposure",
              {.value = "FRAME", .required = true});
  options.add("--fiberflat", &files.flat, "what to divide it by first; none: it has been",
              {.value = "FIBERFLAT"});
  options.add("-o,--outfile", &files.output, "sky to write", {.value = "SKY", .required = true});
  add_common(options, files, state->running);
  command.run = [state](const Invocation& call) { return run_sky(call.given, *state); };
  return command;
}

Command make_calibrate() {
  Command command{.name = "calibrate",
                  .text = "a frame divided by its fibre flat, without its sky",
                  .footer =
                      "Example:\n"
                      "  fiberloom calibrate -i frame-z0-00000011.fits --fiberflat "
                      "fiberflat-z0-00000001.fits \\\n"
                      "      --sky sky-z0-00000011.fits -o sframe-z0-00000011.fits\n\n" +
                      codes()};
  const auto state = std::make_shared<CalibrateCommand>();
  CalibrationFiles& files = state->job.files;
  Options& options = command.options;
  options.add("-i,--infile", &files.input, "frame of an exposure",
              {.value = "FRAME", .required = true});
  options.add("--fiberflat", &files.flat, "what to divide it by", {.value = "FIBERFLAT"});
  options.add("--sky", &files.sky, "what to take away", {.value = "SKY"});
  options.add("-o,--outfile", &files.output, "frame to write",
              {.value = "FRAME", .required = true});
  add_common(options, files, state->running);
  command.run = [state](const Invocation& call) { return run_calibrate(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
