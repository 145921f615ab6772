// SPDX-License-Identifier: BSD-3-Clause
// A program as a tree of commands, and the way from what a user typed to the command to run. The
// only header that the parser is behind.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "loom/program/options.hpp"

namespace loom {

struct Command;

/// What was on the command line of a command.
class Given {
 public:
  /// `texts` by the row's place in `options`; a row that was not given has none.
  Given(const Options& options, const std::map<std::size_t, std::string>& texts);

  /// Whether the option of this name was given. Throws std::logic_error where the command has none.
  [[nodiscard]] bool has(const std::string& name) const { return find(name).given; }
  /// Every option that was given by its full name, with its text: "true" for a flag, the values of
  /// a list with a space between.
  [[nodiscard]] std::map<std::string, std::string> texts() const;

 private:
  struct Row {
    std::vector<std::string> names;
    std::string full_name, text;
    bool given = false;
  };
  [[nodiscard]] const Row& find(const std::string& name) const;
  std::vector<Row> rows_;
};

/// What a command knows when it runs.
struct Invocation {
  const Command& program;
  Given given;
};

/// A command of a program, or the program itself. One with `parts` wants one of them named and
/// runs nothing of its own.
struct Command {
  std::string name = {}, text = {}, footer = {};
  Options options = {};
  std::vector<Command> parts = {};
  std::function<int(const Invocation&)> run = {};  ///< returns the exit code
};

/// The command that was asked for, all slots filled.
struct Chosen {
  const Command* command;
  Given given;
};

/// Understands the arguments (without the program's name): the command to run, or the text of
/// --help or --version. Throws kUsage, with a hint where to look.
[[nodiscard]] std::variant<Chosen, std::string> parse(const Command& program,
                                                      std::span<const std::string> arguments);

}  // namespace loom
