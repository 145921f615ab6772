// SPDX-License-Identifier: BSD-3-Clause
#include "loom/trace/range.hpp"

#include <atomic>

namespace loom {
namespace {

// The profiler is one for the whole process, and so is what it is told by.
std::atomic<const RangeHook*> hook_in_use{nullptr};

}  // namespace

void set_range_hook(const RangeHook* hook) noexcept { hook_in_use.store(hook); }
const RangeHook* range_hook() noexcept { return hook_in_use.load(std::memory_order_acquire); }

}  // namespace loom
