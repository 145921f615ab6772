// SPDX-License-Identifier: BSD-3-Clause
// The way out when somebody wants an end.
#pragma once

#include "loom/base/error.hpp"
#include "loom/base/log.hpp"

namespace loom {

/// Throws kInterrupted when the observer says so.
inline void stop_if_asked(const Observer& observer) {
  if (observer.stop_requested && observer.stop_requested()) {
    throw Error(Status::kInterrupted, "interrupted; nothing was written");
  }
}

/// The same of an observer that may not be there.
inline void stop_if_asked(const Observer* observer) {
  if (observer != nullptr) stop_if_asked(*observer);
}

}  // namespace loom
