// SPDX-License-Identifier: BSD-3-Clause
// Waiting for a condition without trusting every wake-up to arrive. Knows nothing of who waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace loom {

/// condition.wait(lock, ready), but looks by itself every second. The C library of 2017 to 2024
/// (glibc 2.25 to 2.40, its bug 25847) may lose a wake-up, rarely: that must cost a second, not a
/// night.
template <class Ready>
void sure_wait(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
               Ready ready) {
  while (!condition.wait_for(lock, std::chrono::seconds(1), ready)) {
  }
}

}  // namespace loom
