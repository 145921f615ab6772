// SPDX-License-Identifier: BSD-3-Clause
// What a user typed -> what the parser takes. Reads commands and options as argparse does for the
// users of the peers, and says what was probably meant.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loom/program/command.hpp"

namespace loom {

/// The arguments with every option under its full name and its value apart: `--wave=X` (an
/// unambiguous beginning), `-w=X`, `-wX`, `-qv`. Numbers below 0 are values, and so is what follows
/// an option that takes one, unless it is itself an option of the command. Throws kUsage for a
/// command or an option that is none or could be several.
[[nodiscard]] std::vector<std::string> spell_out(const Command& program,
                                                 std::span<const std::string> arguments);

/// Of `names` those that `typed` is probably a slip of, at most three, the nearest.
[[nodiscard]] std::vector<std::string> similar_names(const std::string& typed,
                                                     const std::vector<std::string>& names);

/// Names of the commands below this one, as help shows them.
[[nodiscard]] std::vector<std::string> part_names(const Command& command);

}  // namespace loom
