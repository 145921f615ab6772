// SPDX-License-Identifier: BSD-3-Clause
// The program: one subcommand a file, one exit-code table, one line for every error.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/command_line.hpp"
#include "fiberloom/cli/console.hpp"
#include "fiberloom/cli/heap.hpp"
#include "fiberloom/cli/standard_output.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/stop_signal.hpp"

namespace fiberloom::cli {
namespace {

/// What the user got wrong, where the parser would not name it.
std::string what_was_wrong(const CLI::App& command, const CLI::ParseError& error) {
  const auto all = command.get_subcommands([](const CLI::App*) { return true; });
  if (all.empty() || dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
    return error.what();
  }
  std::string names;
  for (const CLI::App* one : all) names += (names.empty() ? "" : ", ") + one->get_name();
  return "expected a command: " + names;
}

/// What the user got wrong, on one line, with a hint.
int usage_error(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  print_error(what_was_wrong(*command, error) + " (see: " + full_name(*command) + " --help)");
  return static_cast<int>(Status::kUsage);
}

/// The text of --help or --version.
int answer(const CLI::App& program, const CLI::ParseError& error) {
  std::ostringstream text;
  const int code = program.exit(error, text, text);
  put(text.str());
  return code;
}

/// Parses; the exit code where that is all there is to do.
std::optional<int> parse(CLI::App& program, std::span<char*> arguments) {
  std::vector<std::string> words =
      spell_out(program, std::vector<std::string>(arguments.begin(), arguments.end()));
  std::reverse(words.begin(), words.end());  // as the parser wants them
  try {
    program.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? answer(program, error) : usage_error(program, error);
  }
  return std::nullopt;
}

int run(std::span<char*> arguments) {
  keep_standard_descriptors();
  ignore_write_signals();
  keep_freed_memory();
  CLI::App program("Fiberloom: exact 2-D extraction of multi-fibre spectra.", "fiberloom");
  program.set_version_flag("--version", "fiberloom " + std::string(version()));
  program.require_subcommand(1);
  program.get_formatter()->column_width(34);
  program.option_defaults()->take_last();  // of an option that is given twice
  const std::array commands{make_extract(program),  make_expose(program),  make_night(program),
                            make_simulate(program), make_compare(program), make_info(program),
                            make_report(program),   make_bench(program),   make_completion(program),
                            make_manual(program)};
  program.footer(
      "Options and exit codes: fiberloom COMMAND --help; all of them: fiberloom manual\n");
  if (const auto code = parse(program, arguments)) return *code;
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  return static_cast<int>(Status::kUsage);
}

}  // namespace
}  // namespace fiberloom::cli

int main(int argc, char** argv) {
  using fiberloom::cli::print_error;
  try {
    return fiberloom::cli::run({argv + 1, argv + std::max(argc, 1)});
  } catch (const fiberloom::Error& error) {
    print_error(error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return static_cast<int>(fiberloom::Status::kMemory);
  } catch (const std::system_error& error) {
    if (error.code() ==
        std::errc::resource_unavailable_try_again) {  // no room for a thread's stack
      print_error(std::string("a thread cannot be started: ") + error.what());
      return static_cast<int>(fiberloom::Status::kMemory);
    }
    print_error(std::string("internal: ") + error.what());
  } catch (const std::exception& error) {
    print_error(std::string("internal: ") + error.what());
  }
  return static_cast<int>(fiberloom::Status::kInternal);
}
