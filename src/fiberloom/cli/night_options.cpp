// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/night_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <utility>

#include "fiberloom/cli/job_options.hpp"
#include "fiberloom/recipes/catalogue/which_catalogue.hpp"
#include "fiberloom/recipes/chain/stand.hpp"
#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/frame_depth.hpp"
#include "fiberloom/recipes/night/job_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/program/rank_options.hpp"

namespace fiberloom::cli {
namespace {

void add_files(Options& options, NightCommand& c, const JobOptions& to) {
  night::FrameRequest& r = c.job.request;
  const char* const group = "Files";
  options.group(group);
  options.add("input", &r.input,
              "folder (preproc/NIGHT/EXPID/... or flat), list of images, or job file (.toml)");
  options.add("-o,--output", &r.output, "folder for the frames");
  options.add("-p,--psf", &r.psf_pattern,
              "where the PSFs are, with {night} {expid} {camera}; default: psf-CAM-EXPID.fits "
              "or psf-CAM.fits beside the image or one folder up",
              {.value = "PATTERN"});
  options.add("--cameras", &r.cameras, "only these, such as b0,r0,z0", {.delimiter = ','});
  options.add("-e,--exposures", &r.exposures, "only these exposure numbers", {.delimiter = ','});
  options.flag("--compress", &c.compress, "write .fits.gz");
  options.flag("--reports", &c.reports,
               "also make a page of each frame (fiberloom report) beside it; the status page links "
               "to it");
  add_job_options(options, group, to);
}

/// "snr=0.5,0.1 chi2=1.5,3 ...".
std::string default_limits() {
  std::string text;
  for (std::size_t m = 0; m < night::kMetrics; ++m) {
    const night::Limit limit = night::limit_of({}, m);
    if (m > 0) text += ' ';
    text += night::metric_name(m) + print("=%g,%g", limit.odd, limit.bad);
  }
  return text;
}

void add_running(Options& options, NightCommand& c) {
  night::PipelineOptions& o = c.job.pipeline;
  options.flag("--dry-run,--dryrun", &c.dry_run,
               "list what would be done, what is there and what is missing; do nothing");
  options.add("--retry", &o.retry, "try frames that fail, or have failed before, N times more",
              {.value = "N", .interval = between(0, 1000)});
  options.flag("--redo", &c.redo,
               "take over a folder whose frames are made with other options, and make them again");
  options.flag("--verify", &c.verify, "read outputs again and compare their checksums");
  add_thread_option(options, o.threads);
  const Interval threads = between(1, 256);
  options.add("--readers", &o.readers, "threads that read and unpack; default: by --threads",
              {.value = "N", .interval = threads});
  options.add("--writers", &o.writers, "threads that pack and write; default: by --threads",
              {.value = "N", .interval = threads});
  options.add("--memory", &c.memory,
              "for frames in flight, such as 8G; default: two thirds of what is free",
              {.value = "BYTES"});
  options.add("--claim-timeout", &c.job.claims.timeout_s,
              "seconds without a sign of life after which the work of another machine is taken "
              "over",
              {.interval = between(1.0, 1e6), .shows_default = true});
  options.add("--state", &c.job.state,
              "keep tasks, attempts, inputs and outputs in this database, which several runs may "
              "share (postgresql://USER@HOST/NAME), instead of OUT/.fiberloom/ledger.sqlite",
              {.value = "URL"});
  options.flag(
      "--rebuild-ledger", &c.rebuild,
      "make OUT/.fiberloom/ledger.sqlite, or what the database of --state has of this run, "
      "anew from the receipts; nothing else");
  options.add("--json", &c.json, "write a summary (- is stdout)");
  options.add("--trace", &c.trace, "write a timeline for chrome://tracing or Perfetto");
  options.add("--limit", &c.limits,
              "where the status page calls a frame odd, and bad; default: " + default_limits(),
              {.value = "NAME=ODD,BAD ...", .one_a_time = true});
}

void add_ranks(Options& options, NightCommand& c) {
  add_rank_options(options, c.ranks);
  options.add("--part-overhead", &c.part_overhead_s,
              "seconds that a part of a frame must be worth, or the frame is not cut between ranks",
              {.interval = between(0.0, 1e9), .shows_default = true});
}

void add_chain(Options& options, NightCommand& c) {
  options.group("From frames to a catalogue");
  options.add("--until", &c.until, "the last step", {.words = chain::step_names()});
  options.add("--only", &c.only, "this step alone, of files that are there",
              {.words = chain::step_names()});
  options.add("--tasks", &c.chain.tasks,
              "of the tree these alone, of files that are there; names as --dry-run prints them",
              {.value = "NAME,...", .delimiter = ','});
  options.flag("--submit", &c.submit,
               "write Slurm job arrays, one a step, and submit them; with --dry-run print them");
  options.add("--sbatch", &c.sbatch, "further options of the arrays, as \"-p debug -t 60\"",
              {.value = "OPTIONS", .may_be_empty = true});
  options.add("--array-size", &c.array_size,
              "most elements of an array; with more tasks an element is several",
              {.interval = between(1, 1000000), .shows_default = true});
  options.add("--fiberflats", &c.chain.flats,
              "folder of fiberflatnight-CAM-*.fits or fiberflat-CAM-*.fits that take the place of "
              "the night's own",
              {.value = "DIR"});
  options.add("--stdstars", &c.chain.stars,
              "folder of stdstars-PETAL-EXPID.fits; none: they are fitted", {.value = "DIR"});
  options.add("--averages", &c.chain.averages,
              "folder of fluxcalib-CAM-*.fits that are scaled where standard stars are too faint; "
              "none: such frames fail",
              {.value = "DIR"});
  options.add("--starmodels", &c.chain.models, "models of standard stars", {.value = "FILE"});
  options.add("--filters", &c.chain.passbands, "folder of passbands NAME.ecsv", {.value = "DIR"});
  options.add("--desimodel", &c.chain.desimodel,
              "folder of desimodel: what fibres lose of light by their places, and how deep frames "
              "are (TSNR2); none: $DESIMODEL, if its data/tsnr is there",
              {.value = "DIR"});
  options.add("--templates", &c.chain.redshift.templates,
              "templates of redshifts; none: $RR_TEMPLATE_DIR, else a small built-in set");
  options.add("--catalogue", &c.chain.catalogue,
              "the database of --until catalogue, a SQLite file or a PostgreSQL server; none: "
              "OUT/catalogue.sqlite",
              {.value = "PATH or URL"});
  options.add("--set", &c.settings,
              "an option of a step by its name in --json, as sky.method=desispec or coadd.nsig=5",
              {.value = "STEP.KEY=VALUE", .one_a_time = true});
}

/// Tables of a job file that are the chain's: [chain], and one a step.
std::vector<std::string> chain_tables() {
  std::vector<std::string> names = chain::step_names();
  names.front() = "chain";  // extraction has [options]
  return names;
}

/// What a job file says of the chain; what the command line says stays.
void take_setting(const night::JobSetting& s, const std::string& folder, const Given& given,
                  NightCommand& c) {
  if (s.table != "chain") return set_step_option(c.chain.options, s.table, s.key, s.text);
  const std::map<std::string, std::string*> texts{{"until", &c.until},
                                                  {"only", &c.only},
                                                  {"fiberflats", &c.chain.flats},
                                                  {"stdstars", &c.chain.stars},
                                                  {"averages", &c.chain.averages},
                                                  {"starmodels", &c.chain.models},
                                                  {"filters", &c.chain.passbands},
                                                  {"desimodel", &c.chain.desimodel}};
  const auto place = [&](const std::string& path) {
    return (std::filesystem::path(folder) / path).lexically_normal().string();
  };
  if (s.key == "catalogue") {
    if (!given.has("--catalogue")) c.chain.catalogue = catalogue_at(s.text, folder);
    return;
  }
  if (s.key == "templates") {
    if (!given.has("--templates")) c.chain.redshift.templates = {place(s.text)};
    return;
  }
  const auto found = texts.find(s.key);
  if (found == texts.end()) throw Error(Status::kUsage, "unknown key chain." + s.key);
  const bool step = s.key == "until" || s.key == "only";
  if (step && (given.has("--until") || given.has("--only"))) return;
  if (!step && given.has("--" + s.key)) return;
  *found->second = step ? s.text : place(s.text);
}

void take_settings(const std::vector<night::JobSetting>& settings, const std::string& file,
                   const Given& given, NightCommand& c) {
  const std::string folder = std::filesystem::path(file).parent_path().string();
  for (const night::JobSetting& s : settings) {
    try {
      if (c.kind == NightKind::kExposure) {
        throw Error(Status::kUsage, "[" + s.table + "] is for fiberloom night");
      }
      take_setting(s, folder, given, c);
    } catch (const Error& error) {
      throw Error(error.status(), s.where + ": " + error.what());
    }
  }
}

/// Throws kUsage for options of a step that the chain does not have: a job file may hold those of
/// all steps, whoever names one here means it.
void check_settings(const NightCommand& c) {
  for (const std::string& text : c.settings) {
    const std::string step = chain::parse_step_setting(text).step;
    if (chain::has_step(c.chain, chain::find_step(step).value())) continue;
    throw Error(Status::kUsage, "--set " + text + ": no step " + step + " in what is asked for");
  }
}

/// Throws kUsage for a chain that is none.
void finish_chain(const Given& given, NightCommand& c) {
  const auto step_of = [](const std::string& name) {
    if (const auto found = chain::find_step(name)) return *found;
    throw Error(Status::kUsage, "night: " + name + ": no step, expected extract to catalogue");
  };
  for (const std::string& text : c.settings) {
    const chain::StepSetting s = chain::parse_step_setting(text);
    try {
      set_step_option(c.chain.options, s.step, s.key, s.text);
    } catch (const Error& error) {
      throw Error(error.status(), "--set " + text + ": " + error.what());
    }
  }
  if (!c.only.empty() && given.has("--until")) {
    throw Error(Status::kUsage, "night: --only says which step it is: without --until");
  }
  c.chain.until = step_of(c.until);
  if (!c.only.empty()) c.chain.only = step_of(c.only);
  if (c.is_chain() || given.has("--until")) check_settings(c);
  if (!c.only.empty() && c.watching) {
    throw Error(Status::kUsage, "night: --watch makes what is not there yet: without --only");
  }
  if (!c.is_chain() && (c.submit || !c.chain.tasks.empty())) {
    throw Error(Status::kUsage, "night: --submit and --tasks are for --until STEP or --only STEP");
  }
  if (c.submit && (!c.chain.tasks.empty() || c.watching)) {
    throw Error(Status::kUsage, "night: --submit is for the whole tree: without --tasks, --watch");
  }
  const bool wants_frames = !c.is_chain() && !given.has("--until");
  for (const char* name : {"--set", "--fiberflats", "--stdstars", "--averages", "--starmodels",
                           "--filters", "--desimodel", "--templates"}) {
    if (!wants_frames || !given.has(name)) continue;
    throw Error(Status::kUsage,
                std::string("night: ") + name + " is for --until STEP or --only STEP");
  }
  if (c.chain.only.value_or(c.chain.until) != chain::Step::kCatalogue &&
      !c.chain.catalogue.empty()) {
    throw Error(Status::kUsage, "night: --catalogue is for --until catalogue or --only catalogue");
  }
  c.chain.writes = !c.dry_run;
  c.chain.desimodel_asked = !c.chain.desimodel.empty();
  if (c.is_chain()) c.chain.desimodel = find_desimodel(c.chain.desimodel);
  if (c.is_chain() && c.rebuild) {
    throw Error(Status::kUsage, "night: --rebuild-ledger does nothing else: without --until");
  }
  for (std::string& path : c.chain.redshift.templates) {
    path = std::filesystem::absolute(path).lexically_normal().string();
  }
}

void add_watch(Options& options, NightCommand& c) {
  options.group("Near real time");
  options.flag("--watch", &c.watching,
               "take new exposures as they are completed on disk, until SIGTERM or SIGINT");
  options.add("--poll", &c.watch.poll_s, "seconds between looks at the folder",
              {.interval = between(0.05, 86400.0), .shows_default = true});
  options.add("--settle", &c.watch.settle_s,
              "a file is complete when size and time stay the same for so many seconds",
              {.interval = between(0.0, 86400.0), .shows_default = true});
  options.add("--watch-idle", &c.watch.idle_s, "end after so many seconds without work",
              {.value = "SECONDS", .interval = between(0.0, 1e9)});
}

}  // namespace

void add_night_options(Options& options, NightCommand& command) {
  const JobOptions to{command.job.request.job, command.wavelength, "the band's grid in production"};
  add_files(options, command, to);
  add_job_options(options, "What to extract", to);
  add_job_options(options, "Method", to);
  options.group("Running");
  add_device_options(options, command.device);
  add_running(options, command);
  add_log_options(options, command.log);
  add_ranks(options, command);
  if (command.kind == NightKind::kNight) {
    add_chain(options, command);
    add_watch(options, command);
  }
}

void finish_night_options(const Given& given, NightCommand& command) {
  night::FrameRequest& request = command.job.request;
  if (!command.wavelength.empty()) request.job.wave = parse_wavelength(command.wavelength);
  if (!command.memory.empty()) command.job.pipeline.memory_bytes = parse_bytes(command.memory);
  for (const std::string& limit : command.limits) night::set_limit(limit, command.job.limits);
  if (command.redo) command.job.redo = night::Redo::kYes;
  if (command.reports) request.reports = night::Reports::kYes;
  if (command.compress) request.compress = night::Compress::kYes;
  if (!command.job.state.empty()) chain::check_state_url(command.job.state);
  if (command.verify) command.job.pipeline.check = night::Check::kBytes;
  if (command.watching) command.job.watch = command.watch;
  const std::string input = request.input;
  if (!request.input.empty()) command.job.sources = {{"input", request.input}};
  command.job.texts = {{"--json", command.json}, {"--trace", command.trace}};
  std::erase_if(command.job.texts,
                [](const NamedFile& file) { return file.path.empty() || file.path == "-"; });
  if (night::is_job_file(request.input)) {
    for (const ExtractOptionRow& row : extract_option_rows()) {
      if (given.has(row.long_name())) request.fixed.insert(std::string("options.") + row.key);
    }
    const std::string file = std::exchange(request.input, "");
    take_settings(night::read_job_file(file, request, chain_tables()), file, given, command);
    if (!request.input.empty()) command.job.sources.push_back({"input", request.input});
  }
  if (command.kind == NightKind::kNight) finish_chain(given, command);
  try {
    validate(request.job);
  } catch (const Error& error) {  // of a job file: the command line has been checked
    throw Error(error.status(), (input.empty() ? "" : input + ": ") + error.what());
  }
  check_device(command.device, request.job.method);
  if (request.output.empty()) {
    throw Error(Status::kUsage, "no folder for the frames: give -o (or `output` in the job file)");
  }
  if (request.input.empty() && request.frames.empty() && !command.rebuild) {
    throw Error(Status::kUsage, "no input: give a folder, a list of images or a job file");
  }
}

}  // namespace fiberloom::cli
