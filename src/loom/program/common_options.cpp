// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/common_options.hpp"

#include <cmath>
#include <cstdlib>
#include <map>

#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"

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

void add_no_clobber_option(Options& options, Overwrite& overwrite) {
  options.flag(
      "--no-clobber", [&overwrite] { overwrite = Overwrite::kNo; },
      "refuse to replace an existing output");
}

void add_thread_option(Options& options, std::size_t& threads) {
  options.add("--threads", &threads,
              "number of threads; default: affinity mask, cgroup quota or SLURM_CPUS_PER_TASK, "
              "divided among local MPI ranks",
              {.value = "N", .interval = between(1, 4096)});
}

std::uint64_t parse_bytes(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const std::string unit(end);
  double factor = 1;
  bool good = end != text.c_str() && std::isfinite(value) && value > 0;
  if (!unit.empty()) {
    const std::size_t power = std::string("KMGT").find(capital(unit[0]));
    const std::string rest = unit.substr(1);
    good = good && power != std::string::npos && (rest.empty() || rest == "B" || rest == "iB");
    if (good) factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  if (!good || value * factor > 1e18) {
    throw Error(Status::kUsage, "--memory " + text + ": expected bytes, such as 500M or 8G");
  }
  return static_cast<std::uint64_t>(value * factor);
}

}  // namespace loom
