// SPDX-License-Identifier: BSD-3-Clause
// What a database is behind the interface. Internal to db/.
#pragma once

#include "loom/db/db.hpp"

namespace loom::db {

[[nodiscard]] std::unique_ptr<Connection> open_sqlite(const std::string& path,
                                                      const OpenOptions& options);
[[nodiscard]] std::unique_ptr<Connection> open_postgres(const std::string& url,
                                                        const OpenOptions& options);
[[nodiscard]] bool has_sqlite() noexcept;
[[nodiscard]] bool has_postgres() noexcept;

/// "INSERT INTO table(a, b) VALUES($1, $2)".
[[nodiscard]] std::string insert_text(const std::string& table,
                                      std::span<const std::string> columns);
/// "a, b".
[[nodiscard]] std::string column_list(std::span<const std::string> columns);
/// " ON CONFLICT(a) DO UPDATE SET b = coalesce(excluded.b, table.b)".
[[nodiscard]] std::string on_conflict(const std::string& table,
                                      std::span<const std::string> columns, std::size_t keys);

}  // namespace loom::db
