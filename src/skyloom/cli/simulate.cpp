// SPDX-License-Identifier: BSD-3-Clause
// `skyloom simulate`: data of a satellite or from the ground, and maps of them without a file
// between.
#include <chrono>
#include <memory>
#include <string>

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
#include "skyloom/recipes/map_option_table.hpp"
#include "skyloom/recipes/map_wishes.hpp"
#include "skyloom/recipes/simulate_option_table.hpp"
#include "skyloom/recipes/simulation.hpp"
#include "skyloom/recipes/write_observations.hpp"

namespace skyloom::cli {
namespace {

struct SimulateCommand {
  SimulateJob job;
  MapJob maps;
  std::string folder;  ///< of observations; empty: none are written
  std::string json, memory, mpi = "auto";
  std::size_t threads = 0;
  LogOptions log;
};

std::shared_ptr<const SkyMap> map_of(const std::string& path, const Observer& observer) {
  if (path.empty()) return nullptr;
  auto sky = std::make_shared<SkyMap>(read_sky(path));
  if (sky->unseen > 0) {
    observer.warn(path + ": " + std::to_string(sky->unseen) + " pixels without a value are 0");
  }
  if (!sky->beside.empty()) {
    observer.warn(path + ": no columns of Q and U (but " + sky->beside + "): a map of I alone");
  }
  return sky;
}

/// A sky of other coordinates than the scan's is not turned.
void tell_frame(const std::string& path, const SkyMap* sky, const std::string& scanned,
                const Observer& observer) {
  if (sky == nullptr) return;
  if (const auto said = other_frame(path, sky->frame, scanned)) observer.warn(*said);
}

void write_summary(const SimulateCommand& command, const MapSummary& summary,
                   const RunFacts& facts) {
  Json json = summary_json(summary, command.maps, facts);
  for (const auto& [key, text] : option_texts(simulate_option_rows(), command.job)) {
    json["options"][key] = text;
  }
  write_text(command.json, json.dump(2) + "\n");
}

/// Options that would be passed over are a mistake, not nothing.
void check_wishes(const Given& given, const SimulateCommand& command) {
  if (command.maps.folder.empty() && command.folder.empty()) {
    throw Error(Status::kUsage, "nothing is asked for: expected -o, --maps or both");
  }
  if (!command.maps.folder.empty()) return;
  if (!command.json.empty()) {
    throw Error(Status::kUsage, "--json: expected --maps, which it tells of");
  }
  for (const auto& row : map_option_rows()) {
    const std::string name = loom::long_name(row.names);
    if (given.has(name)) throw Error(Status::kUsage, name + ": expected --maps, which it is of");
  }
}

/// Before anything is written. The first of several processes looks for all of them.
void check_files(const SimulateCommand& command, const TodSource& source) {
  std::vector<NamedFile> others{{"--json", command.json}};
  check_text_outputs(others);
  if (!command.folder.empty()) {
    for (const std::string& path : observation_files(source, command.folder)) {
      others.push_back({"an observation", path});
    }
  }
  const SimulateJob& job = command.job;
  const std::vector<NamedFile> inputs{{"--sky", job.sky},
                                      {"--ground-map", job.ground_map},
                                      {"--schedule", job.schedule},
                                      {"--focal-plane", job.focal_plane}};
  if (command.maps.folder.empty()) return check_distinct(others, inputs);
  check_map_wishes(source, command.maps);
  check_map_files(command.maps, others, inputs);
}

int run_simulate(const Given& given, SimulateCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  check_wishes(given, command);
  if (!command.memory.empty()) command.maps.memory = parse_bytes(command.memory);
  SimulationOptions simulation = simulation_of(command.job);
  command.maps.coordinates = frame_letter(simulation);
  const auto work = [&](Console& console, RankCompany* company, const RankFacts& ranks) {
    const Observer observer = console.observer();
    const auto executor = make_executor(command.threads);
    return_large_blocks();  // what the noise needed is there for the maps
    simulation.ground.map = map_of(command.job.ground_map, observer);
    const auto sky = map_of(command.job.sky, observer);
    tell_frame(command.job.sky, sky.get(), command.maps.coordinates, observer);
    const SimulatedTod source(simulation, sky);
    if (company == nullptr || company->first()) check_files(command, source);
    if (!command.folder.empty()) {
      const Turn turn = company != nullptr ? Turn{company->rank(), company->size()} : Turn{};
      const auto paths = write_observations(source, command.folder, command.maps.overwrite,
                                            *executor, observer, turn);
      for (const std::string& path : paths) observer.info("wrote " + path);
    }
    if (command.maps.folder.empty()) return;
    const MapSummary summary = make_maps(source, command.maps, *executor, observer, company);
    observer.info(summary_line(summary));
    tell_of_no_numbers(summary, observer);
    if (command.json.empty() || (company != nullptr && !company->first())) return;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    write_summary(command, summary,
                  {.program = "skyloom simulate",
                   .threads = executor->concurrency(),
                   .wall_s = wall.count(),
                   .ranks = ranks});
  };
  return on_ranks(command.mpi, command.log, work);
}

}  // namespace

Command make_simulate() {
  Command command{
      .name = "simulate",
      .text = "simulate data of a satellite or from the ground, and map them",
      .footer = "Example:\n  skyloom simulate --sky sky.fits --pixels 19 --maps maps\n\n" +
                exit_codes_of_maker().code(Status::kDevice).code(Status::kMemory).text()};
  const auto state = std::make_shared<SimulateCommand>();
  Options& options = command.options;
  options.group("Files");
  options.add("-o,--output", &state->folder, "where the observations go (HDF5)", {.value = "DIR"});
  options.add("--maps", &state->maps.folder,
              "where maps of them go: no observation need be written", {.value = "DIR"});
  options.add("--schedule", &state->job.schedule,
              "scans from the ground, instead of a satellite's: TOAST's format, or skyloom "
              "schedule's");
  options.add("--focal-plane", &state->job.focal_plane,
              "detectors, instead of the hexagon's: a focal plane or an observation of TOAST's "
              "(HDF5), with their noise where it is there");
  options.add("--sky", &state->job.sky,
              "a HEALPix map (FITS, HDF5) of I, or of I, Q, U: what is seen");
  options.add("--ground-map", &state->job.ground_map,
              "a HEALPix map of the horizon that scans from the ground see as well: longitude is "
              "-azimuth, latitude elevation");
  options.add("--json", &state->json, "summary as JSON; - is standard output");
  for (const char* group :
       {kPlaneOptions, kScanOptions, kGroundOptions, kSkyOptions, kFaultOptions}) {
    add_rows(options, simulate_option_rows(), group, state->job);
  }
  add_rows(options, map_option_rows(), kMapOptions, state->maps);
  options.group("Running");
  add_no_clobber_option(options, state->maps.overwrite);
  options.add("--memory", &state->memory,
              "most that maps may take: known before they are begun; default: no bound",
              {.value = "BYTES"});
  add_thread_option(options, state->threads);
  add_mpi_option(options, state->mpi);
  add_log_options(options, state->log);
  command.run = [state](const Invocation& call) { return run_simulate(call.given, *state); };
  return command;
}

}  // namespace skyloom::cli
