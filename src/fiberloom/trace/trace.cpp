// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the tracer.
#include "fiberloom/trace/trace.hpp"

#include <cstdio>
#include <functional>
#include <thread>

namespace fiberloom {

Tracer::Tracer(bool keep_events)
    : keep_events_(keep_events), origin_(std::chrono::steady_clock::now()) {}

void Tracer::record(const std::string& name, std::chrono::steady_clock::time_point start,
                    std::chrono::steady_clock::time_point end) {
  using Micro = std::chrono::duration<double, std::micro>;
  const std::uint64_t id = std::hash<std::thread::id>{}(std::this_thread::get_id());
  const std::lock_guard lock(mutex_);
  Sum& sum = sums_[name];
  sum.seconds += std::chrono::duration<double>(end - start).count();
  ++sum.count;
  if (!keep_events_) return;
  const auto thread = threads_.try_emplace(id, threads_.size()).first->second;
  events_.push_back({name, thread, Micro(start - origin_).count(), Micro(end - start).count()});
}

std::map<std::string, Tracer::Sum> Tracer::sums() const {
  const std::lock_guard lock(mutex_);
  return sums_;
}

std::string Tracer::chrome_json() const {
  const std::lock_guard lock(mutex_);
  std::string out = "{\"traceEvents\":[";
  char line[256];
  const char* separator = "\n";
  for (const Event& e : events_) {
    std::snprintf(
        line, sizeof line,
        "%s{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%llu,\"ts\":%.3f,\"dur\":%.3f}",
        separator, e.name.c_str(), static_cast<unsigned long long>(e.thread), e.start_us,
        e.duration_us);
    out += line;
    separator = ",\n";
  }
  return out + "\n],\"displayTimeUnit\":\"ms\"}\n";
}

std::string Tracer::text() const {
  std::string out;
  char line[256];
  for (const auto& [name, sum] : sums()) {
    std::snprintf(line, sizeof line, "%-28s %9.4f s  x%llu\n", name.c_str(), sum.seconds,
                  static_cast<unsigned long long>(sum.count));
    out += line;
  }
  return out;
}

}  // namespace fiberloom
