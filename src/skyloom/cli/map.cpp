// SPDX-License-Identifier: BSD-3-Clause
// `skyloom map`: stored observations into maps.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/program/console.hpp"
#include "loom/program/heap.hpp"
#include "loom/program/rank_options.hpp"
#include "loom/program/row_options.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/cli/command.hpp"
#include "skyloom/cli/exit_codes.hpp"
#include "skyloom/cli/map_summary.hpp"
#include "skyloom/cli/on_ranks.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/map_option_table.hpp"
#include "skyloom/recipes/read_option_table.hpp"

namespace skyloom::cli {
namespace {

struct MapCommand {
  std::vector<std::string> observations;
  StoredOptions data;
  MapJob maps;
  std::string json, memory, mpi = "auto", coord;  ///< empty: as the observations say
  std::size_t threads = 0;
  LogOptions log;
};

void write_json(const MapCommand& command, const MapSummary& summary, const RunFacts& facts) {
  Json json = summary_json(summary, command.maps, facts);
  for (const auto& [key, text] : option_texts(read_option_rows(), command.data)) {
    json["options"][key] = text;
  }
  json["options"]["coord"] = command.maps.coordinates;
  write_text(command.json, json.dump(2) + "\n");
}

/// The first of several processes looks for all of them.
void check_files(const MapCommand& command) {
  const std::vector<NamedFile> others{{"--json", command.json}};
  std::vector<NamedFile> inputs;
  check_text_outputs(others);
  for (const std::string& path : command.observations) inputs.push_back({"an observation", path});
  check_map_files(command.maps, others, inputs);
}

/// COORDSYS: what was asked for, else what the observations say, else C.
void settle_frame(const StoredTod& source, MapCommand& command, const Observer& observer) {
  std::string said = command.coord;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& of = source.observation(i);
    if (said.empty()) said = of.frame;
    if (of.frame.empty() || of.frame == said) continue;
    observer.warn("observation " + of.name + " is in " + of.frame + ", the maps' COORDSYS is " +
                  said);
  }
  if (!said.empty()) command.maps.coordinates = said;
}

int run_map(MapCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  if (!command.memory.empty()) command.maps.memory = parse_bytes(command.memory);
  const auto work = [&](Console& console, RankCompany* company, const RankFacts& ranks) {
    const Observer observer = console.observer();
    if (company == nullptr || company->first()) check_files(command);
    const auto executor = make_executor(command.threads);
    return_large_blocks();  // what reading needed is there for the maps
    const StoredTod source(command.observations, command.data);
    settle_frame(source, command, observer);
    if (company == nullptr || company->first()) {
      for (const std::string& note : source.notes()) observer.warn(note);
    }
    const MapSummary summary = make_maps(source, command.maps, *executor, observer, company);
    observer.info(summary_line(summary));
    tell_of_no_numbers(summary, observer);
    if (command.json.empty() || (company != nullptr && !company->first())) return;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    write_json(command, summary,
               {.program = "skyloom map",
                .threads = executor->concurrency(),
                .wall_s = wall.count(),
                .ranks = ranks});
  };
  return on_ranks(command.mpi, command.log, work);
}

}  // namespace

Command make_map() {
  Command command{
      .name = "map",
      .text = "make maps of stored observations",
      .footer = "Example:\n  skyloom map data/*.h5 -o maps --nside 512\n\n" +
                exit_codes_of_maker().code(Status::kDevice).code(Status::kMemory).text()};
  const auto state = std::make_shared<MapCommand>();
  Options& options = command.options;
  options.group("Files");
  options.add("OBSERVATION", &state->observations, "TOAST observations (HDF5, format 2)",
              {.required = true});
  options.add("-o,--output", &state->maps.folder, "where the maps go",
              {.value = "DIR", .required = true});
  add_no_clobber_option(options, state->maps.overwrite);
  options.add("--json", &state->json, "summary as JSON; - is standard output");
  add_rows(options, read_option_rows(), kReadOptions, state->data);
  add_rows(options, map_option_rows(), kMapOptions, state->maps);
  options.add("--coord", &state->coord,
              "what the boresight is in, for the files: C (equatorial), E or G; default: what the "
              "observations say, or C",
              {.words = {"C", "E", "G"}, .word_case = WordCase::kAny});
  options.group("Running");
  options.add("--memory", &state->memory,
              "most that maps may take: known before they are begun; default: no bound",
              {.value = "BYTES"});
  add_thread_option(options, state->threads);
  add_mpi_option(options, state->mpi);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_map(*state); };
  return command;
}

}  // namespace skyloom::cli
