// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom recon`: a scan into a volume.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/program/row_options.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/version.hpp"

namespace tomoloom::cli {
namespace {

struct ReconCommand {
  ReconJob job;
  std::string memory, json;
  std::size_t threads = 0;
  LogOptions log;
};

Json seconds(const StageTime& time) { return {{"wall_s", time.wall_s}, {"cpu_s", time.cpu_s}}; }

std::string summary_text(const ReconSummary& summary, const ReconJob& job, std::size_t threads,
                         double wall_s) {
  const ScanLayout& layout = summary.layout;
  Json json;
  json["program"] = "tomoloom recon";
  json["version"] = version();
  json["isa"] = isa_name(active_isa());
  json["threads"] = threads;
  json["options"] = Json::object();
  for (const auto& [key, text] : option_texts(recon_option_rows(), job)) {
    json["options"][key] = text;
  }
  json["scan"] = {{"angles", layout.angles}, {"rows", layout.rows},   {"columns", layout.columns},
                  {"flats", layout.flats},   {"darks", layout.darks}, {"type", layout.type}};
  json["volume"] = {{"first_row", summary.first_row},
                    {"slices", summary.slices},
                    {"width", summary.width},
                    {"center", summary.centre},
                    {"grid", summary.grid},
                    {"blind_pixels", summary.flaws.blind},
                    {"saturated_pixels", summary.flaws.saturated},
                    {"resumed_slices", summary.resumed}};
  json["seconds"] = {{"wall", wall_s},
                     {"read", seconds(summary.read)},
                     {"compute", seconds(summary.compute)},
                     {"write", seconds(summary.write)}};
  if (job.phase.method != Phase::kNone) json["seconds"]["phase"] = seconds(summary.phase);
  json["memory"] = {{"estimate_bytes", summary.memory},
                    {"peak_bytes", peak_memory_bytes()},
                    {"overlap", summary.overlap},
                    {"spooled", summary.spooled}};
  return json.dump(2) + "\n";
}

int run_recon(ReconCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  if (!command.memory.empty()) command.job.memory = parse_bytes(command.memory);
  const std::vector<NamedFile> texts{{"--json", command.json}};
  check_text_outputs(texts);
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const auto executor = make_executor(command.threads);
  const ReconSummary summary = reconstruct_scan(command.job, *executor, observer);
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  observer.info(print("wrote %s: %zu slices of %zu x %zu in %.1f s (axis at column %.3f)",
                      command.job.output.c_str(), summary.slices, summary.width, summary.width,
                      wall, summary.centre));
  if (!command.json.empty()) {
    write_text(command.json, summary_text(summary, command.job, executor->concurrency(), wall));
  }
  return 0;
}

void add_files(Options& options, ReconCommand& command) {
  ReconJob& job = command.job;
  options.group("Files");
  options.add("SCAN", &job.scan, "a Data Exchange file (HDF5), or a folder or file of TIFF images",
              {.required = true});
  options.add("-o,--output", &job.output, "the volume: an HDF5 file, or a folder (--format tiff)",
              {.required = true});
  options.flag(
      "--no-clobber", [&job] { job.overwrite = Overwrite::kNo; }, "refuse to replace the output");
  options.flag("--resume", &job.resume,
               "keep what is done when interrupted (OUTPUT.part), and go on from there");
  options.add("--json", &command.json, "summary as JSON; - is standard output");
}

}  // namespace

Command make_recon() {
  Command command{
      .name = "recon",
      .text = "reconstruct a volume from a scan",
      .footer = "Example:\n  tomoloom recon scan.h5 -o volume.h5 --center 515.4 --stripe sf\n\n" +
                exit_codes_of_maker().code(Status::kMemory).text()};
  const auto state = std::make_shared<ReconCommand>();
  Options& options = command.options;
  add_files(options, *state);
  for (const char* group : {kScanOptions, kPreparationOptions, kReconstructionOptions}) {
    add_rows(options, recon_option_rows(), group, state->job);
  }
  options.group("Running");
  options.add("--memory", &state->memory,
              "most that may be taken; default: two thirds of what is free", {.value = "BYTES"});
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_recon(*state); };
  return command;
}

}  // namespace tomoloom::cli
