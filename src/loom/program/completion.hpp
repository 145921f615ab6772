// SPDX-License-Identifier: BSD-3-Clause
// `PROGRAM completion SHELL`: a script by which the shell completes commands and options.
#pragma once

#include <string>

#include "loom/program/command.hpp"

namespace loom {

/// A script for bash, zsh or fish; throws kUsage for another shell.
[[nodiscard]] std::string completion_script(const Command& program, const std::string& shell);

/// The command that prints it.
[[nodiscard]] Command make_completion(std::string footer);

}  // namespace loom
