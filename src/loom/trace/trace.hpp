// SPDX-License-Identifier: BSD-3-Clause
// Scoped timers: sums by name for a text tree and --json, events for a Chrome/Perfetto timeline.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "loom/trace/range.hpp"

namespace loom {

/// Collects spans. Thread-safe; cheap enough for one span a bundle and stage, not for inner loops.
class Tracer {
 public:
  struct Event {
    std::string name;
    std::uint64_t thread;  ///< small number, in order of first appearance
    double start_us, duration_us;
    std::string detail;  ///< which one: a frame, a file; may be empty
  };
  struct Sum {
    double seconds = 0;
    std::uint64_t count = 0;
  };

  explicit Tracer(bool keep_events = false);
  void record(const std::string& name, std::chrono::steady_clock::time_point start,
              std::chrono::steady_clock::time_point end, const std::string& detail = {});
  /// What the timeline calls the calling thread.
  void name_thread(const std::string& name);
  [[nodiscard]] std::map<std::string, Sum> sums() const;
  /// Events of this tracer as the members of a JSON array, for a timeline of several processes
  /// (ranks): `process` tells them apart, `shift_us` is added to every time.
  [[nodiscard]] std::string chrome_events(int process, double shift_us = 0) const;
  /// Chrome trace-event JSON of this process alone.
  [[nodiscard]] std::string chrome_json() const { return wrap_chrome_events(chrome_events(1)); }
  /// {"traceEvents": [...]}; `events` is one chrome_events() or several joined by commas.
  [[nodiscard]] static std::string wrap_chrome_events(const std::string& events);
  [[nodiscard]] std::chrono::steady_clock::time_point origin() const noexcept { return origin_; }
  /// One line a name: seconds and count, '/' in names makes the tree.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  bool keep_events_;
  std::chrono::steady_clock::time_point origin_;
  std::map<std::string, Sum> sums_;
  [[nodiscard]] std::uint64_t this_thread_number();  // under the mutex
  std::map<std::uint64_t, std::uint64_t> threads_;
  std::map<std::uint64_t, std::string> thread_names_;  // by small number
  std::vector<Event> events_;
};

/// Times its own scope; a null tracer costs nothing. A profiler's range too, with any tracer.
class Span {
 public:
  Span(Tracer* tracer, const char* name, std::string detail = {})
      : range_(name), tracer_(tracer), name_(name), detail_(std::move(detail)) {
    if (tracer_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    try {
      stop();
    } catch (...) {  // no memory to note it: that time is lost, and nothing else
    }
  }
  /// Ends the span before its scope does.
  void stop() {
    if (tracer_ != nullptr) {
      tracer_->record(name_, start_, std::chrono::steady_clock::now(), detail_);
    }
    tracer_ = nullptr;
    range_.stop();
  }

 private:
  Range range_;
  Tracer* tracer_;
  const char* name_;
  std::string detail_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace loom
