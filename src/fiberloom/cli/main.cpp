// SPDX-License-Identifier: BSD-3-Clause
// The program: its commands, one file each, and what its manual says of it.
#include <string>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/program/completion.hpp"
#include "loom/program/manual.hpp"
#include "loom/program/run_program.hpp"

namespace fiberloom::cli {
namespace {

ManualText manual_text() {
  return {
      .version = std::string(version()),
      .subject = "exact 2-D extraction of multi-fibre spectra",
      .description =
          "Turns the CCD frames of a multi-fibre spectrograph into 1-D spectra: every fibre and "
          "every\n"
          "wavelength at once, through a 2-D model of the PSF. It reads and writes the files of "
          "the DESI\n"
          "pipeline and takes the options of spex and desi_extract_spectra. An error is one line "
          "that\n"
          "names the file, what was found and what was expected; no partial file is ever left.\n",
      .exit_codes = exit_code_table(),
      .environment = {
          {"FIBERLOOM_ISA", "forces an instruction set: generic, v2, v3 or v4"},
          {"SLURM_CPUS_PER_TASK", "limits the number of threads where --threads is not given"}}};
}

Command make_program() {
  Command program{
      .name = kProgram,
      .text = "Fiberloom: exact 2-D extraction of multi-fibre spectra.",
      .footer =
          "Options and exit codes: fiberloom COMMAND --help; all of them: fiberloom manual\n"};
  program.options.version("--version", "fiberloom " + std::string(version()));
  const std::string codes = exit_codes_of({.writes = true});
  program.parts = {
      make_extract(),
      make_expose(),
      make_night(),
      make_status(),
      make_fiberflat(),
      make_sky(),
      make_stdstars(),
      make_fluxcalib(),
      make_calibrate(),
      make_qa(),
      make_coadd(),
      make_redshift(),
      make_simulate(),
      make_compare(),
      make_info(),
      make_templates(),
      make_report(),
      make_catalogue(),
      make_bench(),
      make_completion("Example:\n  source <(fiberloom completion bash)\n\n" + codes),
      make_manual(manual_text(), "Example:\n  fiberloom manual | man -l -\n\n" + codes)};
  return program;
}

}  // namespace
}  // namespace fiberloom::cli

int main(int argc, char** argv) {
  return fiberloom::run_program(fiberloom::cli::kProgram, argc, argv, fiberloom::cli::make_program);
}
