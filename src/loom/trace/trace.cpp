// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the tracer.
#include "loom/trace/trace.hpp"

#include <cstdio>
#include <functional>
#include <thread>

namespace loom {
namespace {

/// Text inside a JSON string: file names may hold anything.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

}  // namespace

Tracer::Tracer(bool keep_events)
    : keep_events_(keep_events), origin_(std::chrono::steady_clock::now()) {}

void Tracer::record(const std::string& name, std::chrono::steady_clock::time_point start,
                    std::chrono::steady_clock::time_point end, const std::string& detail) {
  using Micro = std::chrono::duration<double, std::micro>;
  const std::lock_guard lock(mutex_);
  Sum& sum = sums_[name];
  sum.seconds += std::chrono::duration<double>(end - start).count();
  ++sum.count;
  if (!keep_events_) return;
  events_.push_back({name, this_thread_number(), Micro(start - origin_).count(),
                     Micro(end - start).count(), detail});
}

std::uint64_t Tracer::this_thread_number() {
  const std::uint64_t id = std::hash<std::thread::id>{}(std::this_thread::get_id());
  return threads_.try_emplace(id, threads_.size()).first->second;
}

void Tracer::name_thread(const std::string& name) {
  if (!keep_events_) return;
  const std::lock_guard lock(mutex_);
  thread_names_[this_thread_number()] = name;
}

std::map<std::string, Tracer::Sum> Tracer::sums() const {
  const std::lock_guard lock(mutex_);
  return sums_;
}

std::string Tracer::chrome_events(int process, double shift_us) const {
  const std::lock_guard lock(mutex_);
  std::string out, separator = "\n";
  char numbers[160];
  for (const auto& [thread, name] : thread_names_) {
    std::snprintf(numbers, sizeof numbers, "\"pid\":%d,\"tid\":%llu", process,
                  static_cast<unsigned long long>(thread));
    out += separator + R"({"name":"thread_name","ph":"M",)" + numbers + R"(,"args":{"name":")" +
           escaped(name) + "\"}}";
    separator = ",\n";
  }
  for (const Event& e : events_) {
    std::snprintf(numbers, sizeof numbers,
                  "\"ph\":\"X\",\"pid\":%d,\"tid\":%llu,\"ts\":%.3f,\"dur\":%.3f", process,
                  static_cast<unsigned long long>(e.thread), e.start_us + shift_us, e.duration_us);
    out += separator + R"({"name":")" + escaped(e.name) + "\"," + numbers;
    if (!e.detail.empty()) out += R"(,"args":{"what":")" + escaped(e.detail) + "\"}";
    out += "}";
    separator = ",\n";
  }
  return out;
}

std::string Tracer::wrap_chrome_events(const std::string& events) {
  return "{\"traceEvents\":[" + events + "\n],\"displayTimeUnit\":\"ms\"}\n";
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

}  // namespace loom
