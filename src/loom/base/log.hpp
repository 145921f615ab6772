// SPDX-License-Identifier: BSD-3-Clause
// Where messages go. The library never prints; cli/ gives it a sink.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace loom {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// What a caller may listen to. Both may be empty; both must be safe to call from any thread.
struct Observer {
  std::function<void(LogLevel, const std::string&)> message;
  /// done of total units of work (bundles) of the named stage
  std::function<void(const char* stage, std::size_t done, std::size_t total)> progress;
  /// polled between tasks: true stops the work (Error kInterrupted)
  std::function<bool()> stop_requested;

  void log(LogLevel level, const std::string& text) const {
    if (message) message(level, text);
  }
  void info(const std::string& text) const { log(LogLevel::kInfo, text); }
  void warn(const std::string& text) const { log(LogLevel::kWarning, text); }
};

}  // namespace loom
