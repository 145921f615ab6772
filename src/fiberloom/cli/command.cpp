// SPDX-License-Identifier: BSD-3-Clause
// Options that commands share.
#include "fiberloom/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <map>

#include "fiberloom/cli/limits.hpp"
#include "fiberloom/cli/standard_output.hpp"
#include "loom/files/atomic_file.hpp"

namespace fiberloom::cli {

LogLevel LogOptions::threshold() const {
  if (quiet) return LogLevel::kWarning;
  if (verbose) return LogLevel::kDebug;
  static const std::map<std::string, LogLevel> levels{
      {"debug", LogLevel::kDebug},     {"info", LogLevel::kInfo},   {"warn", LogLevel::kWarning},
      {"warning", LogLevel::kWarning}, {"error", LogLevel::kError}, {"critical", LogLevel::kError}};
  return levels.at(level);
}

void add_log_options(CLI::App& app, LogOptions& options) {
  app.add_flag("--quiet,-q", options.quiet, "warnings and errors only, no progress")
      ->group("Messages");
  app.add_flag("-v,--verbose", options.verbose, "also say what happens inside")->group("Messages");
  app.add_option("--loglevel", options.level, "how much to say")
      ->check(CLI::IsMember({"debug", "info", "warn", "warning", "error", "critical"},
                            CLI::ignore_case))
      ->transform([](std::string text) { return CLI::detail::to_lower(text); })
      ->option_text("debug|info|warn|error")
      ->group("Messages");
}

void add_thread_option(CLI::App& app, std::size_t& threads) {
  app.add_option("--threads", threads,
                 "number of threads; default: affinity mask, cgroup quota or SLURM_CPUS_PER_TASK, "
                 "divided among local MPI ranks")
      ->check(between(1, 4096))
      ->option_text("N")
      ->group("Running");
}

void add_verify_option(CLI::App& app, Verify& verify, const std::string& group) {
  CLI::Option* option = app.add_flag_callback(
      "--no-verify", [&verify] { verify = Verify::kNo; },
      "do not compare the checksums of inputs (CHECKSUM, DATASUM), where they have them");
  if (!group.empty()) option->group(group);
}

void check_text_outputs(std::span<const NamedFile> files) {
  for (const NamedFile& file : files) {
    if (file.path.empty() || file.path == "-") continue;
    check_stream(file.path);
    check_place(file.path);
  }
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") return put(text);
  make_folder_of(path);
  remove_dead_temporaries(std::array{path});
  write_whole(path, text, Overwrite::kYes);
}

}  // namespace fiberloom::cli
