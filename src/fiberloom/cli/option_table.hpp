// SPDX-License-Identifier: BSD-3-Clause
// The options of the program as plain tables: what completion scripts and the manual page are made
// of.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace fiberloom::cli {

struct OptionRow {
  std::vector<std::string> names;  ///< "-i", "--input"; a positional's own name otherwise
  std::string value;               ///< "TEXT", "exact|patch"; empty for a flag
  std::vector<std::string> words;  ///< the values where there are only a few
  std::string text, initial, group;
  bool positional = false, required = false, file = false;  ///< file: a path may stand there
};

struct CommandTable {
  std::string name, text, footer;
  std::vector<OptionRow> options;
};

/// The subcommands in order, as help shows them.
[[nodiscard]] std::vector<CommandTable> command_tables(const CLI::App& program);

/// A script for bash, zsh or fish; throws kUsage for another shell.
[[nodiscard]] std::string completion_script(const std::vector<CommandTable>& commands,
                                            const std::string& shell);

/// The manual page fiberloom(1) in man's language.
[[nodiscard]] std::string manual_page(const std::vector<CommandTable>& commands,
                                      const std::string& version, const std::string& exit_codes);

}  // namespace fiberloom::cli
