// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom coadd`: options -> recipe -> a line.
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_step.hpp"
#include "fiberloom/recipes/coadd/coadd_spectra.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::cli {
namespace {

struct CoaddCommand {
  CoaddJob job;
  StepRun run;
};

void add_coadd_options(Options& options, CoaddCommand& c) {
  options.add("-i,--infile", &c.job.inputs, "files of spectra with the same cameras",
              {.value = "SPECTRA", .required = true});
  options.add("-o,--outfile", &c.job.output, "coadd to write",
              {.value = "COADD", .required = true});
  options.flag("--coadd-cameras", &c.job.across_cameras, "one spectrum of all cameras");
  options.add("--nsig", &c.job.cosmic_nsig,
              "cosmic rays of three exposures or more are left out beyond, sigma; 0: none",
              {.interval = at_least(0), .shows_default = true});
  options.add("--lin-step", &c.job.grid.lin_step,
              "one spectrum of all cameras, resampled to steps of this, Angstrom",
              {.interval = above(0)});
  options.add("--log10-step", &c.job.grid.log10_step,
              "the same, to steps of this in log10 of the wavelength", {.interval = above(0)});
  options.add("--wave-min", &c.job.grid.wave_min,
              "first bin of the new grid, Angstrom; default: that of the spectra",
              {.interval = above(0)});
  options.add("--wave-max", &c.job.grid.wave_max,
              "no bin of the new grid beyond this, Angstrom; default: the last of the spectra",
              {.interval = above(0)});
  options.flag(
      "--no-clobber", [&c] { c.job.overwrite = Overwrite::kNo; },
      "refuse to replace an existing file");
  add_verify_option(options, c.job.verify);
  add_step_options(options, c.run);
}

int run_coadd(const Given& given, const CoaddCommand& c) {
  Step step{.name = "coadd"};
  step.check = [&](std::span<const NamedFile> texts) { check_job(c.job, texts); };
  step.work = [&](Executor& executor, const Observer& observer, Json& summary) {
    const CoaddSummary s = coadd_spectra(c.job, executor, observer);
    observer.info(print("%zu spectra of %zu targets -> %s, %zu pixels left out as cosmic rays",
                        s.spectra, s.targets, c.job.output.c_str(), s.cosmics));
    summary["input"] = {{"spectra", paths_json(c.job.inputs)}};
    summary["output"] = c.job.output;
    summary["result"] = {{"spectra", s.spectra},
                         {"targets", s.targets},
                         {"targets_without", s.without},
                         {"cosmic_pixels", s.cosmics},
                         {"cameras", paths_json(s.cameras)}};
  };
  return run_step(step, c.run, given);
}

}  // namespace

Command make_coadd() {
  Command command{.name = "coadd",
                  .text = "one spectrum a target from those of many exposures",
                  .footer =
                      "Example:\n"
                      "  fiberloom coadd -i spectra-0-80613.fits -o coadd-0-80613.fits\n"
                      "  fiberloom coadd -i spectra-0-80613.fits -o coadd-0-80613-log.fits "
                      "--log10-step 1e-4\n\n" +
                      exit_codes_of({.reads = true, .matches = false, .writes = true})};
  const auto state = std::make_shared<CoaddCommand>();
  add_coadd_options(command.options, *state);
  command.run = [state](const Invocation& call) { return run_coadd(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
