// SPDX-License-Identifier: BSD-3-Clause
// How long a piece of work takes this thread, undisturbed.
#pragma once

#include <time.h>

#include <algorithm>
#include <functional>

namespace fiberloom::bench {

inline double cpu_now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Smallest time of `repeat` calls, nanoseconds per unit.
inline double best_ns(int repeat, double units, const std::function<void()>& body) {
  double best = 1e300;
  for (int i = 0; i < repeat; ++i) {
    const double start = cpu_now();
    body();
    best = std::min(best, cpu_now() - start);
  }
  return best * 1e9 / units;
}

}  // namespace fiberloom::bench
