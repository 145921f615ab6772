// SPDX-License-Identifier: BSD-3-Clause
// `skyloom compare`: how far two maps are apart.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/program/standard_output.hpp"
#include "skyloom/cli/command.hpp"
#include "skyloom/cli/exit_codes.hpp"
#include "skyloom/recipes/compare_maps.hpp"

namespace skyloom::cli {
namespace {

struct CompareCommand {
  std::string first, second, json;
  bool free_mean = false;
  std::optional<double> most_rms, most_relative, most_largest, most_alone;
  LogOptions log;
};

/// The column and row of a flat map's cell, from the east and from the south; the first is 0.
struct Cell {
  std::size_t column = 0, row = 0;
};

Cell cell_of(Pixel pixel, std::size_t width) {
  const auto number = static_cast<std::size_t>(pixel);
  return {.column = number % width, .row = number / width};
}

Json json_of(const ColumnDifference& d, std::size_t width) {
  Json json{{"name", d.name},
            {"pixels", d.pixels},
            {"first_alone", d.first_alone},
            {"second_alone", d.second_alone},
            {"mean_first", d.mean_first},
            {"mean_second", d.mean_second},
            {"spread_second", d.spread_second},
            {"rms", d.rms},
            {"relative", d.relative},
            {"largest", d.largest},
            {"largest_at", d.largest_at},
            {"correlation", d.correlation}};
  if (width > 0) {
    const Cell at = cell_of(d.largest_at, width);
    json["largest_at"] = {at.column, at.row};
  }
  return json;
}

std::string text_of(const ColumnDifference& d, std::size_t width) {
  std::string at = print("pixel %d (NESTED)", d.largest_at);
  if (width > 0) {
    const Cell cell = cell_of(d.largest_at, width);
    at = print("column %zu, row %zu", cell.column, cell.row);
  }
  return print(
      "%s: %zu pixels; in one alone %zu and %zu\n"
      "  rms %.6g, relative %.6g, largest %.6g at %s\n"
      "  means %.6g and %.6g, correlation %.9g\n",
      d.name.c_str(), d.pixels, d.first_alone, d.second_alone, d.rms, d.relative, d.largest,
      at.c_str(), d.mean_first, d.mean_second, d.correlation);
}

int run_compare(const CompareCommand& command) {
  Console console(command.log.threshold());
  const std::vector<NamedFile> texts{{"--json", command.json}};
  check_text_outputs(texts);
  const std::vector<NamedFile> maps{{"A", command.first}, {"B", command.second}};
  check_distinct(texts, maps);
  const MapDifference found =
      compare_maps(command.first, command.second,
                   command.free_mean ? Means::kTakenOff : Means::kKept, console.observer());
  bool within = !found.columns.empty();
  Json json{{"program", "skyloom compare"}, {"columns", Json::array()}};
  for (const ColumnDifference& d : found.columns) {
    const auto alone = static_cast<double>(d.first_alone + d.second_alone);
    within = within && d.pixels > 0 && alone <= command.most_alone.value_or(alone) &&
             d.rms <= command.most_rms.value_or(d.rms) &&
             d.relative <= command.most_relative.value_or(d.relative) &&
             d.largest <= command.most_largest.value_or(d.largest);
    json["columns"].push_back(json_of(d, found.width));
    if (command.json != "-") put(text_of(d, found.width));
  }
  json["within_bounds"] = within;
  if (!command.json.empty()) write_text(command.json, json.dump(2) + "\n");
  return within ? 0 : 1;
}

}  // namespace

Command make_compare() {
  Command command{.name = "compare",
                  .text = "say how far two maps are apart",
                  .footer =
                      "Example:\n  skyloom compare maps/map.fits other/map.fits --free-mean "
                      "--max-relative 1e-6\n\nExit code 1: beyond a bound, or no pixel in "
                      "both.\n" +
                      exit_codes_of_reader().text()};
  const auto state = std::make_shared<CompareCommand>();
  Options& options = command.options;
  options.add("A", &state->first, "a map: of HEALPix pixels (FITS, HDF5), or flat (FITS)",
              {.required = true});
  options.add("B", &state->second, "what it is held against", {.required = true});
  options.flag(
      "--free-mean", [state] { state->free_mean = true; },
      "the mean of the first column's difference does not count: destriping leaves it open");
  options.add("--max-rms", &state->most_rms, "exit code 1 beyond this rms, of any column",
              {.interval = at_least(0)});
  options.add("--max-relative", &state->most_relative,
              "exit code 1 beyond this rms over the spread of B", {.interval = at_least(0)});
  options.add("--max-largest", &state->most_largest, "exit code 1 beyond this largest difference",
              {.interval = at_least(0)});
  options.add("--max-alone", &state->most_alone,
              "exit code 1 where more pixels have a value in one map alone, of any column",
              {.interval = at_least(0)});
  options.add("--json", &state->json, "the numbers as JSON; - is standard output");
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_compare(*state); };
  return command;
}

}  // namespace skyloom::cli
