// SPDX-License-Identifier: BSD-3-Clause
// Scoped timers: sums by name for a text tree and --json, events for a Chrome/Perfetto timeline.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace fiberloom {

/// Collects spans. Thread-safe; cheap enough for one span a bundle and stage, not for inner loops.
class Tracer {
 public:
  struct Event {
    std::string name;
    std::uint64_t thread;  ///< small number, in order of first appearance
    double start_us, duration_us;
  };
  struct Sum {
    double seconds = 0;
    std::uint64_t count = 0;
  };

  explicit Tracer(bool keep_events = false);
  void record(const std::string& name, std::chrono::steady_clock::time_point start,
              std::chrono::steady_clock::time_point end);
  [[nodiscard]] std::map<std::string, Sum> sums() const;
  /// Chrome trace-event JSON ({"traceEvents": [...]}).
  [[nodiscard]] std::string chrome_json() const;
  /// One line a name: seconds and count, '/' in names makes the tree.
  [[nodiscard]] std::string text() const;

 private:
  mutable std::mutex mutex_;
  bool keep_events_;
  std::chrono::steady_clock::time_point origin_;
  std::map<std::string, Sum> sums_;
  std::map<std::uint64_t, std::uint64_t> threads_;
  std::vector<Event> events_;
};

/// Times its own scope; a null tracer costs nothing.
class Span {
 public:
  Span(Tracer* tracer, const char* name) : tracer_(tracer), name_(name) {
    if (tracer_ != nullptr) start_ = std::chrono::steady_clock::now();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() { stop(); }
  /// Ends the span before its scope does.
  void stop() {
    if (tracer_ != nullptr) tracer_->record(name_, start_, std::chrono::steady_clock::now());
    tracer_ = nullptr;
  }

 private:
  Tracer* tracer_;
  const char* name_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace fiberloom
