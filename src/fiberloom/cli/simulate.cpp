// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom simulate`.
#include <CLI/CLI.hpp>

#include "fiberloom/base/error.hpp"
#include "fiberloom/cli/command.hpp"

namespace fiberloom::cli {

Command make_simulate(CLI::App& program) {
  CLI::App* app = program.add_subcommand("simulate", "make a camera's frames, PSF and truth");
  return {app, []() -> int { throw Error(Status::kUnsupported, "simulate: not there yet"); }};
}

}  // namespace fiberloom::cli
