// SPDX-License-Identifier: BSD-3-Clause
// Exit codes in skyloom's words.
#pragma once

#include <string>

#include "loom/program/exit_codes.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom::cli {

/// One line a code, for the manual.
[[nodiscard]] std::string all_exit_codes();

/// What every command may end with, to be added to.
[[nodiscard]] ExitCodeText exit_codes();
/// That, and what reading scans and writing files add.
[[nodiscard]] ExitCodeText exit_codes_of_reader();
[[nodiscard]] ExitCodeText exit_codes_of_writer();
/// Both: of one that makes a file of others.
[[nodiscard]] ExitCodeText exit_codes_of_maker();

}  // namespace skyloom::cli
