// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom report`: frames, or redshifts, as one self-contained page to look at.
#include "fiberloom/recipes/report/report.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/redshift_page/redshift_page.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/program/common_options.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::cli {
namespace {

struct ReportCommand {
  std::vector<std::string> frames, images, models, residuals, psfs, summaries, truths;
  std::string output = "report.html";
  std::int64_t bundle_size = 0;
  std::vector<std::string> spectra, details;
  redshift_page::PageJob targets;  ///< of redshifts: what options say
  std::size_t threads = 0;
  RankChoice ranks;
  Verify verify = Verify::kYes;
  LogOptions log{.level = "warn"};  ///< the page is the answer, and may go to standard output
};

/// The n-th of an option's values; "-" and what was not given are empty.
std::string nth(const std::vector<std::string>& values, std::size_t n) {
  return n < values.size() && values[n] != "-" ? values[n] : std::string();
}

void check_count(const char* option, const std::vector<std::string>& values, std::size_t frames) {
  if (values.size() <= frames) return;
  throw Error(Status::kUsage, std::string(option) + ": given " + std::to_string(values.size()) +
                                  " times for " + std::to_string(frames) +
                                  " frames (the n-th belongs to the n-th frame; - for none)");
}

/// The page against all that it is made of.
void check_files(const ReportCommand& c, const std::vector<std::string>& files) {
  std::vector<NamedFile> inputs;
  for (const std::string& path : files) inputs.push_back({"input", path});
  const std::array<NamedFile, 1> output{{{"page", c.output}}};
  check_distinct(output, inputs);
  check_text_outputs(output);
}

int report_frames(const ReportCommand& c) {
  const std::size_t n = c.frames.size();
  const std::pair<const char*, const std::vector<std::string>*> options[] = {
      {"--image", &c.images}, {"--model", &c.models},      {"--residual", &c.residuals},
      {"--psf", &c.psfs},     {"--summary", &c.summaries}, {"--truth", &c.truths}};
  for (const auto& [name, values] : options) check_count(name, *values, n);
  report::ReportJob job;
  job.bundle_size = c.bundle_size;
  for (std::size_t i = 0; i < n; ++i) {
    job.inputs.push_back({c.frames[i], nth(c.images, i), nth(c.models, i), nth(c.residuals, i),
                          nth(c.summaries, i), nth(c.truths, i), nth(c.psfs, i), c.verify});
  }
  check_files(c, report::files_of(job));
  write_text(c.output, report::report_html(job));
  return 0;
}

int report_redshifts(const ReportCommand& c, std::size_t threads) {
  const std::size_t n = c.frames.size();
  check_count("--model", c.models, n);
  check_count("--details", c.details, n);
  if (n > 1) check_count("--spectra", c.spectra, n);
  redshift_page::PageJob job = c.targets;
  job.verify = c.verify;
  for (std::size_t i = 0; i < n; ++i) {
    const auto of_file = [i](const std::vector<std::string>& values) {
      return i < values.size() ? values[i] : std::string();
    };
    redshift_page::PageInput input{c.frames[i], {}, of_file(c.details), of_file(c.models)};
    if (n == 1) input.spectra = c.spectra;
    if (n > 1 && !of_file(c.spectra).empty()) input.spectra.push_back(of_file(c.spectra));
    job.inputs.push_back(redshift_page::with_neighbours(std::move(input)));
  }
  check_files(c, redshift_page::files_of(job));
  Console console(c.log.threshold());
  const auto executor = make_executor(c.threads > 0 ? c.threads : threads);
  write_text(c.output, redshift_page::redshift_page_html(job, *executor, console.observer()));
  return 0;
}

/// Options that belong to the other kind of page are a mistake, not nothing.
void check_kind(const Given& given, std::span<const char* const> others, const char* what) {
  for (const char* name : others) {
    if (given.has(name)) throw Error(Status::kUsage, std::string(name) + " is of " + what);
  }
}

int run_report(const Given& given, const ReportCommand& c) {
  constexpr std::array<const char*, 6> kOfFrames{"--image",   "--residual", "--psf",
                                                 "--summary", "--truth",    "--bundlesize"};
  constexpr std::array<const char*, 8> kOfRedshifts{"--spectra",    "--details",   "--templates",
                                                    "--archetypes", "--targetids", "--only",
                                                    "--most",       "--threads"};
  const RankPart part =
      part_of_rank(c.ranks, "give each rank frames of its own or start one process");
  if (!part.works) return 0;
  std::size_t redshifts = 0;
  for (const std::string& path : c.frames) redshifts += redshift_page::is_redshift_file(path);
  if (redshifts == 0) {
    check_kind(given, kOfRedshifts, "redshifts, and these are frames");
    return report_frames(c);
  }
  if (redshifts < c.frames.size()) {
    const auto other = std::find_if_not(
        c.frames.begin(), c.frames.end(),
        [](const std::string& path) { return redshift_page::is_redshift_file(path); });
    throw Error(Status::kUsage,
                *other + ": no redshifts; a page has frames or redshifts, not both" +
                    (given.has("--templates") ? " (each template has a -t of its own, or name "
                                                "their folder)"
                                              : ""));
  }
  check_kind(given, kOfFrames, "frames, and these are redshifts");
  return report_redshifts(c, part.threads);
}

/// An option that takes one value each time, so that it never swallows a FRAME.
void add_each(Options& options, const char* name, std::vector<std::string>& values,
              const char* text) {
  options.add(name, &values, text, {.value = "FILE ...", .one_a_time = true});
}

}  // namespace

