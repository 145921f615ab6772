// SPDX-License-Identifier: BSD-3-Clause
// What this process has used so far: processor time and memory.
#pragma once

#include <chrono>
#include <cstddef>

namespace loom {

/// User and system time of all threads, seconds.
[[nodiscard]] double cpu_seconds() noexcept;

/// Time of the calling thread alone, seconds.
[[nodiscard]] double thread_cpu_seconds() noexcept;

/// Wall time since this process was started (before main), seconds, to about 0.01.
[[nodiscard]] double process_seconds() noexcept;

/// Largest resident set so far, bytes.
[[nodiscard]] std::size_t peak_memory_bytes() noexcept;

/// Wall and processor time between two moments.
struct StageTime {
  double wall_s = 0, cpu_s = 0;
};

inline StageTime& operator+=(StageTime& sum, const StageTime& t) {
  sum.wall_s += t.wall_s;
  sum.cpu_s += t.cpu_s;
  return sum;
}

/// Whose processor time a StageClock counts.
enum class CpuOf { kProcess, kThread };

/// Measures consecutive stages: each lap() is the time since the last one.
class StageClock {
 public:
  explicit StageClock(CpuOf whose = CpuOf::kProcess) noexcept;
  StageTime lap() noexcept;

 private:
  [[nodiscard]] double cpu_now() const noexcept;
  CpuOf whose_;
  std::chrono::steady_clock::time_point wall_;
  double cpu_;
};

}  // namespace loom
