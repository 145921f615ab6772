// SPDX-License-Identifier: BSD-3-Clause
// A script that calls spex or desi_extract_spectra changes one word; here is what makes that true.
#include "fiberloom/cli/extract_options.hpp"

#include <string_view>

#include "fiberloom/cli/job_options.hpp"
#include "fiberloom/recipes/extract_option_table.hpp"

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

void add_file_options(Options& options, ExtractCommand& c, const JobOptions& to) {
  const char* const group = "Files";
  options.group(group);
  options.add("-i,--input", &c.job.image, "preprocessed image (.fits, .fits.gz, .fits.fz)",
              {.required = true});
  options.add("-p,--psf", &c.job.psf,
              "PSF (GAUSS-HERMITE 1 to 3, GAUSS-HERMITE2, SPOTGRID, MONOSPOT, PCA-PIX)",
              {.required = true});
  options.add("-o,--output", &c.job.output, "frame to write (.fits or .fits.gz)",
              {.required = true});
  options.add("-m,--model", &c.job.model, "model image to write, electrons");
  options.add(
      "--residual", &c.job.residual,
      "image minus model to write, electrons; 0 where a pixel is masked, not where --reject "
      "dropped it");
  options.add("--pixmask", &c.job.pixmask,
              "pixel mask to write: MASK of the image, and COSMIC where --reject dropped a pixel");
  options.add("--shifted-psf", &c.job.shifted_psf,
              "PSF to write: that of --psf with the changes of --trace-shifts in it");
  options.add("--wave-file", &c.job.wave_file,
              "wavelength grid instead of --wavelength: text with a number a line, or FITS with "
              "one grid or "
              "one for each fibre of the PSF");
  options.add("-f,--fibermap", &c.job.fibermap, "fibermap; default: that of the image, or none");
  add_job_options(options, group, to);
  add_no_clobber_option(options, c.job.overwrite);
}

void add_running_options(Options& options, ExtractCommand& c) {
  options.group("Running");
  add_device_options(options, c.device);
  add_thread_option(options, c.threads);
  options.add(
      "--realisations", &c.job.realisations,
      "draws of noise on the model that are extracted, too: how large errors really are, what "
      "correlates (log, --json)",
      {.interval = between(0, kMostRealisations)});
  options.add("--json", &c.json, "write a summary: times, memory, options, counts (- is stdout)");
  options.add("--trace", &c.trace, "write a timeline for chrome://tracing or Perfetto");
  add_log_options(options, c.log);
}

void add_options_of_peers(Options& options, ExtractCommand& c) {
  options.group("Running");
  add_rank_option(options, c.ranks);
  options.group("Accepted for spex and desi_extract_spectra");
  const std::string ignored = "ignored: ";
  for (const Ignored& flag : kIgnoredFlags) options.flag(flag.name, {}, ignored + flag.reason);
  for (const Ignored& option : kIgnoredValues)
    options.add(option.name, {}, ignored + option.reason);
}

/// Options that say how the other method computes. What it alone computes is refused elsewhere.
void warn_of_the_other_method(const Given& given, Method method, const Observer& observer) {
  const bool exact = method == Method::kExact;
  std::string unused;
  for (const ExtractOptionRow& row : extract_option_rows()) {
    const std::string_view key = row.key;
    const bool other =
        exact ? row.only == Method::kPatch : key == "tolerance" || key == "max_iterations";
    if (!other || !given.has(row.long_name())) continue;
    unused += (unused.empty() ? "" : ", ") + row.long_name();
  }
  if (unused.empty()) return;
  observer.warn(unused + (exact ? ": ignored, the exact engine has no patches (--method patch has)"
                                : ": ignored, --method patch does not iterate"));
}

}  // namespace

void add_extract_options(Options& options, ExtractCommand& command) {
  const JobOptions to{command.job, command.wavelength, "range of the PSF table, 0.8"};
  add_file_options(options, command, to);
  add_job_options(options, "What to extract", to);
  add_job_options(options, "Method", to);
  add_running_options(options, command);
  add_options_of_peers(options, command);
}

void finish_extract_options(const Given& given, ExtractCommand& command, const Observer& observer) {
  check_device(command.device, command.job.method);
  command.job.report_leak = !command.json.empty();
  if (!command.wavelength.empty()) command.job.wave = parse_wavelength(command.wavelength);
  const auto warn_ignored = [&](const Ignored& option) {
    if (given.has(option.name)) {
      observer.warn(std::string(option.name) + " is ignored: " + option.reason);
    }
  };
  for (const Ignored& option : kIgnoredFlags) warn_ignored(option);
  for (const Ignored& option : kIgnoredValues) warn_ignored(option);
  warn_of_the_other_method(given, command.job.method, observer);
}

}  // namespace fiberloom::cli
