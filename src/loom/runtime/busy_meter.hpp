// SPDX-License-Identifier: BSD-3-Clause
// How long threads were busy: the integral of "how many at this moment" over time.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>

namespace loom {

/// Safe from any thread.
class BusyMeter {
 public:
  /// Counts one more thread as busy until destroyed.
  class Scope {
   public:
    explicit Scope(BusyMeter& meter) : meter_(meter) { meter_.change(+1); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { meter_.change(-1); }

   private:
    BusyMeter& meter_;
  };

  void change(int by) {
    const std::lock_guard lock(mutex_);
    advance();
    busy_ += by;
  }

  /// Thread-seconds so far.
  [[nodiscard]] double seconds() const {
    const std::lock_guard lock(mutex_);
    advance();
    return seconds_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  void advance() const {
    const auto now = Clock::now();
    seconds_ += busy_ * std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  mutable std::mutex mutex_;
  mutable Clock::time_point last_ = Clock::now();
  mutable double seconds_ = 0;
  int busy_ = 0;
};

}  // namespace loom
