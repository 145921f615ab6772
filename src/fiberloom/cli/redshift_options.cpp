// SPDX-License-Identifier: BSD-3-Clause
// A script that calls rrdesi changes one word; here is what makes that true.
#include "fiberloom/cli/redshift_options.hpp"

#include "fiberloom/cli/device_options.hpp"
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/redshift/scan_device.hpp"
#include "loom/base/error.hpp"
#include "loom/program/row_options.hpp"

namespace fiberloom::cli {
namespace {

/// Options of rrdesi and rrboss that this program accepts and answers with a warning.
struct Ignored {
  const char* name;
  const char* reason;
};
constexpr Ignored kIgnoredFlags[] = {
    {"--gpu", "--backend auto takes a card where there is one"},
    {"--no-mpi-abort", "a fault ends the run with its exit code"},
    {"--debug", "there is no Python behind this program; -v says more"},
};
constexpr Ignored kIgnoredValues[] = {
    {"--mp", "--threads says how many threads there are"},
    {"--ncpu", "--threads says how many threads there are"},
    {"--max-gpuprocs", "any number of threads and ranks share the cards"},
};

/// What has no effect beside other options, and is said to have none.
constexpr const char* kOfRedrock[] = {"--zminfit-npoints", "--cosmics-nsig"};
constexpr const char* kOfOurMethods[] = {"--no-sky-continuum", "--least-coverage", "--type-shares",
                                         "--candidates"};
constexpr const char* kOfEvidence[] = {"--type-shares", "--candidates"};
constexpr const char* kOfArchetypes[] = {
    "--archetype-legendre-degree", "--archetype-legendre-percamera", "--archetype-legendre-prior",
    "--archetype-nnearest", "--archetypes-no-legendre"};
constexpr const char* kOfManyFiles[] = {"--retry",        "--verify", "--readers",
                                        "--writers",      "--memory", "--claim-timeout",
                                        "--part-overhead"};

void add_survey_options(Options& options, RedshiftCommand& c) {
  survey::PipelineOptions& o = c.pipeline;
  options.group("Many files");
  options.flag("--dry-run", &c.dry_run,
               "list what would be done, what is there and what is missing; do nothing");
  options.add("--retry", &o.retry, "try files that fail, or have failed before, N times more",
              {.value = "N", .interval = between(0, 1000)});
  options.flag("--verify", &c.verify_outputs, "read results again and compare their checksums");
  const Interval threads = between(1, 256);
  options.add("--readers", &o.readers, "threads that open files; default: by --threads",
              {.value = "N", .interval = threads});
  options.add("--writers", &o.writers, "threads that write; default: by --threads",
              {.value = "N", .interval = threads});
  options.add("--memory", &c.memory,
              "for files in flight, such as 8G; default: two thirds of what is free",
              {.value = "BYTES"});
  options.add("--claim-timeout", &c.claims.timeout_s,
              "seconds without a sign of life after which the work of another machine is taken "
              "over",
              {.interval = between(1.0, 1e6), .shows_default = true});
  options.flag("--rebuild-ledger", &c.rebuild,
               "make OUT/.fiberloom/ledger.sqlite anew from the receipts; nothing else");
  options.group("Several processes (MPI)");
  options.add("--mpi", &c.ranks.mpi,
              "auto: when mpirun or srun started this; off: each process on its own. Of one file "
              "on: rank 0 does it all",
              {.words = {"auto", "on", "off", "openmpi", "mpich"}, .shows_default = true});
  add_rank_silence(options, c.ranks.silence_s);
  options.add("--part-overhead", &c.part_overhead_s,
              "seconds that a part of a file must be worth, or it is not cut between ranks",
              {.interval = between(0.0, 1e9), .shows_default = true});
}

void add_file_options(Options& options, RedshiftCommand& c) {
  options.group("Files");
  options.add(
      "-i,--infiles,--spplate", &c.job.inputs,
      "spectra, coadds or frames, SDSS's spPlate, spCFrame and spec; the spectra of one TARGETID "
      "belong together. Where -o is a folder: each file on its own, also folders and lists "
      "(.txt) of files",
      {.required = true});
  options.add(
      "-o,--outfile,--zbest", &c.job.output,
      "redshifts to write (.fits); a folder (there, or with a / at its end): one file each");
  options.add("-d,--details,--output", &c.job.details, "chi2 at every redshift, all minima (.h5)");
  options.add("--model", &c.job.model, "best models to write (.fits)");
  loom::add_rows(options, redshift_option_rows(), "Files", c.job);
  add_no_clobber_option(options, c.job.overwrite);
  add_verify_option(options, c.job.verify);
}

}  // namespace

void add_redshift_options(Options& options, RedshiftCommand& c) {
  add_file_options(options, c);
  loom::add_rows(options, redshift_option_rows(), "Which targets", c.job);
  loom::add_rows(options, redshift_option_rows(), "Method", c.job);
  loom::add_rows(options, redshift_option_rows(), "Archetypes", c.job);
  options.group("Running");
  add_thread_option(options, c.threads);
  add_device_options(options, c.device);
  options.add("--json", &c.json, "write a summary: times, memory, options, counts (- is stdout)");
  options.add("--trace", &c.trace, "write a timeline for chrome://tracing or Perfetto");
  add_log_options(options, c.log);
  add_survey_options(options, c);
  options.group("Accepted for rrdesi");
  const std::string ignored = "ignored: ";
  for (const Ignored& flag : kIgnoredFlags) options.flag(flag.name, {}, ignored + flag.reason);
  for (const Ignored& value : kIgnoredValues) options.add(value.name, {}, ignored + value.reason);
}

void finish_redshift_options(const Given& given, const RedshiftCommand& command,
                             const Observer& observer) {
  validate(command.job);
  check_scan_device(command.device, command.job.options.method);
  const auto warn = [&](const Ignored& option) {
    if (given.has(option.name)) {
      observer.warn(std::string(option.name) + " is ignored: " + option.reason);
    }
  };
  for (const Ignored& option : kIgnoredFlags) warn(option);
  for (const Ignored& option : kIgnoredValues) warn(option);
  const RedshiftOptions& options = command.job.options;
  const bool redrock = options.method == RedshiftMethod::kRedrock;
  const auto warn_if = [&](bool needless, const char* reason, std::span<const char* const> names) {
    for (const char* name : names) {
      if (needless) warn({name, reason});
    }
  };
  warn_if(!redrock, "only --method redrock follows that rule", kOfRedrock);
  warn_if(redrock, "--method redrock follows redrock's rules alone", kOfOurMethods);
  const bool evidence = options.evidence && command.job.chi2_scan.empty();
  warn_if(!redrock && !evidence, "with --no-evidence or --chi2-scan nothing has a probability",
          kOfEvidence);
  warn_if(command.job.archetypes.empty(), "there are no --archetypes", kOfArchetypes);
  if (survey::is_folder_name(command.job.output)) return;
  for (const char* name : {"--dry-run", "--rebuild-ledger"}) {
    if (!given.has(name)) continue;
    throw Error(Status::kUsage,
                std::string(name) + ": expected -o FOLDER/, where there are many files");
  }
  warn_if(true, "-o is no folder of many files", kOfManyFiles);
}

}  // namespace fiberloom::cli
