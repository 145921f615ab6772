// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom manual`: the manual page, from the same texts as --help.
#include <CLI/CLI.hpp>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/option_table.hpp"
#include "fiberloom/cli/standard_output.hpp"
#include "fiberloom/recipes/version.hpp"

namespace fiberloom::cli {
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

std::string option_entry(const OptionRow& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name) + "\\fR");
  }
  std::string text = ".TP\n" + names;
  if (!option.value.empty() && !option.positional) text += " \\fI" + roff(option.value) + "\\fR";
  text += "\n" + roff(option.text);
  if (option.required) text += " (required)";
  if (!option.initial.empty()) text += " [" + roff(option.initial) + "]";
  return text + "\n";
}

/// The part of a footer before the table of exit codes.
std::string examples(const std::string& footer) {
  std::string text = footer.substr(0, footer.find("Exit codes:"));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string command_section(const CommandTable& command) {
  std::string text = ".SS fiberloom " + command.name + "\n" + roff(command.text) + ".\n";
  std::string group;
  for (const OptionRow& option : command.options) {
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

std::string manual_page(const std::vector<CommandTable>& commands, const std::string& version,
                        const std::string& exit_codes) {
  std::string text = ".TH FIBERLOOM 1 \"\" \"fiberloom " + roff(version) +
                     "\" \"User Commands\"\n"
                     ".SH NAME\n"
                     "fiberloom \\- exact 2\\-D extraction of multi\\-fibre spectra\n"
                     ".SH SYNOPSIS\n";
  for (const CommandTable& command : commands) {
    text += ".B fiberloom " + command.name + "\n[\\fIoptions\\fR]";
    for (const OptionRow& option : command.options) {
      if (option.positional) text += " \\fI" + roff(option.names.front()) + "\\fR";
    }
    text += "\n.br\n";
  }
  text +=
      ".SH DESCRIPTION\n"
      "Turns the CCD frames of a multi\\-fibre spectrograph into 1\\-D spectra: every fibre and "
      "every\n"
      "wavelength at once, through a 2\\-D model of the PSF. It reads and writes the files of the "
      "DESI\n"
      "pipeline and takes the options of spex and desi_extract_spectra. An error is one line that\n"
      "names the file, what was found and what was expected; no partial file is ever left.\n"
      ".SH COMMANDS\n";
  for (const CommandTable& command : commands) text += command_section(command);
  text += ".SH \"EXIT STATUS\"\n.nf\n" + roff(exit_codes) +
          ".fi\n"
          ".SH ENVIRONMENT\n"
          ".TP\n.B FIBERLOOM_ISA\n"
          "forces an instruction set: generic, v2, v3 or v4\n"
          ".TP\n.B SLURM_CPUS_PER_TASK\n"
          "limits the number of threads where \\-\\-threads is not given\n";
  return text;
}

Command make_manual(CLI::App& program) {
  CLI::App* app = program.add_subcommand("manual", "print the manual page");
  app->footer("Example:\n  fiberloom manual | man -l -\n\n" + exit_codes_of({.writes = true}));
  return {app, [&program] {
            const std::string text =
                manual_page(command_tables(program), std::string(version()), exit_code_table());
            put(text);
            return 0;
          }};
}

}  // namespace fiberloom::cli
