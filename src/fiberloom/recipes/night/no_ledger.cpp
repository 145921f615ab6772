// SPDX-License-Identifier: BSD-3-Clause
// The body of a build without SQLite.
#include "fiberloom/recipes/night/ledger.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::night {

std::unique_ptr<Ledger> Ledger::open(const std::string& path) {
  throw Error(Status::kUnsupported, path + ": no ledger, this build has no SQLite");
}

}  // namespace fiberloom::night
