// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom coadd`: options -> recipe -> a line.
#include <array>
#include <chrono>
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/coadd/coadd_spectra.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/usage.hpp"

namespace fiberloom::cli {
namespace {

struct CoaddCommand {
  CoaddJob job;
  std::size_t threads = 0;
  std::string json;
  RankChoice ranks;
  LogOptions log;
};

void add_coadd_options(Options& options, CoaddCommand& c) {
  options.add("-i,--infile", &c.job.inputs, "files of spectra with the same cameras",
              {.value = "SPECTRA", .required = true});
  options.add("-o,--outfile", &c.job.output, "coadd to write",
              {.value = "COADD", .required = true});
  options.flag("--coadd-cameras", &c.job.across_cameras, "one spectrum of all cameras");
  options.add("--nsig", &c.job.cosmic_nsig,
              "cosmic rays of three exposures or more are left out beyond, sigma; 0: none",
              {.interval = at_least(0), .shows_default = true});
  options.flag(
      "--no-clobber", [&c] { c.job.overwrite = Overwrite::kNo; },
      "refuse to replace an existing file");
  add_verify_option(options, c.job.verify);
  options.group("Running");
  options.add("--json", &c.json, "summary to write; - is standard output", {.value = "FILE"});
  add_thread_option(options, c.threads);
  add_rank_option(options, c.ranks);
  add_log_options(options, c.log);
}

std::string coadd_json(const CoaddSummary& s, const CoaddCommand& c, const Given& given,
                       double wall) {
  Json json;
  json["program"] = "fiberloom coadd";
  json["versions"] = {{"fiberloom", version()}, {"compiler", __VERSION__}};
  json["input"] = {{"spectra", Json::array()}};
  for (const std::string& path : c.job.inputs) json["input"]["spectra"].push_back(path);
  json["output"] = c.job.output;
  json["options"] = given.texts();
  json["result"] = {{"spectra", s.spectra},
                    {"targets", s.targets},
                    {"targets_without", s.without},
                    {"cosmic_pixels", s.cosmics},
                    {"cameras", Json::array()}};
  for (const std::string& name : s.cameras) json["result"]["cameras"].push_back(name);
  json["seconds"] = {{"all", {{"wall_s", wall}, {"cpu_s", cpu_seconds()}}}};
  json["peak_memory_bytes"] = peak_memory_bytes();
  return json.dump(2) + "\n";
}

int run_coadd(const Given& given, const CoaddCommand& c) {
  const auto start = std::chrono::steady_clock::now();
  const RankPart part =
      part_of_rank(c.ranks, "give each rank files of its own or start one process");
  if (!part.works) return 0;
  Console console(c.log.threshold());
  const Observer observer = console.observer();
  const std::array<NamedFile, 1> texts{{{"--json", c.json}}};
  check_outputs(c.job, texts);
  check_text_outputs(texts);
  const auto executor = make_executor(c.threads > 0 ? c.threads : part.threads);
  if (!part.note.empty()) observer.info(part.note);
  const CoaddSummary s = coadd_spectra(c.job, *executor, observer);
  observer.info(print("%zu spectra of %zu targets -> %s, %zu pixels left out as cosmic rays",
                      s.spectra, s.targets, c.job.output.c_str(), s.cosmics));
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!c.json.empty()) write_text(c.json, coadd_json(s, c, given, wall));
  return 0;
}

}  // namespace

Command make_coadd() {
  Command command{.name = "coadd",
                  .text = "one spectrum a target from those of many exposures",
                  .footer =
                      "Example:\n"
                      "  fiberloom coadd -i spectra-0-80613.fits -o coadd-0-80613.fits\n\n" +
                      exit_codes_of({.reads = true, .matches = false, .writes = true})};
  const auto state = std::make_shared<CoaddCommand>();
  add_coadd_options(command.options, *state);
  command.run = [state](const Invocation& call) { return run_coadd(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
