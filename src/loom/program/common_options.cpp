// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/common_options.hpp"

#include <map>

namespace loom {

LogLevel LogOptions::threshold() const {
  if (quiet) return LogLevel::kWarning;
  if (verbose) return LogLevel::kDebug;
  static const std::map<std::string, LogLevel> levels{
      {"debug", LogLevel::kDebug},     {"info", LogLevel::kInfo},   {"warn", LogLevel::kWarning},
      {"warning", LogLevel::kWarning}, {"error", LogLevel::kError}, {"critical", LogLevel::kError}};
  return levels.at(level);
}

void add_log_options(Options& options, LogOptions& log) {
  options.group("Messages");
  options.flag("--quiet,-q", &log.quiet, "warnings and errors only, no progress");
  options.flag("-v,--verbose", &log.verbose, "also say what happens inside");
  options.add("--loglevel", &log.level, "how much to say",
              {.value = "debug|info|warn|error",
               .words = {"debug", "info", "warn", "warning", "error", "critical"},
               .word_case = WordCase::kLowered});
}

void add_thread_option(Options& options, std::size_t& threads) {
  options.add("--threads", &threads,
              "number of threads; default: affinity mask, cgroup quota or SLURM_CPUS_PER_TASK, "
              "divided among local MPI ranks",
              {.value = "N", .interval = between(1, 4096)});
}

}  // namespace loom
