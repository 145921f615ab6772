// SPDX-License-Identifier: BSD-3-Clause
// The program: its commands, one file each, and what its manual says of it.
#include <string>

#include "loom/program/completion.hpp"
#include "loom/program/manual.hpp"
#include "loom/program/run_program.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/version.hpp"

namespace tomoloom::cli {
namespace {

ManualText manual_text() {
  return {
      .version = std::string(version()),
      .subject = "tomography from projections to a volume",
      .description =
          "Turns a parallel-beam scan (projections, flats, darks, angles in a Data Exchange "
          "file)\n"
          "into a volume, right in value, by blocks of rows. An error is one line that names "
          "the\n"
          "file, what was found and what was expected; no partial file is ever left.\n",
      .exit_codes = all_exit_codes(),
      .environment = {
          {"FIBERLOOM_ISA", "forces an instruction set: generic, v2, v3 or v4"},
          {"FIBERLOOM_MPI_MODULE", "names the module that speaks MPI"},
          {"HDF5_PLUGIN_PATH", "names the folder of filters that HDF5 does not bring"},
          {"SLURM_CPUS_PER_TASK", "limits the number of threads where --threads is not given"}}};
}

Command make_program() {
  Command program{
      .name = kProgram,
      .text = "Tomoloom: X-ray tomography from projections to a volume.",
      .footer = "Options and exit codes: tomoloom COMMAND --help; all of them: tomoloom manual\n"};
  program.options.version("--version", "tomoloom " + std::string(version()));
  const std::string codes = exit_codes_of_writer().text();
  program.parts = {
      make_recon(),
      make_simulate(),
      make_info(),
      make_compare(),
      make_view(),
      make_completion("Example:\n  source <(tomoloom completion bash)\n\n" + codes),
      make_manual(manual_text(), "Example:\n  tomoloom manual | man -l -\n\n" + codes)};
  return program;
}

}  // namespace
}  // namespace tomoloom::cli

int main(int argc, char** argv) {
  return tomoloom::run_program(tomoloom::cli::kProgram, argc, argv, tomoloom::cli::make_program);
}
