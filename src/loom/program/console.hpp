// SPDX-License-Identifier: BSD-3-Clause
// The only place that prints while work is going on: messages and progress on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <string>

#include "loom/base/log.hpp"

namespace loom {

/// On a terminal progress is a bar with rate and time left, redrawn in place; elsewhere a line
/// every ten seconds. Safe from any thread.
class Console {
 public:
  explicit Console(LogLevel threshold);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  void message(LogLevel level, const std::string& text);
  /// What stands behind a comma may change within a stage: "iterations, residual 1e-5".
  void progress(const char* stage, std::size_t done, std::size_t total);

  /// A line of the caller's own in place of the bar: redrawn on a terminal, every ten seconds
  /// elsewhere.
  void line(const std::string& text);

  /// An observer that writes here and stops the work on SIGINT or SIGTERM.
  [[nodiscard]] Observer observer();

 private:
  using Clock = std::chrono::steady_clock;
  void clear_bar();

  std::mutex mutex_;
  LogLevel threshold_;
  bool terminal_;
  bool bar_shown_ = false;
  Clock::time_point start_, stage_start_, last_drawn_;
  std::string stage_, kind_;  ///< of progress: what is shown, and what it is the same stage by
};

/// The line of text of a bar, without cursor movement: "extract [#####.....] 10/20  8.1/s  1 s
/// left".
[[nodiscard]] std::string progress_line(const std::string& stage, std::size_t done,
                                        std::size_t total, double seconds, std::size_t bar_width);

/// "PROGRAM: error: ..." on one line of standard error.
void print_error(const std::string& program, const std::string& text);

}  // namespace loom
