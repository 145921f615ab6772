// SPDX-License-Identifier: BSD-3-Clause
// The exit codes as text: all of them for the manual, a command's own for its help.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {

/// One line a code.
[[nodiscard]] std::string exit_code_table();

/// Which of the codes above 2 a command may end with; 0 and 2 all have.
struct ExitCodes {
  bool reads = false;    ///< files: 10 to 16
  bool matches = false;  ///< files that must fit each other: 20 to 22
  bool writes = false;   ///< files or standard output: 30 to 32
  std::vector<Status> more = {};
};

/// "Exit codes: 0 success, 2 wrong command line, 10-16 input ...", in lines of at most 80 letters.
[[nodiscard]] std::string exit_codes_of(const ExitCodes& codes);

}  // namespace fiberloom::cli
