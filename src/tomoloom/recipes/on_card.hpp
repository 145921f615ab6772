// SPDX-License-Identifier: BSD-3-Clause
// What a card does where it can, and the CPU where it cannot.
#pragma once

#include <string>

#include "loom/base/error.hpp"
#include "loom/base/log.hpp"
#include "loom/device/backend.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

enum class WayOut { kNone, kCpu };

/// A card that was asked for has none.
[[nodiscard]] constexpr WayOut way_out_of(Backend backend) noexcept {
  return backend == Backend::kAuto ? WayOut::kCpu : WayOut::kNone;
}

/// What `open` makes on a card. Where it throws: null for the CPU, with a line that says `instead`
/// ("slices are made on the CPU"), or, without a way out, what it threw.
template <class Open>
[[nodiscard]] auto open_on_card(WayOut way_out, const char* instead, const Observer& observer,
                                const Open& open) -> decltype(open()) {
  try {
    return open();
  } catch (const Error& error) {
    if (way_out == WayOut::kNone) throw;
    observer.warn(std::string(error.what()) + ": " + instead);
    return nullptr;
  }
}

}  // namespace tomoloom
