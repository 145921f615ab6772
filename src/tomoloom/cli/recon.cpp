// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom recon`: a scan into a volume, or many scans into a folder of them.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/program/console.hpp"
#include "loom/program/row_options.hpp"
#include "loom/runtime/executors.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/cli/recon_command.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/scans/scan_list.hpp"

namespace tomoloom::cli {
namespace {

constexpr const char* kManyScans = "Many scans";

/// Whether volumes go into a folder: there are several scans, or -o names one for HDF5 files.
bool is_for_many(const ReconCommand& command) {
  const bool folder =
      command.job.format == VolumeFormat::kHdf5 && scans::is_folder_name(command.job.output);
  return folder || command.rebuild || scans::are_many(command.scans);
}

void refuse_for_one(const Given& given) {
  for (const char* name : {"--dry-run", "--retry", "--verify", "--by-content", "--claim-timeout"}) {
    if (!given.has(name)) continue;
    throw Error(Status::kUsage, std::string(name) +
                                    " is for many scans: several, a folder of them or a list, "
                                    "and -o FOLDER");
  }
}

[[noreturn]] void refuse_preview(const char* what) {
  throw Error(Status::kUsage, std::string("--preview is for one scan in one process, not ") + what);
}

/// Planes of the scan while it grows, and until it can be read as a whole.
void run_preview(const ReconCommand& command, Executor& executor, const Observer& observer) {
  const PreviewSummary seen =
      preview_scan(command.job, command.preview, executor, observer,
                   [&](const std::string& page) { write_text(command.preview.page, page); });
  observer.info(print("%s: %zu of %zu projections, the first planes after %.1f s",
                      command.preview.page.c_str(), seen.projections, seen.expected, seen.first_s));
  wait_for_writer(command.job.scan, command.preview.patience_s, observer);
}

int run_recon(const Given& given, ReconCommand& command) {
  if (command.job.format == VolumeFormat::kHdf5 && command.job.output.ends_with(".zarr")) {
    command.job.format = VolumeFormat::kZarr;
  }
  if (command.job.format == VolumeFormat::kHdf5 &&
      (command.job.output.ends_with(".tif") || command.job.output.ends_with(".tiff"))) {
    throw Error(Status::kUsage, command.job.output +
                                    ": -o: expected a name for an HDF5 file; --format tiff makes a "
                                    "folder of images");
  }
  if (!command.memory.empty()) command.job.memory = parse_bytes(command.memory);
  const bool previews = !command.preview.page.empty();
  if (previews && is_for_many(command)) refuse_preview("many scans");
  if (is_for_many(command)) return run_many_scans(command);
  refuse_for_one(given);
  command.job.scan = command.scans.front();
  scans::check_folder(command.job.scan);
  if (const auto launch = decide_launch(process_environment(), mpi_choice(command.ranks.mpi))) {
    if (previews) refuse_preview("several ranks");
    return run_one_scan_on_ranks(command, *launch);
  }
  return run_one_scan(command);
}

void add_files(Options& options, ReconCommand& command) {
  ReconJob& job = command.job;
  options.group("Files");
  options.add("SCAN", &command.scans,
              "a Data Exchange file (HDF5), or a folder or file of TIFF images; of many scans: "
              "several, a folder with Data Exchange files in or below it, a list (.txt: a scan a "
              "line, behind it its axis where wanted)",
              {.required = true});
  options.add("-o,--output", &job.output,
              "the volume: an HDF5 file, or a folder (--format tiff, or NAME.zarr); of many scans "
              "the folder of NAME_rec.h5",
              {.required = true});
  add_no_clobber_option(options, job.overwrite);
  options.flag("--resume", &job.resume,
               "keep what is done when interrupted (OUTPUT.part), and go on from there");
  options.add("--json", &command.json, "summary as JSON; - is standard output");
}

void add_many(Options& options, ReconCommand& command) {
  options.group(kManyScans);
  options.flag("--dry-run", &command.dry_run,
               "list what would be done, what is there and what is missing; do nothing");
  options.add("--retry", &command.retry, "try scans that fail, or have failed before, N times more",
              {.value = "N", .interval = between(0, 1000)});
  options.flag("--verify", &command.verify, "read volumes again and compare their checksums");
  options.flag("--by-content", &command.by_content,
               "a scan is the same whose time alone has changed: each is read once more, for its "
               "checksum");
  options.add("--claim-timeout", &command.claims.timeout_s,
              "seconds without a sign of life after which the work of another machine is taken "
              "over",
              {.interval = between(1.0, 1e6), .shows_default = true});
  options.flag("--rebuild-ledger", &command.rebuild,
               "make OUT/.tomoloom/ledger.sqlite anew from the receipts; nothing else");
}

}  // namespace

int run_one_scan(const ReconCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<NamedFile> texts{{"--json", command.json}, {"--preview", command.preview.page}};
  check_recon_output(command.job, texts);
  check_text_outputs(texts);
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  const auto executor = make_executor(command.threads);
  if (!command.preview.page.empty()) run_preview(command, *executor, observer);
  const ReconSummary summary = reconstruct_scan(command.job, *executor, observer);
  const ReconFacts facts{
      .threads = executor->concurrency(),
      .wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  observer.info(recon_line(summary, command.job, facts));
  if (!command.json.empty()) write_text(command.json, recon_json(summary, command.job, facts));
  return 0;
}

Command make_recon() {
  Command command{
      .name = "recon",
      .text = "reconstruct a volume from a scan, or those of many",
      .footer =
          "Examples:\n  tomoloom recon scan.h5 -o volume.h5 --center 515.4 --stripe sf\n"
          "  tomoloom recon scans -o volumes --center auto\n"
          "  mpirun -n 4 tomoloom recon scan.h5 -o volume.h5\n\n" +
          exit_codes_of_maker().code(Status::kSomeFailed).code(Status::kMemory).text()};
  const auto state = std::make_shared<ReconCommand>();
  state->job.backend = Backend::kAuto;
  Options& options = command.options;
  add_files(options, *state);
  for (const char* group : {kScanOptions, kPreparationOptions, kReconstructionOptions}) {
    add_rows(options, recon_option_rows(), group, state->job);
  }
  options.group("Running");
  options.add("--memory", &state->memory,
              "most that may be taken, of each rank; default: two thirds of what is free",
              {.value = "BYTES"});
  options.add("--preview", &state->preview.page,
              "first show three planes of the scan on a page that renews itself, while the scan is "
              "still being written too (HDF5's SWMR, or a file that is closed now and then); the "
              "volume is made when it is whole",
              {.value = "PAGE"});
  options.add("--preview-every", &state->preview.every_s, "seconds between pages",
              {.interval = between(0.1, 3600), .shows_default = true});
  options.add("--preview-patience", &state->preview.patience_s,
              "seconds without a new projection after which a scan is taken to be over",
              {.interval = between(0, 1e6), .shows_default = true});
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  add_many(options, *state);
  add_rank_options(options, state->ranks);
  command.run = [state](const Invocation& call) { return run_recon(call.given, *state); };
  return command;
}

}  // namespace tomoloom::cli
