// SPDX-License-Identifier: BSD-3-Clause
// `skyloom view`: maps as a page.
#include <memory>
#include <string>

#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/cli/command.hpp"
#include "skyloom/cli/exit_codes.hpp"
#include "skyloom/recipes/view_maps.hpp"

namespace skyloom::cli {
namespace {

struct ViewCommand {
  ViewJob job;
  std::string page, middle;
  std::size_t threads = 0;
  LogOptions log;
};

int run_view(ViewCommand& command) {
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  if (!command.middle.empty()) command.job.middle = sky_place_of(command.middle);
  const std::vector<NamedFile> texts{{"-o", command.page}};
  check_text_outputs(texts);
  const ViewJob& job = command.job;
  const std::vector<NamedFile> inputs{{"MAPS", job.folder},
                                      {"--with", job.other},
                                      {"--noise", job.noise},
                                      {"--summary", job.summary}};
  check_distinct(texts, files_that_are_read(inputs));
  const auto executor = make_executor(command.threads);
  write_text(command.page, view_maps(command.job, *executor, observer));
  observer.info("wrote " + command.page);
  return 0;
}

}  // namespace

Command make_view() {
  Command command{.name = "view",
                  .text = "show maps, or the noise of an observation, as one self-contained page",
                  .footer = "Example:\n  skyloom view maps -o maps.html --with other-maps\n\n" +
                            exit_codes_of_maker().text()};
  const auto state = std::make_shared<ViewCommand>();
  Options& options = command.options;
  ViewJob& job = state->job;
  options.add(
      "MAPS", &job.folder,
      "a folder of maps, or one map, HEALPix (FITS, HDF5) or flat (FITS); or an observation, whose "
      "noise is shown",
      {.required = true});
  options.add("-o,--output", &state->page, "the page, HTML", {.required = true});
  options.add("--with", &job.other, "other maps of the same pixels: differences are shown",
              {.value = "MAPS"});
  options.add("--noise", &job.noise,
              "an observation: spectra of its detectors are shown beside its noise model",
              {.value = "FILE"});
  options.add("--summary", &job.summary,
              "--json of the run; default: summary.json beside the maps, where it is there",
              {.value = "FILE"});
  options.add("--middle", &state->middle,
              "of the part that is shown larger, degrees; default: where most samples are",
              {.value = "LON,LAT"});
  options.add("--size", &job.size_deg, "of that part, degrees",
              {.interval = between(0.01, 150), .shows_default = true});
  options.add("--multipoles", &job.multipoles,
              "to which spectra go, at most, of HEALPix maps; 0: none",
              {.value = "L", .interval = between(0, 768), .shows_default = true});
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_view(*state); };
  return command;
}

}  // namespace skyloom::cli
