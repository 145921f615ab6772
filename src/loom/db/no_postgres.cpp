// SPDX-License-Identifier: BSD-3-Clause
// A build without PostgreSQL.
#include "loom/db/backends.hpp"

namespace loom::db {

std::unique_ptr<Connection> open_postgres(const std::string& url, const OpenOptions&) {
  throw Error(Status::kUnsupported, without_password(url) + ": this build has no PostgreSQL");
}

bool has_postgres() noexcept { return false; }

}  // namespace loom::db
