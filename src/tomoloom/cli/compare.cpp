// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom compare`: how far two volumes are apart.
#include <memory>
#include <optional>
#include <string>

#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/program/standard_output.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/compare_volumes.hpp"
#include "tomoloom/recipes/recon_scan.hpp"

namespace tomoloom::cli {
namespace {

struct CompareCommand {
  std::string first, second, group = "exchange", json;
  double circle = 0;
  std::optional<double> most_rms, most_relative;
  LogOptions log;
};

std::string json_text(const VolumeDifference& d, bool within) {
  const Json json{{"program", "tomoloom compare"},
                  {"pixels", d.count},
                  {"left_out", d.left_out},
                  {"left_out_of_one", d.one_sided},
                  {"rms", d.rms},
                  {"relative_l2", d.relative},
                  {"largest", d.largest},
                  {"largest_at", {{"slice", d.slice}, {"row", d.row}, {"column", d.column}}},
                  {"mean_first", d.mean_first},
                  {"mean_second", d.mean_second},
                  {"gain", d.gain},
                  {"correlation", d.correlation},
                  {"worst_slice", d.worst_slice},
                  {"worst_slice_rms", d.worst_rms},
                  {"within_bounds", within}};
  return json.dump(2) + "\n";
}

int run_compare(const CompareCommand& command) {
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const std::vector<NamedFile> texts{{"--json", command.json}},
      inputs{{"a volume", command.first}, {"a volume", command.second}};
  check_distinct(texts, files_that_are_read(inputs));
  check_text_outputs(texts);
  const auto first = open_slices(command.first, command.group);
  const auto second = open_slices(command.second, command.group);
  const VolumeDifference d = compare_volumes(*first, *second, command.circle, observer);
  const bool bound = command.most_rms || command.most_relative;
  const bool within = d.count > 0 && d.rms <= command.most_rms.value_or(d.rms) &&
                      d.relative <= command.most_relative.value_or(d.relative) &&
                      !(bound && d.one_sided > 0);
  if (command.json != "-") {
    put(print("pixels           %zu, %zu of them left out: no number in both, or (%zu) in one\n",
              d.count + d.left_out, d.left_out, d.one_sided));
    put(print("rms              %.6g\nrelative L2      %.6g\n", d.rms, d.relative));
    put(print("largest          %.6g at slice %zu, row %zu, column %zu\n", d.largest, d.slice,
              d.row, d.column));
    put(print("means            %.6g, %.6g\n", d.mean_first, d.mean_second));
    put(print("gain             %.6g\ncorrelation      %.6g\n", d.gain, d.correlation));
    put(print("worst slice      %zu, rms %.6g\n", d.worst_slice, d.worst_rms));
  }
  if (!command.json.empty()) write_text(command.json, json_text(d, within));
  return within ? 0 : 1;
}

}  // namespace

Command make_compare() {
  Command command{.name = "compare",
                  .text = "say how far two volumes are apart",
                  .footer =
                      "Example:\n  tomoloom compare volume.h5 truth.h5 --circle 0.95 "
                      "--max-rms 0.01\n\nExit code 1: beyond a bound, or with one a pixel is no "
                      "number in one volume "
                      "alone.\n" +
                      exit_codes_of_reader().code(Status::kInterrupted).text()};
  const auto state = std::make_shared<CompareCommand>();
  Options& options = command.options;
  options.add("A", &state->first, "a volume: HDF5, OME-Zarr, or TIFF images", {.required = true});
  options.add("B", &state->second, "what it is held against", {.required = true});
  options.add("--group", &state->group, "exchange, exchange1 ...", {.shows_default = true});
  options.add("--circle", &state->circle, "within so many half widths of a slice; 0: all of it",
              {.interval = at_least(0), .shows_default = true});
  options.add("--max-rms", &state->most_rms, "exit code 1 beyond this root of the mean square",
              {.interval = at_least(0)});
  options.add("--max-relative", &state->most_relative, "exit code 1 beyond this relative L2",
              {.interval = at_least(0)});
  options.add("--json", &state->json, "the numbers as JSON; - is standard output");
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_compare(*state); };
  return command;
}

}  // namespace tomoloom::cli
