// SPDX-License-Identifier: BSD-3-Clause
// The program: one subcommand a file, one exit-code table, one line for every error.
#include <CLI/CLI.hpp>
#include <array>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "fiberloom/base/error.hpp"
#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/console.hpp"
#include "fiberloom/cli/heap.hpp"
#include "fiberloom/pipeline/version.hpp"
#include "fiberloom/runtime/stop_signal.hpp"

namespace fiberloom::cli {
namespace {

std::string exit_code_table() {
  constexpr std::array codes{
      Status::kOk,           Status::kDifferent,   Status::kUsage,          Status::kSomeFailed,
      Status::kNotFound,     Status::kMissingHdu,  Status::kMissingKeyword, Status::kWrongShape,
      Status::kCorrupt,      Status::kUnsupported, Status::kChanged,        Status::kNotCovered,
      Status::kSizeMismatch, Status::kFiberRange,  Status::kUnwritable,     Status::kDiskFull,
      Status::kOutputExists, Status::kNumerical,   Status::kInterrupted,    Status::kDevice,
      Status::kMemory,       Status::kInternal};
  std::string table = "Exit codes:\n";
  for (const Status code : codes) {
    char line[96];
    std::snprintf(line, sizeof line, "  %3d  %s\n", static_cast<int>(code),
                  std::string(status_name(code)).c_str());
    table += line;
  }
  return table;
}

/// Names the word that is no command, or the option that is none, where the parser would first miss
/// something else: what was typed wrong is what the user must see.
std::string what_was_wrong(const CLI::App& command, const CLI::ParseError& error) {
  const std::vector<std::string> unknown = command.remaining();
  const auto all = command.get_subcommands([](const CLI::App*) { return true; });
  std::string names;
  for (const CLI::App* one : all) names += (names.empty() ? "" : ", ") + one->get_name();
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return error.what();
  if (unknown.empty()) return all.empty() ? error.what() : "expected a command: " + names;
  if (all.empty() || unknown.front().starts_with('-')) return "no such option: " + unknown.front();
  return "no such command: " + unknown.front() + "; expected " + names;
}

/// What the user got wrong, on one line, with a hint.
int usage_error(const CLI::App& program, const CLI::ParseError& error) {
  std::string name = "fiberloom";
  const CLI::App* command = &program;
  for (auto parsed = command->get_subcommands(); !parsed.empty();
       parsed = command->get_subcommands()) {
    command = parsed.front();
    name += " " + command->get_name();
  }
  print_error(what_was_wrong(*command, error) + " (see: " + name + " --help)");
  return static_cast<int>(Status::kUsage);
}

int run(int argc, char** argv) {
  keep_freed_memory();
  CLI::App program("Fiberloom: exact 2-D extraction of multi-fibre spectra.", "fiberloom");
  program.set_version_flag("--version", "fiberloom " + std::string(version()));
  program.require_subcommand(1);
  program.get_formatter()->column_width(34);
  const std::array commands{make_extract(program),    make_expose(program),
                            make_night(program),      make_simulate(program),
                            make_compare(program),    make_info(program),
                            make_report(program),     make_bench(program),
                            make_completion(program), make_manual(program, exit_code_table())};
  program.footer(exit_code_table());
  for (const Command& command : commands) {  // a command's own footer is its example
    command.app->footer(command.app->get_footer() + exit_code_table());
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    return usage_error(program, error);
  }
  catch_stop_signals();
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
    return fiberloom::cli::run(argc, argv);
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
