// SPDX-License-Identifier: BSD-3-Clause
// A script that calls spex or desi_extract_spectra changes one word; here is what makes that true.
#include "fiberloom/cli/extract_options.hpp"

#include <CLI/CLI.hpp>
#include <span>

#include "fiberloom/cli/job_options.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {
namespace {

/// Options of the peers that this program accepts and answers with a warning.
struct Ignored {
  const char* name;
  const char* reason;
};
constexpr Ignored kIgnoredFlags[] = {
    {"--use-gpu", "--backend auto takes a card where there is one"},
    {"--gpu", "--backend auto takes a card where there is one"},
    {"--no-gpu", "--backend cpu leaves a card alone"},
    {"--async-io", "reading and writing need no ranks of their own here"},
    {"--use-specter", "there is one program here; --method patch follows gpu_specter's rules"},
};
constexpr Ignored kIgnoredValues[] = {
    {"--ranks-per-bundle", "threads share bundles by themselves"},
};
constexpr Ignored kRefused[] = {
    {"--decorrelate-fibers", "decorrelation across fibres ('noise') is not implemented"},
};
constexpr const char* kPatchOnly[] = {"--nsubbundles", "--nwavestep", "--wavepad", "--wavepad-frac",
                                      "--pixpad-frac"};

void add_file_options(CLI::App& app, ExtractCommand& c) {
  const auto group = "Files";
  app.add_option("-i,--input", c.job.image, "preprocessed image (.fits, .fits.gz, .fits.fz)")
      ->required()
      ->group(group);
  app.add_option("-p,--psf", c.job.psf, "PSF (GAUSS-HERMITE, version 1, 2 or 3)")
      ->required()
      ->group(group);
  app.add_option("-o,--output", c.job.output, "frame to write (.fits or .fits.gz)")
      ->required()
      ->group(group);
  app.add_option("-m,--model", c.job.model, "model image to write, electrons")->group(group);
  app.add_option("--residual", c.job.residual,
                 "image minus model to write, electrons; 0 where a pixel was not used")
      ->group(group);
  app.add_option("-f,--fibermap", c.job.fibermap, "fibermap; default: that of the image, or none")
      ->group(group);
  app.add_flag_callback(
         "--no-scores", [&c] { c.job.scores = false; }, "write no SCORES")
      ->group(group);
  app.add_flag_callback(
         "--no-clobber", [&c] { c.job.overwrite = Overwrite::kNo; },
         "refuse to replace an existing output")
      ->group(group);
}

void add_running_options(CLI::App& app, ExtractCommand& c) {
  const auto group = "Running";
  add_device_options(app, c.device);
  add_thread_option(app, c.threads);
  app.add_option("--json", c.json, "write a summary: times, memory, options, counts (- is stdout)")
      ->group(group);
  app.add_option("--trace", c.trace, "write a timeline for chrome://tracing or Perfetto")
      ->group(group);
  add_log_options(app, c.log);
  const auto peers = "Accepted for spex and desi_extract_spectra";
  add_rank_option(app, c.ranks, group);
  const auto add_flags = [&](std::span<const Ignored> flags, const std::string& answer) {
    for (const Ignored& flag : flags) {
      const std::string text = answer + flag.reason;
      app.add_flag(flag.name, text)->group(peers);
    }
  };
  add_flags(kIgnoredFlags, "ignored: ");
  add_flags(kRefused, "refused: ");
  for (const Ignored& option : kIgnoredValues) {
    const std::string text = std::string("ignored: ") + option.reason;
    app.add_option(option.name, text)->expected(1)->group(peers);
  }
}

}  // namespace

void add_extract_options(CLI::App& app, ExtractCommand& command) {
  add_file_options(app, command);
  add_problem_options(app, command.job, command.wavelength, "range of the PSF table, 0.8");
  add_method_options(app, command.job);
  add_running_options(app, command);
}

void finish_extract_options(const CLI::App& app, ExtractCommand& command,
                            const Observer& observer) {
  for (const Ignored& option : kRefused) {
    if (app.count(option.name) > 0) {
      throw Error(Status::kUnsupported, std::string(option.name) + ": " + option.reason);
    }
  }
  check_device(command.device, command.job.method);
  if (!command.wavelength.empty()) command.job.wave = parse_wavelength(command.wavelength);
  const auto warn_ignored = [&](const Ignored& option) {
    if (app.count(option.name) > 0) {
      observer.warn(std::string(option.name) + " is ignored: " + option.reason);
    }
  };
  for (const Ignored& option : kIgnoredFlags) warn_ignored(option);
  for (const Ignored& option : kIgnoredValues) warn_ignored(option);
  if (command.job.method != Method::kExact) return;
  std::string unused;
  for (const char* name : kPatchOnly) {
    if (app.count(name) > 0) unused += std::string(unused.empty() ? "" : ", ") + name;
  }
  if (!unused.empty()) {
    observer.warn(unused + ": ignored, the exact engine has no patches (--method patch has)");
  }
}

}  // namespace fiberloom::cli
