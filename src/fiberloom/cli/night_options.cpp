// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/night_options.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "fiberloom/cli/job_options.hpp"
#include "fiberloom/cli/limits.hpp"
#include "fiberloom/recipes/night/job_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::cli {
namespace {

/// Options that a job file has too, and its key.
constexpr std::pair<const char*, const char*> kInJobFile[] = {
    {"--method", "options.method"},
    {"--gh00", "options.gh00"},
    {"--psf-tails", "options.psf_tails"},
    {"--bundlesize", "options.bundlesize"},
    {"--specmin", "options.specmin"},
    {"--nspec", "options.nspec"},
    {"--psferr", "options.psferr"},
    {"--regularize", "options.regularize"},
    {"--tolerance", "options.tolerance"},
    {"--ndiag", "options.ndiag"},
    {"--mask-bits", "options.mask_bits"},
    {"--no-verify", "options.verify"},
    {"--no-scores", "options.scores"},
    {"--barycentric-correction", "options.barycentric_correction"},
};

void add_files(CLI::App& app, NightCommand& c) {
  const auto group = "Files";
  night::FrameRequest& r = c.job.request;
  app.add_option("input", r.input,
                 "folder (preproc/NIGHT/EXPID/... or flat), list of images, or job file (.toml)")
      ->group(group);
  app.add_option("-o,--output", r.output, "folder for the frames")->group(group);
  app.add_option("-p,--psf", r.psf_pattern,
                 "where the PSFs are, with {night} {expid} {camera}; default: psf-CAM-EXPID.fits "
                 "or psf-CAM.fits beside the image or one folder up")
      ->option_text("PATTERN")
      ->group(group);
  app.add_option("--cameras", r.cameras, "only these, such as b0,r0,z0")
      ->delimiter(',')
      ->group(group);
  app.add_option("-e,--exposures", r.exposures, "only these exposure numbers")
      ->delimiter(',')
      ->group(group);
  app.add_flag("--compress", c.compress, "write .fits.gz")->group(group);
  app.add_flag("--reports", c.reports,
               "also make a page of each frame (fiberloom report) beside it; the status page links "
               "to it")
      ->group(group);
  app.add_flag_callback(
         "--no-scores", [&c] { c.job.request.job.scores = false; }, "write no SCORES")
      ->group(group);
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

void add_running(CLI::App& app, NightCommand& c) {
  const auto group = "Running";
  night::PipelineOptions& o = c.job.pipeline;
  app.add_flag("--dry-run,--dryrun", c.dry_run,
               "list what would be done, what is there and what is missing; do nothing")
      ->group(group);
  app.add_option("--retry", o.retry, "try frames that fail, or have failed before, N times more")
      ->check(between(0, 1000))
      ->option_text("N")
      ->group(group);
  app.add_flag("--redo", c.redo,
               "take over a folder whose frames are made with other options, and make them again")
      ->group(group);
  app.add_flag("--verify", c.verify, "read outputs again and compare their checksums")
      ->group(group);
  add_thread_option(app, o.threads);
  app.add_option("--readers", o.readers, "threads that read and unpack; default: by --threads")
      ->check(between(1, 256))
      ->option_text("N")
      ->group(group);
  app.add_option("--writers", o.writers, "threads that pack and write; default: by --threads")
      ->check(between(1, 256))
      ->option_text("N")
      ->group(group);
  app.add_option("--memory", c.memory,
                 "for frames in flight, such as 8G; default: two thirds of what is free")
      ->option_text("BYTES")
      ->group(group);
  app.add_option("--claim-timeout", c.job.claims.timeout_s,
                 "seconds without a sign of life after which the work of another machine is taken "
                 "over")
      ->check(between(1.0, 1e6))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--rebuild-ledger", c.rebuild,
               "make OUT/.fiberloom/ledger.sqlite anew from the receipts; nothing else")
      ->group(group);
  app.add_option("--json", c.json, "write a summary (- is stdout)")->group(group);
  app.add_option("--trace", c.trace, "write a timeline for chrome://tracing or Perfetto")
      ->group(group);
  app.add_option("--limit", c.limits,
                 "where the status page calls a frame odd, and bad; default: " + default_limits())
      ->option_text("NAME=ODD,BAD ...")
      ->allow_extra_args(false)
      ->group(group);
  add_log_options(app, c.log);
}

void add_ranks(CLI::App& app, NightCommand& c) {
  const auto group = "Several processes (MPI)";
  app.add_option("--mpi", c.mpi,
                 "auto: when mpirun or srun started this; off: each process on its own")
      ->check(CLI::IsMember({"auto", "on", "off", "openmpi", "mpich"}))
      ->option_text("auto|on|off|openmpi|mpich")
      ->group(group);
  app.add_option("--rank-silence", c.rank_silence_s,
                 "seconds without a sign of life after which a rank is dead and the job ends")
      ->check(between(2.0, 86400.0))
      ->capture_default_str()
      ->group(group);
  app.add_option("--part-overhead", c.part_overhead_s,
                 "seconds that a part of a frame must be worth, or the frame is not cut between "
                 "ranks")
      ->check(between(0.0, 1e9))
      ->capture_default_str()
      ->group(group);
}

void add_watch(CLI::App& app, NightCommand& c) {
  const auto group = "Near real time";
  app.add_flag("--watch", c.watching,
               "take new exposures as they are completed on disk, until SIGTERM or SIGINT")
      ->group(group);
  app.add_option("--poll", c.watch.poll_s, "seconds between looks at the folder")
      ->check(between(0.05, 86400.0))
      ->capture_default_str()
      ->group(group);
  app.add_option("--settle", c.watch.settle_s,
                 "a file is complete when size and time stay the same for so many seconds")
      ->check(between(0.0, 86400.0))
      ->capture_default_str()
      ->group(group);
  app.add_option("--watch-idle", c.watch.idle_s, "end after so many seconds without work")
      ->check(between(0.0, 1e9))
      ->option_text("SECONDS")
      ->group(group);
}

}  // namespace

