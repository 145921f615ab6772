// SPDX-License-Identifier: BSD-3-Clause
// Commands and their rows -> CLI11, which no other file sees: its templates cost seconds a file.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>
#include <type_traits>

#include "loom/base/error.hpp"
#include "loom/program/command.hpp"
#include "loom/program/command_line.hpp"
#include "loom/program/words.hpp"

namespace loom {
namespace {

constexpr std::size_t kNamesWidth = 34;  // where help's texts begin

/// A command in the parser.
struct Node {
  const Command* command;
  CLI::App* app;
  std::vector<CLI::Option*> options;  ///< by row
  std::vector<Node> parts;
};

CLI::Validator in_interval(const Interval& interval) {
  return {[interval](std::string& text) -> std::string {
            double value = 0;
            if (CLI::detail::lexical_cast(text, value) && interval.contains(value)) return {};
            return "expected a number " + interval.words() + ", got " + text;
          },
          interval.ends()};
}

/// Whole numbers as people write them, 00000010 being ten. The parser takes a leading zero for
/// octal, and makes another number of one that is too large or below 0 for its type; only 0x is no
/// decimal here.
template <class Whole>
CLI::Validator in_decimal(const std::optional<Interval>& interval) {
  return {[interval](std::string& text) -> std::string {
            const std::string trimmed = CLI::detail::trim_copy(text);  // "11, 12"
            const bool below = trimmed.starts_with('-');
            std::string digits = trimmed.substr(below || trimmed.starts_with('+') ? 1 : 0);
            const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
            digits = (below ? "-" : "") + digits.substr(hexadecimal ? 2 : 0);
            Whole value{};
            const char* const end = digits.data() + digits.size();
            const auto [stop, error] =
                std::from_chars(digits.data(), end, value, hexadecimal ? 16 : 10);
            if (error == std::errc() && stop == end) {
              text = std::to_string(value);
              return {};
            }
            using Limits = std::numeric_limits<Whole>;
            std::string range;
            if (interval) {
              range = " " + interval->words();
            } else if (std::is_unsigned_v<Whole> || error == std::errc::result_out_of_range) {
              range =
                  " from " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max());
            }
            return "expected a whole number" + range + ", got " + text;
          },
          ""};
}

/// An empty text names nothing: a script's variable that was not set would leave the option out,
/// and nobody would be told.
CLI::Validator not_empty() {
  return {[](std::string& text) -> std::string {
            return text.empty() ? "expected a value, got an empty text" : "";
          },
          ""};
}

/// Whether a text stands there that nothing else looks at.
bool takes_any_text(const Option& row) {
  return row.wants_value() && !row.positional() && row.traits.words.empty() &&
         !row.traits.may_be_empty &&
         (std::holds_alternative<std::string*>(row.slot) ||
          std::holds_alternative<std::vector<std::string>*>(row.slot));
}

void restrict_to_words(CLI::Option& option, const OptionTraits& traits) {
  if (traits.word_case == WordCase::kAny) {
    option.transform(CLI::IsMember(traits.words, CLI::ignore_case));
    return;
  }
  option.check(CLI::IsMember(traits.words));
  if (traits.word_case == WordCase::kLowered) {
    option.transform([](const std::string& text) { return CLI::detail::to_lower(text); });
  }
}

/// Makes the parser's option of a row that takes a value.
struct DeclareValue {
  CLI::App& app;
  const std::string names;
  const std::string& text;
  const std::optional<Interval>& interval;

