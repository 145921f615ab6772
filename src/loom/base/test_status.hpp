// SPDX-License-Identifier: BSD-3-Clause
// For tests only: with which status something ends.
#pragma once

#include <functional>

#include "loom/base/error.hpp"

namespace loom::test {

/// kOk where it does not throw; any other exception than Error is let through.
inline Status status_of(const std::function<void()>& what) {
  try {
    what();
  } catch (const Error& e) {
    return e.status();
  }
  return Status::kOk;
}

}  // namespace loom::test
