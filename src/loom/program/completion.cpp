// SPDX-License-Identifier: BSD-3-Clause
// What the shell offers after TAB, from the options of the commands.
#include "loom/program/completion.hpp"

#include <memory>

#include "loom/base/error.hpp"
#include "loom/program/standard_output.hpp"

namespace loom {
namespace {

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

std::vector<std::string> names_of(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : command.options.rows()) {
    if (option.positional()) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> names_of(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.name);
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

std::string bash(const Command& program) {
  const std::string& name = program.name;
  std::string text = "# bash completion of " + name + "; made by `" + name +
                     " completion bash`\n_" + name +
                     "() {\n"
                     "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
                     "offer=\n"
                     "  COMPREPLY=()\n"
                     "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                     "    offer='" +
                     join(names_of(program.parts), " ") +
                     " --help --version'\n  else\n    case ${COMP_WORDS[1]} in\n";
  for (const Command& command : program.parts) {
    text += "      " + command.name + ")\n        case $before in\n";
    std::string files;
    for (const Option& option : command.options.rows()) {
      const std::string words = join(option.offered_words(), " ");
      const std::string before = option.positional() ? command.name : join(option.names, "|");
      if (!words.empty()) {
        text += "          " + before + ") offer='" + words + "' ;;\n";
      } else if (!option.positional() && !option.value_text().empty()) {
        files += (files.empty() ? "" : "|") + before;
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
         "complete -o default -F _" +
         name + " " + name + "\n";
}

std::string zsh_argument(const Option& option) {
  const std::string text = quotable(option.text, "[]:");
  const std::string words = join(option.offered_words(), " ");
  if (option.positional()) {
    return "        '*:" + text + (words.empty() ? ":_files" : ":(" + words + ")") + "'";
  }
  std::string value;
  if (!words.empty()) {
    value = ":value:(" + words + ")";
  } else if (option.takes_path()) {
    value = ":file:_files";
  } else if (!option.value_text().empty()) {
    value = ":value: ";
  }
  std::string lines;
  for (const std::string& name : option.names) {
    lines +=
        (lines.empty() ? "" : " \\\n") + ("        '*" + name + "[" + text + "]" + value + "'");
  }
  return lines;
}

std::string zsh(const Command& program) {
  const std::string& name = program.name;
  std::string text = "#compdef " + name + "\n# zsh completion of " + name + "; made by `" + name +
                     " completion zsh`\n_" + name +
                     "() {\n"
                     "  local -a commands=(\n";
  for (const Command& command : program.parts) {
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
  for (const Command& command : program.parts) {
    text += "    " + command.name + ")\n      _arguments";
    for (const Option& option : command.options.rows()) text += " \\\n" + zsh_argument(option);
    text += " ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _" +
         name + " ]; then _" + name + " \"$@\"; else compdef _" + name + " " + name + "; fi\n";
}

std::string fish(const Command& program) {
  const std::string& name = program.name;
  const std::string start = "complete -c " + name;
  const std::string first = start + " -n __fish_use_subcommand";
  std::string text = "# fish completion of " + name + "; made by `" + name + " completion fish`\n" +
                     first + " -l help -d 'help'\n" + first + " -l version -d 'version'\n";
  for (const Command& command : program.parts) {
    text += first + " -f -a " + command.name + " -d '" + quotable(command.text, "\\") + "'\n";
    for (const Option& option : command.options.rows()) {
      const std::string words = join(option.offered_words(), " ");
      std::string line = start + " -n '__fish_seen_subcommand_from " + command.name + "'";
      if (option.positional()) {
        if (!words.empty()) text += line + " -f -a '" + words + "'\n";
        continue;
      }
      for (const std::string& one : option.names) {
        line += one.starts_with("--") ? " -l " + one.substr(2) : " -s " + one.substr(1);
      }
      if (!option.value_text().empty()) line += option.takes_path() ? " -r" : " -x";
      if (!words.empty()) line += " -a '" + words + "'";
      text += line + " -d '" + quotable(option.text, "\\") + "'\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const Command& program, const std::string& shell) {
  if (shell == "bash") return bash(program);
  if (shell == "zsh") return zsh(program);
  if (shell == "fish") return fish(program);
  throw Error(Status::kUsage, "completion " + shell + ": expected bash, zsh or fish");
}

Command make_completion(std::string footer) {
  Command command{.name = "completion",
                  .text = "print a completion script for a shell",
                  .footer = std::move(footer)};
  const auto shell = std::make_shared<std::string>();
  command.options.add("SHELL", shell.get(), "for which shell",
                      {.words = {"bash", "zsh", "fish"}, .required = true});
  command.run = [shell](const Invocation& call) {
    put(completion_script(call.program, *shell));
    return 0;
  };
  return command;
}

}  // namespace loom