Command make_report() {
  Command command{
      .name = "report",
      .text = "frames or redshifts as one self-contained HTML page to look at",
      .footer =
          "Examples:\n"
          "  fiberloom report frame-r0-00000011.fits --summary summary.json -o report.html\n"
          "  fiberloom report frame-b0.fits frame-r0.fits --truth truth-b0.fits --truth "
          "truth-r0.fits\n"
          "  fiberloom report redrock-0-80613-thru20210324.fits -t redrock-templates -o "
          "page.html\n\n"
          "The n-th --image, --model ... belongs to the n-th FRAME; - stands for none. What "
          "--summary\n"
          "names as image, PSF, model and residual need not be given again.\n"
          "Frames of one exposure and spectrograph (CAMERA b0, r0, z0) are joined in one "
          "view.\n"
          "Beside redrock-X.fits its spectra (coadd-X, spectra-X), models (rrmodel-X) and "
          "chi2\n"
          "(rrdetails-X.h5) are found; without them --templates makes models and chi2 anew.\n\n" +
          exit_codes_of({.reads = true,
                         .matches = true,
                         .writes = true,
                         .more = {Status::kInterrupted, kBadTemplate, kTemplateRange}})};
  const auto state = std::make_shared<ReportCommand>();
  Options& options = command.options;
  options.add("FRAME", &state->frames, "frames (ours, desispec's, spex's), or redshifts",
              {.required = true});
  options.add("-o,--output", &state->output, "page to write; - is standard output",
              {.shows_default = true});
  add_each(options, "--image", state->images, "preprocessed image that the frame is from");
  add_each(options, "--model", state->models,
           "model image (extract --model), or models of redshifts");
  add_each(options, "--residual", state->residuals, "residual image (extract --residual)");
  add_each(options, "--psf", state->psfs, "PSF of the extraction: traces on the images");
  add_each(options, "--summary", state->summaries, "summary (extract --json)");
  add_each(options, "--truth", state->truths, "truth of a simulated frame");
  options.add("--bundlesize", &state->bundle_size,
              "fibres a bundle; default: that of the summary, else 25", {.interval = above(0)});
  add_rank_option(options, state->ranks);
  add_verify_option(options, state->verify);
  options.group("Redshifts");
  add_each(options, "--spectra", state->spectra, "spectra of the targets");
  add_each(options, "--details", state->details, "chi2 and candidates (redshift --details)");
  options.add("-t,--templates", &state->targets.templates,
              "template file, list or folder; default: $RR_TEMPLATE_DIR",
              {.value = "PATH ...", .one_a_time = true});
  options.add("--archetypes", &state->targets.archetypes,
              "archetype file or folder: models of the fits that are archetypes",
              {.value = "PATH"});
  options.add("--targetids", &state->targets.target_ids, "spectra of these, with commas",
              {.value = "ID,ID...", .delimiter = ','});
  options.add("--only", &state->targets.only,
              "spectra of those, as in 'ZWARN!=0 and SPECTYPE==QSO'", {.value = "CONDITIONS"});
  options.add("--most", &state->targets.most, "spectra on the page, the least sure ones first",
              {.interval = between(1, 20000), .shows_default = true});
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation& call) { return run_report(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
