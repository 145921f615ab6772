// SPDX-License-Identifier: BSD-3-Clause
// Faults of a database as exit codes of the program.
#pragma once

#include <utility>

#include "fiberloom/status.hpp"
#include "loom/db/db.hpp"

namespace fiberloom::catalogue {

[[nodiscard]] inline Status status_of(const db::Fault& fault) noexcept {
  switch (fault.trouble()) {
    case db::Trouble::kStatement:
    case db::Trouble::kTooLong:
      return kBadQuery;
    case db::Trouble::kBusy:
      return kCatalogueBusy;
    case db::Trouble::kGone:
      return kServerGone;
    default:
      return fault.status();
  }
}

/// Runs `work`; what a database throws becomes an Error with its exit code.
template <class Work>
decltype(auto) with_exit_codes(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const db::Fault& fault) {
    throw Error(status_of(fault), fault.what());
  }
}

}  // namespace fiberloom::catalogue
