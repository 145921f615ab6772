// SPDX-License-Identifier: BSD-3-Clause
// getrusage and /proc, once for everybody.
#include "loom/runtime/usage.hpp"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

namespace loom {

double cpu_seconds() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double thread_cpu_seconds() noexcept {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double process_seconds() noexcept {
  char text[1024] = "";
  std::FILE* const file = std::fopen("/proc/self/stat", "r");
  if (file == nullptr) return 0;
  const std::size_t n = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[n] = '\0';
  const char* at = std::strrchr(text, ')');  // the program's name may hold anything
  for (int field = 2; at != nullptr && field < 22; ++field) at = std::strchr(at + 1, ' ');
  unsigned long long ticks = 0;
  if (at == nullptr || std::sscanf(at, " %llu", &ticks) != 1) return 0;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) -
         static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::size_t peak_memory_bytes() noexcept {
  // ru_maxrss keeps what the process was before exec(): of a large one that started it
  if (std::FILE* const file = std::fopen("/proc/self/status", "r"); file != nullptr) {
    char line[256];
    unsigned long long kib = 0;
    while (kib == 0 && std::fgets(line, sizeof line, file) != nullptr) {
      if (std::sscanf(line, "VmHWM: %llu kB", &kib) != 1) kib = 0;
    }
    std::fclose(file);
    if (kib > 0) return static_cast<std::size_t>(kib) * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;  // Linux counts in KiB
}

StageClock::StageClock(CpuOf whose) noexcept
    : whose_(whose), wall_(std::chrono::steady_clock::now()), cpu_(cpu_now()) {}

double StageClock::cpu_now() const noexcept {
  return whose_ == CpuOf::kProcess ? cpu_seconds() : thread_cpu_seconds();
}

StageTime StageClock::lap() noexcept {
  const auto wall = std::chrono::steady_clock::now();
  const double cpu = cpu_now();
  const StageTime time{std::chrono::duration<double>(wall - wall_).count(), cpu - cpu_};
  wall_ = wall;
  cpu_ = cpu;
  return time;
}

}  // namespace loom
