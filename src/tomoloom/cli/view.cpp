// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom view`: a volume as a page.
#include <memory>
#include <optional>
#include <string>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/view_volume.hpp"

namespace tomoloom::cli {
namespace {

struct ViewCommand {
  ViewJob job;
  std::optional<double> slice, row, column;
  std::string page;
  std::size_t threads = 0;
  LogOptions log;
};

std::optional<std::size_t> whole(const char* option, const std::optional<double>& number) {
  if (!number) return {};
  const auto result = static_cast<std::size_t>(*number);
  if (static_cast<double>(result) == *number) return result;
  throw Error(Status::kUsage, print("%s %g: expected a whole number", option, *number));
}

int run_view(ViewCommand& command) {
  command.job.slice = whole("--slice", command.slice);
  command.job.row = whole("--row", command.row);
  command.job.column = whole("--column", command.column);
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const std::vector<NamedFile> texts{{"-o", command.page}},
      inputs{{"the volume", command.job.volume},
             {"--with", command.job.other},
             {"--scan", command.job.scan.scan},
             {"--flats", command.job.scan.flats},
             {"--darks", command.job.scan.darks}};
  check_distinct(texts, files_that_are_read(inputs));
  check_text_outputs(texts);
  const auto executor = make_executor(command.threads);
  write_text(command.page, view_volume(command.job, *executor, observer));
  observer.info("wrote " + command.page);
  return 0;
}

}  // namespace

Command make_view() {
  Command command{
      .name = "view",
      .text = "show a volume as one self-contained page",
      .footer =
          "Example:\n  tomoloom view volume.h5 -o volume.html --scan scan.h5 --with truth.h5\n\n" +
          exit_codes_of_maker().text()};
  const auto state = std::make_shared<ViewCommand>();
  Options& options = command.options;
  ViewJob& job = state->job;
  options.add("VOLUME", &job.volume, "HDF5, OME-Zarr, or TIFF images", {.required = true});
  options.add("-o,--output", &state->page, "the page, HTML", {.required = true});
  options.add("--with", &job.other, "another volume of the same size, such as the truth",
              {.value = "VOLUME"});
  options.add("--group", &job.group, "exchange, exchange1 ...", {.shows_default = true});
  options.add("--slice", &state->slice, "of the planes that are shown; default: the middle",
              {.value = "N", .interval = between(0, 1e6)});
  options.add("--row", &state->row, "likewise", {.value = "N", .interval = between(0, 1e6)});
  options.add("--column", &state->column, "likewise", {.value = "N", .interval = between(0, 1e6)});
  options.add(
      "--scan", &job.scan.scan,
      "the scan that it is of: the sinogram of the slice, prepared as for the volume, and the "
      "slice with the axis elsewhere",
      {.value = "SCAN"});
  options.add("--flats", &job.scan.flats, "of a scan of TIFF images, as for recon",
              {.value = "STACK"});
  options.add("--darks", &job.scan.darks, "likewise", {.value = "STACK"});
  options.add("--axes", &job.scan.axes, "how many axes, the volume's in the middle; 0: none",
              {.value = "N", .interval = between(0, 101), .shows_default = true});
  options.add("--axis-step", &job.scan.step, "columns of the detector between them",
              {.interval = between(0.01, 1000), .shows_default = true});
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_view(*state); };
  return command;
}

}  // namespace tomoloom::cli
