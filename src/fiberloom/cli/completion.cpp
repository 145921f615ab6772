// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom completion SHELL`: what the shell offers after TAB, from the option tables.
#include <CLI/CLI.hpp>
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/option_table.hpp"
#include "fiberloom/cli/standard_output.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {
namespace {

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> names_of(const CommandTable& command) {
  std::vector<std::string> names;
  for (const OptionRow& option : command.options) {
    if (option.positional) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> names_of(const std::vector<CommandTable>& commands) {
  std::vector<std::string> names;
  for (const CommandTable& command : commands) names.push_back(command.name);
  return names;
}

/// Text between single quotes in a shell, without the characters of `special`, which a completion
/// language would read.
std::string quotable(const std::string& text, const char* special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (std::string(special).find(c) != std::string::npos) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string bash(const std::vector<CommandTable>& commands) {
  std::string text =
      "# bash completion of fiberloom; made by `fiberloom completion bash`\n"
      "_fiberloom() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} offer=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    offer='" +
      join(names_of(commands), " ") + " --help --version'\n  else\n    case ${COMP_WORDS[1]} in\n";
  for (const CommandTable& command : commands) {
    text += "      " + command.name + ")\n        case $before in\n";
    std::string files;
    for (const OptionRow& option : command.options) {
      if (option.positional) {
        if (!option.words.empty()) {
          text += "          " + command.name + ") offer='" + join(option.words, " ") + "' ;;\n";
        }
      } else if (!option.words.empty()) {
        text += "          " + join(option.names, "|") + ") offer='" + join(option.words, " ") +
                "' ;;\n";
      } else if (!option.value.empty()) {
        files += (files.empty() ? "" : "|") + join(option.names, "|");
      }
    }
    if (!files.empty()) text += "          " + files + ") return ;;\n";
    text += "          *) [[ $word == -* ]] && offer='" + join(names_of(command), " ") +
            "' ;;\n        esac ;;\n";
  }
  return text +
         "    esac\n"
         "  fi\n"
         "  [ -z \"$offer\" ] || mapfile -t COMPREPLY < <(compgen -W \"$offer\" -- \"$word\")\n"
         "}\n"
         "complete -o default -F _fiberloom fiberloom\n";
}

std::string zsh_argument(const OptionRow& option) {
  const std::string text = quotable(option.text, "[]:");
  std::string value;
  if (!option.words.empty()) {
    value = ":value:(" + join(option.words, " ") + ")";
  } else if (option.file) {
    value = ":file:_files";
  } else if (!option.value.empty()) {
    value = ":value: ";
  }
  if (option.positional) {
    return "        '*:" + text +
           (option.words.empty() ? ":_files" : ":(" + join(option.words, " ") + ")") + "'";
  }
  std::string lines;
  for (const std::string& name : option.names) {
    lines +=
        (lines.empty() ? "" : " \\\n") + ("        '*" + name + "[" + text + "]" + value + "'");
  }
  return lines;
}

std::string zsh(const std::vector<CommandTable>& commands) {
  std::string text =
      "#compdef fiberloom\n"
      "# zsh completion of fiberloom; made by `fiberloom completion zsh`\n"
      "_fiberloom() {\n"
      "  local -a commands=(\n";
  for (const CommandTable& command : commands) {
    text += "    '" + command.name + ":" + quotable(command.text, ":") + "'\n";
  }
  text +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const CommandTable& command : commands) {
    text += "    " + command.name + ")\n      _arguments";
    for (const OptionRow& option : command.options) text += " \\\n" + zsh_argument(option);
    text += " ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _fiberloom ]; then _fiberloom \"$@\"; "
         "else compdef _fiberloom fiberloom; fi\n";
}

std::string fish(const std::vector<CommandTable>& commands) {
  std::string text =
      "# fish completion of fiberloom; made by `fiberloom completion fish`\n"
      "complete -c fiberloom -n __fish_use_subcommand -l help -d 'help'\n"
      "complete -c fiberloom -n __fish_use_subcommand -l version -d 'version'\n";
  for (const CommandTable& command : commands) {
    text += "complete -c fiberloom -n __fish_use_subcommand -f -a " + command.name + " -d '" +
            quotable(command.text, "\\") + "'\n";
    for (const OptionRow& option : command.options) {
      std::string line =
          "complete -c fiberloom -n '__fish_seen_subcommand_from " + command.name + "'";
      if (option.positional) {
        if (option.words.empty()) continue;
        text += line + " -f -a '" + join(option.words, " ") + "'\n";
        continue;
      }
      for (const std::string& name : option.names) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.empty()) line += option.file ? " -r" : " -x";
      if (!option.words.empty()) line += " -a '" + join(option.words, " ") + "'";
      text += line + " -d '" + quotable(option.text, "\\") + "'\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const std::vector<CommandTable>& commands, const std::string& shell) {
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  throw Error(Status::kUsage, "completion " + shell + ": expected bash, zsh or fish");
}

Command make_completion(CLI::App& program) {
  CLI::App* app = program.add_subcommand("completion", "print a completion script for a shell");
  app->footer("Example:\n  source <(fiberloom completion bash)\n\n" +
              exit_codes_of({.writes = true}));
  const auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "for which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->option_text("bash|zsh|fish");
  return {app, [&program, shell] {
            const std::string text = completion_script(command_tables(program), *shell);
            put(text);
            return 0;
          }};
}

}  // namespace fiberloom::cli
