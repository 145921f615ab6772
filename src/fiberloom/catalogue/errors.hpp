// SPDX-License-Identifier: BSD-3-Clause
// Faults of a database as exit codes of the program.
#pragma once

#include <cerrno>
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

/// Locks of others and a server that is away are the machine's, no fault of a file: what met them
/// is tried again.
[[nodiscard]] inline int system_error_of(const db::Fault& fault) noexcept {
  switch (fault.trouble()) {
    case db::Trouble::kBusy:
      return EBUSY;
    case db::Trouble::kGone:
      return EHOSTDOWN;
    default:
      return 0;
  }
}

/// Runs `work`; what a database throws becomes an Error with its exit code.
template <class Work>
decltype(auto) with_exit_codes(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const db::Fault& fault) {
    throw Error(status_of(fault), fault.what(), system_error_of(fault));
  }
}

}  // namespace fiberloom::catalogue
