// SPDX-License-Identifier: BSD-3-Clause
// The body of a build without SQLite.
#include "loom/base/error.hpp"
#include "loom/batch/ledger.hpp"

namespace loom::batch {

std::unique_ptr<Ledger> Ledger::open(const std::string& path, const LedgerShape& /*shape*/) {
  throw Error(Status::kUnsupported, path + ": no ledger, this build has no SQLite");
}

}  // namespace loom::batch
