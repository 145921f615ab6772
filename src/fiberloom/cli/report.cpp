// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom report`: frames as one self-contained page to look at.
#include "fiberloom/recipes/report/report.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {
namespace {

struct ReportCommand {
  std::vector<std::string> frames, images, models, residuals, psfs, summaries, truths;
  std::string output = "report.html";
  std::int64_t bundle_size = 0;
  RankChoice ranks;
  Verify verify = Verify::kYes;
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
void check_files(const ReportCommand& c, const report::ReportJob& job) {
  std::vector<NamedFile> inputs;
  for (const std::string& path : report::files_of(job)) inputs.push_back({"input", path});
  const std::array<NamedFile, 1> output{{{"page", c.output}}};
  check_distinct(output, inputs);
  check_text_outputs(output);
}

int run_report(const ReportCommand& c) {
  if (!part_of_rank(c.ranks, "give each rank frames of its own or start one process").works)
    return 0;
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
  check_files(c, job);
  write_text(c.output, report::report_html(job));
  return 0;
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
      .text = "frames as one self-contained HTML page to look at",
      .footer =
          "Examples:\n"
          "  fiberloom report frame-r0-00000011.fits --summary summary.json -o report.html\n"
          "  fiberloom report frame-b0.fits frame-r0.fits --truth truth-b0.fits --truth "
          "truth-r0.fits\n\n"
          "The n-th --image, --model ... belongs to the n-th FRAME; - stands for none. What "
          "--summary\n"
          "names as image, PSF, model and residual need not be given again.\n"
          "Frames of one exposure and spectrograph (CAMERA b0, r0, z0) are joined in one "
          "view.\n\n" +
          exit_codes_of({.reads = true, .matches = true, .writes = true})};
  const auto state = std::make_shared<ReportCommand>();
  Options& options = command.options;
  options.add("FRAME", &state->frames, "frames (ours, desispec's, spex's)", {.required = true});
  options.add("-o,--output", &state->output, "page to write; - is standard output",
              {.shows_default = true});
  add_each(options, "--image", state->images, "preprocessed image that the frame is from");
  add_each(options, "--model", state->models, "model image (extract --model)");
  add_each(options, "--residual", state->residuals, "residual image (extract --residual)");
  add_each(options, "--psf", state->psfs, "PSF of the extraction: traces on the images");
  add_each(options, "--summary", state->summaries, "summary (extract --json)");
  add_each(options, "--truth", state->truths, "truth of a simulated frame");
  options.add("--bundlesize", &state->bundle_size,
              "fibres a bundle; default: that of the summary, else 25", {.interval = above(0)});
  add_rank_option(options, state->ranks);
  add_verify_option(options, state->verify);
  command.run = [state](const Invocation&) { return run_report(*state); };
  return command;
}

}  // namespace fiberloom::cli
