// SPDX-License-Identifier: BSD-3-Clause
// `tomoloom info`: what a file is.
#include <memory>
#include <string>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/program/standard_output.hpp"
#include "tomoloom/cli/command.hpp"
#include "tomoloom/cli/exit_codes.hpp"
#include "tomoloom/recipes/inspect_file.hpp"

namespace tomoloom::cli {
namespace {

struct InfoCommand {
  std::vector<std::string> files;
  std::string group = "exchange";
};

int run_info(const InfoCommand& command) {
  for (const std::string& file : command.files) {
    const FileReport report = inspect_file(file, command.group);
    put(print("%s: %s\n", report.path.c_str(), report.kind.c_str()));
    for (const auto& [name, value] : report.facts) {
      put(print("  %-16s %s\n", name.c_str(), value.c_str()));
    }
  }
  return 0;
}

}  // namespace

Command make_info() {
  Command command{
      .name = "info",
      .text = "say what scans and volumes hold",
      .footer = "Example:\n  tomoloom info scan.h5\n\n" + exit_codes_of_reader().text()};
  const auto state = std::make_shared<InfoCommand>();
  command.options.add("FILE", &state->files, "scan or volume", {.required = true});
  command.options.add("--group", &state->group, "exchange, exchange1 ...", {.shows_default = true});
  command.run = [state](const Invocation&) { return run_info(*state); };
  return command;
}

}  // namespace tomoloom::cli
