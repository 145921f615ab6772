// SPDX-License-Identifier: BSD-3-Clause
// Messages and the progress bar.
#include "loom/program/console.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/runtime/stop_signal.hpp"

namespace loom {
namespace {

constexpr std::size_t kBarWidth = 30;
constexpr double kRedraw = 0.1;   // seconds, on a terminal
constexpr double kLogEvery = 10;  // seconds, in a log

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "";
}

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::string progress_line(const std::string& stage, std::size_t done, std::size_t total,
                          double seconds, std::size_t bar_width) {
  const double fraction = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
  std::string bar;
  if (bar_width > 0) {
    const auto filled =
        std::min(bar_width,
                 static_cast<std::size_t>(std::lround(fraction * static_cast<double>(bar_width))));
    bar.append("[").append(filled, '#').append(bar_width - filled, '.').append("] ");
  }
  char text[128];
  if (done == 0 || seconds <= 0) {
    std::snprintf(text, sizeof text, "%zu/%zu", done, total);
  } else {
    const double rate = static_cast<double>(done) / seconds;
    const double left = total > done ? static_cast<double>(total - done) / rate : 0.0;
    std::snprintf(text, sizeof text, "%zu/%zu  %.1f/s  %.0f s left", done, total, rate, left);
  }
  return stage + " " + bar + text;
}

Console::Console(LogLevel threshold)
    : threshold_(threshold),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      stage_start_(start_),
      last_drawn_(start_) {}

Console::~Console() {
  const std::lock_guard lock(mutex_);
  clear_bar();
}

void Console::clear_bar() {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
}

void Console::message(LogLevel level, const std::string& text) {
  if (level < threshold_) return;
  const std::lock_guard lock(mutex_);
  clear_bar();
  std::fprintf(stderr, "[%7.2f s] %s: %s\n", since(start_), level_name(level),
               one_line(text).c_str());
}

void Console::progress(const char* stage, std::size_t done, std::size_t total) {
  if (threshold_ > LogLevel::kInfo) return;
  const std::lock_guard lock(mutex_);
  const std::string kind = std::string(stage).substr(0, std::string(stage).find(','));
  stage_ = stage;
  if (kind_ != kind) {
    kind_ = kind;
    stage_start_ = last_drawn_ = Clock::now();
    if (terminal_) last_drawn_ -= std::chrono::seconds(1);  // at once
  }
  const bool due = since(last_drawn_) >= (terminal_ ? kRedraw : kLogEvery);
  if (!due) {
    if (done >= total) clear_bar();
    return;
  }
  last_drawn_ = Clock::now();
  const double seconds = since(stage_start_);
  if (!terminal_) {
    std::fprintf(stderr, "[%7.2f s] INFO: %s\n", since(start_),
                 progress_line(stage_, done, total, seconds, 0).c_str());
    return;
  }
  clear_bar();
  if (done >= total) return;
  std::fputs(progress_line(stage_, done, total, seconds, kBarWidth).c_str(), stderr);
  std::fflush(stderr);
  bar_shown_ = true;
}

void Console::line(const std::string& text) {
  if (threshold_ > LogLevel::kInfo) return;
  const std::lock_guard lock(mutex_);
  if (since(last_drawn_) < (terminal_ ? kRedraw : kLogEvery)) return;
  last_drawn_ = Clock::now();
  if (!terminal_) {
    std::fprintf(stderr, "[%7.2f s] INFO: %s\n", since(start_), text.c_str());
    return;
  }
  clear_bar();
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  bar_shown_ = true;
}

Observer Console::observer() {
  catch_stop_signals();  // not before: who asks for no observer would never look whether to stop
  Observer observer;
  observer.message = [this](LogLevel level, const std::string& text) { message(level, text); };
  observer.progress = [this](const char* stage, std::size_t done, std::size_t total) {
    progress(stage, done, total);
  };
  observer.stop_requested = [] { return stop_signal_received(); };
  return observer;
}

void print_error(const std::string& program, const std::string& text) {
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), one_line(text).c_str());
}

}  // namespace loom