  CLI::Option* operator()(std::monostate) const { return app.add_option(names, text)->expected(1); }
  CLI::Option* operator()(const std::function<void()>&) const {
    throw std::logic_error(names + ": a value wants a slot that takes one");
  }
  CLI::Option* operator()(const std::function<void(const std::string&)>& take) const {
    return app.add_option_function<std::string>(names, take, text);
  }
  template <class T>
  CLI::Option* operator()(T* variable) const {
    CLI::Option* const option = app.add_option(names, *variable, text);
    if constexpr (std::is_same_v<T, std::vector<long>>) {
      option->transform(in_decimal<long>(interval));
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      option->transform(in_decimal<T>(interval));
    }
    return option;
  }
};

CLI::Option* declare_flag(CLI::App& app, const Option& row) {
  const std::string names = joined(row.names, ",");
  if (row.kind == Option::Kind::kHelp) return app.set_help_flag(names, row.text);
  if (row.kind == Option::Kind::kVersion) return app.set_version_flag(names, row.text);
  if (const auto* variable = std::get_if<bool*>(&row.slot)) {
    return app.add_flag(names, **variable, row.text);
  }
  if (const auto* react = std::get_if<std::function<void()>>(&row.slot)) {
    return app.add_flag_callback(names, *react, row.text);
  }
  return app.add_flag(names, row.text);
}

CLI::Option* declare(CLI::App& app, const Option& row) {
  CLI::Option* const option =
      row.kind == Option::Kind::kValue
          ? std::visit(DeclareValue{app, joined(row.names, ","), row.text, row.traits.interval},
                       row.slot)
          : declare_flag(app, row);
  const OptionTraits& traits = row.traits;
  if (traits.interval) option->check(in_interval(*traits.interval));
  if (!traits.words.empty()) restrict_to_words(*option, traits);
  if (takes_any_text(row)) option->check(not_empty());
  const std::string initial = row.initial();
  if (!traits.words.empty() || !traits.value.empty()) {
    const bool shown = !initial.empty() && traits.if_alone == nullptr;
    option->option_text(row.value_text() + (shown ? "=" + initial : ""));
  }
  if (traits.delimiter != '\0') option->delimiter(traits.delimiter);
  if (traits.one_a_time) option->allow_extra_args(false);
  if (traits.if_alone != nullptr) option->expected(0, 1);
  if (!initial.empty()) option->default_str(initial);
  option->required(traits.required);
  option->group(row.group);
  return option;
}

/// Of commands that no word names only what help lists is declared: their options cost every start
/// more than all else here.
Node build(const Command& command, CLI::App& app, const std::vector<std::string>& words) {
  Node node{&command, &app, {}, {}};
  app.footer(command.footer);
  for (const Option& row : command.options.rows()) node.options.push_back(declare(app, row));
  for (const Command& part : command.parts) {
    CLI::App& its = *app.add_subcommand(part.name, part.text);
    const bool meant = std::find(words.begin(), words.end(), part.name) != words.end();
    node.parts.push_back(meant ? build(part, its, words) : Node{&part, &its, {}, {}});
  }
  if (!command.parts.empty()) app.require_subcommand(1);
  return node;
}

/// The deepest command that was named, and "fiberloom bench night", as the user would type it.
const Node& named(const Node& node, std::string& path) {
  path += (path.empty() ? "" : " ") + node.command->name;
  for (const Node& part : node.parts) {
    if (part.app->parsed()) return named(part, path);
  }
  return node;
}

/// What the user got wrong, also where the parser would not name it.
std::string what_was_wrong(const Command& command, const CLI::ParseError& error) {
  if (command.parts.empty() || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
    return error.what();
  }
  return "expected a command: " + joined(part_names(command), ", ");
}

Given given_of(const Node& node) {
  std::map<std::size_t, std::string> texts;
  for (std::size_t i = 0; i < node.options.size(); ++i) {
    if (node.options[i]->count() > 0) texts[i] = joined(node.options[i]->reduced_results(), " ");
  }
  return {node.command->options, texts};
}

}  // namespace

std::variant<Chosen, std::string> parse(const Command& program,
                                        std::span<const std::string> arguments) {
  std::vector<std::string> words = spell_out(program, arguments);
  std::reverse(words.begin(), words.end());  // as the parser wants them
  CLI::App app(program.text, program.name);
  app.get_formatter()->column_width(kNamesWidth);
  app.option_defaults()->take_last();  // of an option that is given twice
  const Node root = build(program, app, words);
  std::string path;
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      app.exit(error, text, text);
      return text.str();
    }
    const Command& command = *named(root, path).command;
    throw Error(Status::kUsage, what_was_wrong(command, error) + " (see: " + path + " --help)");
  }
  const Node& node = named(root, path);
  return Chosen{node.command, given_of(node)};
}

}  // namespace loom
