// SPDX-License-Identifier: BSD-3-Clause
// The program: its commands, one file each, and what its manual says of it.
#include <string>

#include "loom/program/completion.hpp"
#include "loom/program/manual.hpp"
#include "loom/program/run_program.hpp"
#include "skyloom/cli/command.hpp"
#include "skyloom/cli/exit_codes.hpp"
#include "skyloom/recipes/version.hpp"

namespace skyloom::cli {
namespace {

ManualText manual_text() {
  return {.version = std::string(version()),
          .subject = "maps of the sky from time-ordered data",
          .description =
              "Simulates the time streams of detectors that scan the sky, and makes maps of them:\n"
              "hits, covariance, binned and destriped. An error is one line that names the file,\n"
              "what was found and what was expected; no partial file is ever left.\n",
          .exit_codes = all_exit_codes(),
          .environment = {{"FIBERLOOM_ISA", "forces an instruction set: generic, v2, v3 or v4"},
                          {"SLURM_CPUS_PER_TASK",
                           "limits the number of threads where --threads is not given"}}};
}

Command make_program() {
  Command program{
      .name = kProgram,
      .text = "Skyloom: simulates and maps the time-ordered data of CMB telescopes.",
      .footer = "Options and exit codes: skyloom COMMAND --help; all of them: skyloom manual\n"};
  program.options.version("--version", "skyloom " + std::string(version()));
  const std::string codes = exit_codes_of_writer().text();
  program.parts = {make_schedule_command(),
                   make_simulate(),
                   make_map(),
                   make_compare(),
                   make_view(),
                   make_info(),
                   make_completion("Example:\n  source <(skyloom completion bash)\n\n" + codes),
                   make_manual(manual_text(), "Example:\n  skyloom manual | man -l -\n\n" + codes)};
  return program;
}

}  // namespace
}  // namespace skyloom::cli

int main(int argc, char** argv) {
  return skyloom::run_program(skyloom::cli::kProgram, argc, argv, skyloom::cli::make_program);
}
