// SPDX-License-Identifier: BSD-3-Clause
// A build without SQLite.
#include "loom/db/backends.hpp"

namespace loom::db {

std::unique_ptr<Connection> open_sqlite(const std::string& path, const OpenOptions&) {
  throw Error(Status::kUnsupported, without_password(path) + ": this build has no SQLite");
}

bool has_sqlite() noexcept { return false; }

}  // namespace loom::db
