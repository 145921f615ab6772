// SPDX-License-Identifier: BSD-3-Clause
// `skyloom info`: what a file is.
#include <memory>
#include <string>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/program/standard_output.hpp"
#include "skyloom/cli/command.hpp"
#include "skyloom/cli/exit_codes.hpp"
#include "skyloom/recipes/inspect_file.hpp"

namespace skyloom::cli {
namespace {

int run_info(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const FileReport report = inspect_file(file);
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
      .text = "say what observations and maps hold",
      .footer = "Example:\n  skyloom info maps/map.fits\n\n" + exit_codes_of_reader().text()};
  const auto files = std::make_shared<std::vector<std::string>>();
  command.options.add("FILE", files.get(), "observation (HDF5) or map (FITS, HDF5)",
                      {.required = true});
  command.run = [files](const Invocation&) { return run_info(*files); };
  return command;
}

}  // namespace skyloom::cli
