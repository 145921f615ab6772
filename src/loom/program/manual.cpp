// SPDX-License-Identifier: BSD-3-Clause
// The manual page, from the same texts as --help.
#include "loom/program/manual.hpp"

#include "loom/base/letter_case.hpp"
#include "loom/program/standard_output.hpp"

namespace loom {
namespace {

/// Plain text in man's language: no line may begin as a request, a minus is a minus.
std::string roff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_start = c == '\n';
  }
  return out;
}

std::string option_entry(const Option& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names.append(names.empty() ? "" : ", ").append("\\fB").append(roff(name)).append("\\fR");
  }
  std::string text = ".TP\n" + names;
  const std::string value = option.value_text(), initial = option.initial();
  if (!value.empty() && !option.positional()) {
    text.append(" \\fI").append(roff(value)).append("\\fR");
  }
  text.append("\n").append(roff(option.text));
  if (option.traits.required) text += " (required)";
  if (!initial.empty()) text.append(" [").append(roff(initial)).append("]");
  return text + "\n";
}

/// The part of a footer before the table of exit codes.
std::string examples(const std::string& footer) {
  std::string text = footer.substr(0, footer.find("Exit codes:"));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string command_section(const Command& program, const Command& command) {
  std::string text =
      ".SS " + roff(program.name) + " " + command.name + "\n" + roff(command.text) + ".\n";
  std::string group;
  for (const Option& option : command.options.rows()) {
    if (option.group != group) {
      group = option.group;
      text += ".PP\n\\fI" + roff(group) + "\\fR\n";
    }
    text += option_entry(option);
  }
  if (const std::string shown = examples(command.footer); !shown.empty()) {
    text += ".PP\n.nf\n" + roff(shown) + "\n.fi\n";
  }
  return text;
}

}  // namespace

std::string manual_page(const Command& program, const ManualText& manual) {
  const std::string name = roff(program.name);
  std::string text = ".TH " + in_capitals(name) + " 1 \"\" \"" + name + " " + roff(manual.version) +
                     "\" \"User Commands\"\n.SH NAME\n" + name + " \\- " + roff(manual.subject) +
                     "\n.SH SYNOPSIS\n";
  for (const Command& command : program.parts) {
    text += ".B " + name + " " + command.name + "\n[\\fIoptions\\fR]";
    for (const Option& option : command.options.rows()) {
      if (option.positional()) text += " \\fI" + roff(option.names.front()) + "\\fR";
    }
    text += "\n.br\n";
  }
  text += ".SH DESCRIPTION\n" + roff(manual.description) + ".SH COMMANDS\n";
  for (const Command& command : program.parts) text += command_section(program, command);
  text += ".SH \"EXIT STATUS\"\n.nf\n" + roff(manual.exit_codes) + ".fi\n.SH ENVIRONMENT\n";
  for (const auto& [variable, meaning] : manual.environment) {
    text += ".TP\n.B " + variable + "\n" + roff(meaning) + "\n";
  }
  return text;
}

Command make_manual(ManualText manual, std::string footer) {
  return {.name = "manual",
          .text = "print the manual page",
          .footer = std::move(footer),
          .run = [manual = std::move(manual)](const Invocation& call) {
            put(manual_page(call.program, manual));
            return 0;
          }};
}

}  // namespace loom
