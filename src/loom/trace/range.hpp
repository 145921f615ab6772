// SPDX-License-Identifier: BSD-3-Clause
// Named stretches of a thread's time for a profiler that watches from outside. Whoever knows one
// (device/: NVTX) installs its pair of functions; without, a range costs a look at a pointer.
#pragma once

namespace loom {

/// Called by the thread whose range it is, in pairs that nest.
struct RangeHook {
  void (*push)(const char* name) noexcept;
  void (*pop)() noexcept;
};

/// From now on ranges are told to `hook`, which must outlive the program's last one; null: to
/// nobody. Ranges that are open end where they began.
void set_range_hook(const RangeHook* hook) noexcept;
[[nodiscard]] const RangeHook* range_hook() noexcept;

/// A range as long as its scope, also when that is left by an exception.
class Range {
 public:
  explicit Range(const char* name) noexcept : hook_(range_hook()) {
    if (hook_ != nullptr) hook_->push(name);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range() { stop(); }
  /// Ends the range before its scope does.
  void stop() noexcept {
    if (hook_ != nullptr) hook_->pop();
    hook_ = nullptr;
  }

 private:
  const RangeHook* hook_;
};

}  // namespace loom
