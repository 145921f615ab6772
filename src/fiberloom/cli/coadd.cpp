// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom coadd`: options -> recipe -> a line.
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_step.hpp"
#include "fiberloom/recipes/coadd/coadd_option_table.hpp"
#include "fiberloom/recipes/coadd/coadd_spectra.hpp"
#include "loom/base/print.hpp"
#include "loom/program/row_options.hpp"

namespace fiberloom::cli {
namespace {

struct CoaddCommand {
  CoaddJob job;
  StepRun run;
};

void add_coadd_options(Options& options, CoaddCommand& c) {
  for (const CoaddOptionRow& row : coadd_option_rows()) loom::add_row(options, row, c.job);
  add_no_clobber_option(options, c.job.overwrite);
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
    summary["settings"] = Json::object();
    for (const auto& [key, value] :
         loom::option_texts<CoaddJob>(coadd_option_rows(), c.job, true)) {
      summary["settings"][key] = value;
    }
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
