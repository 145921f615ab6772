// SPDX-License-Identifier: BSD-3-Clause
// Options that commands share.
#include "fiberloom/cli/command.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>

#include "fiberloom/base/error.hpp"
#include "fiberloom/cli/limits.hpp"

namespace fiberloom::cli {

namespace fs = std::filesystem;

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

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  std::error_code ignored;  // a device or a pipe is written to, never replaced
  const bool direct = fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  const std::string name = direct ? path : path + ".tmp";
  std::FILE* file = std::fopen(name.c_str(), "w");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  if (good && (direct || std::rename(name.c_str(), path.c_str()) == 0)) return;
  const int reason = errno;
  if (file != nullptr && !direct) std::remove(name.c_str());
  throw Error(reason == ENOSPC ? Status::kDiskFull : Status::kUnwritable,
              path + ": cannot be written (" + std::strerror(reason) + ")");
}

}  // namespace fiberloom::cli
