// SPDX-License-Identifier: BSD-3-Clause
// The body of a build without SQLite.
#include "fiberloom/base/error.hpp"
#include "fiberloom/pipeline/night/ledger.hpp"

namespace fiberloom::night {

std::unique_ptr<Ledger> Ledger::open(const std::string& path) {
  throw Error(Status::kUnsupported, path + ": no ledger, this build has no SQLite");
}

}  // namespace fiberloom::night
