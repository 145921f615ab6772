// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom info`: what a file is, and whether our readers take it.
#include <memory>
#include <string>
#include <vector>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/recipes/inspect_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/program/standard_output.hpp"

namespace fiberloom::cli {
namespace {

void print_report(const FileReport& report) {
  put(print("%s: %s\n", report.path.c_str(), report.kind.c_str()));
  for (const HduSummary& hdu : report.hdus) {
    put(print("  %2d  %-14s %-10s %-10s %s%s%s\n", hdu.number, hdu.name.c_str(), hdu.kind.c_str(),
              hdu.type.c_str(), hdu.shape.c_str(), hdu.compressed ? "  (compressed)" : "",
              hdu.fault.empty() ? "" : "  DAMAGED"));
  }
  for (const auto& [name, value] : report.facts) {
    put(print("  %-18s %s\n", name.c_str(), value.c_str()));
  }
}

/// Says all that can be said of each file before it fails.
int run_info(const std::vector<std::string>& files, Verify verify) {
  std::string fault;
  for (const std::string& file : files) {
    const FileReport report = inspect_file(file, verify);
    print_report(report);
    for (const HduSummary& hdu : report.hdus) {
      if (fault.empty() && !hdu.fault.empty()) fault = file + ": " + hdu.fault;
    }
  }
  if (!fault.empty()) throw Error(Status::kCorrupt, fault);
  return 0;
}

}  // namespace

Command make_info() {
  struct InfoCommand {
    std::vector<std::string> files;
    Verify verify = Verify::kYes;
  };
  Command command{
      .name = "info",
      .text = "say what FITS files hold",
      .footer = "Example:\n  fiberloom info frame-r0-00000011.fits.gz psf-r0-00000011.fits\n\n" +
                exit_codes_of({.reads = true, .writes = true})};
  const auto state = std::make_shared<InfoCommand>();
  command.options.add(
      "FILE", &state->files,
      "preproc image, PSF, frame, calibration, truth, spectra, redshifts or template",
      {.required = true});
  add_verify_option(command.options, state->verify);
  command.run = [state](const Invocation&) { return run_info(state->files, state->verify); };
  return command;
}

}  // namespace fiberloom::cli
