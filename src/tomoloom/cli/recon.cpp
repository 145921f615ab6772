// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom recon`: a scan into a volume.
#include <charconv>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/version.hpp"

namespace tomoloom::cli {
namespace {

struct ReconCommand {
  ReconJob job;
  std::string rows, centre, memory, json;
  std::size_t threads = 0;
  LogOptions log;
};

/// "FIRST:END". Throws kUsage.
void parse_rows(const std::string& text, ReconJob& job) {
  const char* const end = text.data() + text.size();
  std::size_t last = 0;
  const auto [colon, bad_first] = std::from_chars(text.data(), end, job.first_row);
  if (bad_first == std::errc() && colon != end && *colon == ':') {
    const auto [rest, bad_last] = std::from_chars(colon + 1, end, last);
    if (bad_last == std::errc() && rest == end) {
      job.end_row = last;
      return;
    }
  }
  throw Error(Status::kUsage, "--rows " + text + ": expected FIRST:END, such as 100:132");
}

/// A column, or "auto". Throws kUsage.
void parse_centre(const std::string& text, ReconJob& job) {
  job.find_centre = text == "auto";
  if (job.find_centre || text.empty()) return;
  double column = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, bad] = std::from_chars(text.data(), end, column);
  if (bad != std::errc() || rest != end) {
    throw Error(Status::kUsage, "--center " + text + ": expected a column, such as 515.4, or auto");
  }
  job.centre = column;
}

Json seconds(const StageTime& time) { return {{"wall_s", time.wall_s}, {"cpu_s", time.cpu_s}}; }

std::string summary_text(const ReconSummary& summary, const Given& given, std::size_t threads,
                         double wall_s) {
  const ScanLayout& layout = summary.layout;
  Json json;
  json["program"] = "tomoloom recon";
  json["version"] = version();
  json["isa"] = isa_name(active_isa());
  json["threads"] = threads;
  json["options"] = given.texts();
  json["scan"] = {{"angles", layout.angles}, {"rows", layout.rows},   {"columns", layout.columns},
                  {"flats", layout.flats},   {"darks", layout.darks}, {"type", layout.type}};
  json["volume"] = {{"first_row", summary.first_row},
                    {"slices", summary.slices},
                    {"center", summary.centre},
                    {"grid", summary.grid},
                    {"blind_pixels", summary.blind}};
  json["seconds"] = {{"wall", wall_s},
                     {"read", seconds(summary.read)},
                     {"compute", seconds(summary.compute)},
                     {"write", seconds(summary.write)}};
  json["memory"] = {{"estimate_bytes", summary.memory}, {"peak_bytes", peak_memory_bytes()}};
  return json.dump(2) + "\n";
}

int run_recon(const Given& given, ReconCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  if (!command.rows.empty()) parse_rows(command.rows, command.job);
  parse_centre(command.centre, command.job);
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
                      command.job.output.c_str(), summary.slices, summary.layout.columns,
                      summary.layout.columns, wall, summary.centre));
  if (!command.json.empty()) {
    write_text(command.json, summary_text(summary, given, executor->concurrency(), wall));
  }
  return 0;
}

void add_files(Options& options, ReconCommand& command) {
  ReconJob& job = command.job;
  options.group("Files");
  options.add("SCAN", &job.scan, "a Data Exchange file (HDF5)", {.required = true});
  options.add("-o,--output", &job.output, "the volume (HDF5)", {.required = true});
  options.add("--group", &job.group, "group of the scan: exchange, exchange1 ...",
              {.shows_default = true});
  options.add("--rows", &command.rows, "rows FIRST to END - 1 of the projections; default: all",
              {.value = "FIRST:END"});
  options.flag(
      "--no-clobber", [&job] { job.overwrite = Overwrite::kNo; }, "refuse to replace the output");
  options.add("--json", &command.json, "summary as JSON; - is standard output");
}

void add_preparation(Options& options, ReconJob& job) {
  options.group("Preparation");
  options.choice<InputKind>("--input", &job.input,
                            {{"counts", InputKind::kCounts},
                             {"transmissions", InputKind::kTransmissions},
                             {"integrals", InputKind::kIntegrals}},
                            "what the numbers are; of counts flats and darks are used");
  options.choice<Averaging>("--averaging", &job.averaging,
                            {{"mean", Averaging::kMean}, {"median", Averaging::kMedian}},
                            "of flats and of darks");
  options.choice<Stripe>("--stripe", &job.stripe, {{"none", Stripe::kNone}, {"sf", Stripe::kSf}},
                         "how to remove stripes, which become rings");
  options.add("--stripe-size", &job.stripe_size, "columns of the running mean of --stripe sf",
              {.value = "N", .interval = between(1, 10000), .shows_default = true});
}

void add_reconstruction(Options& options, ReconCommand& command) {
  ReconJob& job = command.job;
  options.group("Reconstruction");
  options.choice<Method>("--method", &job.method,
                         {{"exact", Method::kExact}, {"gridrec", Method::kGridrec}},
                         "exact: right in value; gridrec: the numbers of TomoPy's gridrec");
  std::vector<std::pair<std::string, Filter>> filters;
  for (const auto& [filter, name] : filter_names()) filters.emplace_back(name, filter);
  options.choice<Filter>("--filter", &job.filter.filter, filters, "as TomoPy names them");
  options.add("--filter-cutoff", &job.filter.cutoff,
              "cycles a pixel, of hann, hamming, parzen, butterworth",
              {.interval = between(1e-3, 100), .shows_default = true});
  options.add("--filter-order", &job.filter.order, "of butterworth",
              {.interval = between(0.1, 100), .shows_default = true});
  options.add("--center", &command.centre,
              "column that the axis is projected to; auto: found in the scan; default: the middle "
              "of the row",
              {.value = "COLUMN|auto"});
  options.add("--mask", &job.mask, "radius of what is shown in half widths of a slice; 0: all",
              {.interval = between(0, 2), .shows_default = true});
}

}  // namespace

Command make_recon() {
  Command command{
      .name = "recon",
      .text = "reconstruct a volume from a scan",
      .footer = "Example:\n  tomoloom recon scan.h5 -o volume.h5 --center 515.4 --stripe sf\n\n" +
                exit_codes_of_reader()
                    .range(Status::kUnwritable, Status::kOutputExists, "output not writable")
                    .code(Status::kInterrupted)
                    .code(Status::kMemory)
                    .text()};
  const auto state = std::make_shared<ReconCommand>();
  Options& options = command.options;
  add_files(options, *state);
  add_preparation(options, state->job);
  add_reconstruction(options, *state);
  options.group("Running");
  options.add("--memory", &state->memory,
              "most that may be taken; default: two thirds of what is free", {.value = "BYTES"});
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation& call) { return run_recon(call.given, *state); };
  return command;
}

}  // namespace tomoloom::cli