MpiChoice mpi_choice(const std::string& text) {
  if (text == "on") return MpiChoice::kOn;
  if (text == "off") return MpiChoice::kOff;
  if (text == "openmpi") return MpiChoice::kOpenMpi;
  if (text == "mpich") return MpiChoice::kMpich;
  return MpiChoice::kAuto;
}

std::uint64_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  double factor = 1;
  bool good = end != text.c_str() && std::isfinite(value) && value > 0;
  if (!unit.empty()) {
    const std::size_t power = std::string("KMGT").find(static_cast<char>(std::toupper(unit[0])));
    const std::string rest = unit.substr(1);
    good = good && power != std::string::npos && (rest.empty() || rest == "B" || rest == "iB");
    if (good) factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  if (!good || value * factor > 1e18) {
    throw Error(Status::kUsage, "--memory " + text + ": expected bytes, such as 500M or 8G");
  }
  return static_cast<std::uint64_t>(value * factor);
}

void add_night_options(CLI::App& app, NightCommand& command) {
  add_files(app, command);
  add_problem_options(app, command.job.request.job, command.wavelength,
                      "the band's grid in production");
  add_method_options(app, command.job.request.job);
  add_device_options(app, command.device);
  add_running(app, command);
  add_ranks(app, command);
  if (command.kind == NightKind::kNight) add_watch(app, command);
}

void finish_night_options(const CLI::App& app, NightCommand& command) {
  night::FrameRequest& request = command.job.request;
  if (!command.wavelength.empty()) request.job.wave = parse_wavelength(command.wavelength);
  if (!command.memory.empty()) command.job.pipeline.memory_bytes = parse_bytes(command.memory);
  for (const std::string& limit : command.limits) night::set_limit(limit, command.job.limits);
  if (command.redo) command.job.redo = night::Redo::kYes;
  if (command.reports) request.reports = night::Reports::kYes;
  if (command.compress) request.compress = night::Compress::kYes;
  if (command.verify) command.job.pipeline.check = night::Check::kBytes;
  if (command.watching) command.job.watch = command.watch;
  const std::string given = request.input;
  if (!request.input.empty()) command.job.sources = {{"input", request.input}};
  command.job.texts = {{"--json", command.json}, {"--trace", command.trace}};
  std::erase_if(command.job.texts,
                [](const NamedFile& file) { return file.path.empty() || file.path == "-"; });
  if (request.input.ends_with(".toml")) {
    for (const auto& [option, key] : kInJobFile) {
      if (app.count(option) > 0) request.fixed.insert(key);
    }
    const std::string file = std::exchange(request.input, "");
    night::read_job_file(file, request);
  }
  try {
    validate(request.job.options);
  } catch (const Error& error) {  // of a job file: the command line has been checked
    throw Error(error.status(), (given.empty() ? "" : given + ": ") + error.what());
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
