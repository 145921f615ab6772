// SPDX-License-Identifier: BSD-3-Clause
// What every command of the program has: its place in the parser, and the options that all share.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "fiberloom/formats/formats.hpp"
#include "loom/base/log.hpp"
#include "loom/files/output_files.hpp"

namespace CLI {
class App;
}

namespace fiberloom::cli {

/// A subcommand: `app` knows whether it was asked for, `run` does it and returns the exit code.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

[[nodiscard]] Command make_extract(CLI::App& program);
[[nodiscard]] Command make_simulate(CLI::App& program);
[[nodiscard]] Command make_compare(CLI::App& program);
[[nodiscard]] Command make_expose(CLI::App& program);
[[nodiscard]] Command make_night(CLI::App& program);
[[nodiscard]] Command make_bench(CLI::App& program);
[[nodiscard]] Command make_info(CLI::App& program);
[[nodiscard]] Command make_report(CLI::App& program);
[[nodiscard]] Command make_completion(CLI::App& program);
[[nodiscard]] Command make_manual(CLI::App& program);

/// How much to say.
struct LogOptions {
  bool quiet = false;
  bool verbose = false;
  std::string level = "info";
  /// --quiet leaves warnings and errors, -v adds debug lines; else --loglevel.
  [[nodiscard]] LogLevel threshold() const;
};
void add_log_options(CLI::App& app, LogOptions& options);

/// --threads; 0: what the machine and the batch system grant.
void add_thread_option(CLI::App& app, std::size_t& threads);

/// --no-verify, for every command that reads FITS files.
void add_verify_option(CLI::App& app, Verify& verify, const std::string& group = "");

/// Throws kUnwritable where one of these, a summary or a timeline, could not be written.
void check_text_outputs(std::span<const NamedFile> files);

/// Writes a text file whole, its folder too where there is none; "-" is standard output. Throws
/// kUnwritable, kDiskFull.
void write_text(const std::string& path, const std::string& text);

}  // namespace fiberloom::cli
