// SPDX-License-Identifier: BSD-3-Clause
// Options that most commands of any program have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "loom/base/log.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/program/options.hpp"

namespace loom {

/// How much to say.
struct LogOptions {
  bool quiet = false;
  bool verbose = false;
  std::string level = "info";
  /// --quiet leaves warnings and errors, -v adds debug lines; else --loglevel.
  [[nodiscard]] LogLevel threshold() const;
};
void add_log_options(Options& options, LogOptions& log);

/// --no-clobber: what `overwrite` is without it stays.
void add_no_clobber_option(Options& options, Overwrite& overwrite);

/// --threads; 0: what the machine and the batch system grant.
void add_thread_option(Options& options, std::size_t& threads);

/// What follows --memory, "500M" or "8G", in bytes. Throws kUsage.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text);

}  // namespace loom
