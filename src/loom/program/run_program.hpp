// SPDX-License-Identifier: BSD-3-Clause
// What main() of a program does.
#pragma once

#include <functional>
#include <string>

#include "loom/program/command.hpp"

namespace loom {

/// Prepares the process, understands the arguments and runs the command that they name. Whatever is
/// thrown, by `make` too, becomes one line on standard error; returns the exit code.
[[nodiscard]] int run_program(const std::string& name, int argc, char** argv,
                              const std::function<Command()>& make);

}  // namespace loom
