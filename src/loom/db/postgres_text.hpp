// SPDX-License-Identifier: BSD-3-Clause
// Values as PostgreSQL's text, there and back. Knows no connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loom/db/db.hpp"

namespace loom::db {

/// As a parameter has it; nullopt for NULL, which NaN is too, as SQLite takes it.
[[nodiscard]] std::optional<std::string> to_postgres(const Value& value);

/// Appends a field of a line of COPY ... FROM STDIN: \N for NULL, control characters escaped.
void append_copy_field(std::string& line, const Value& value);

/// A value of a result: `type` is the OID of its column.
[[nodiscard]] Value from_postgres(std::string_view text, unsigned type);

/// Of a column's OID.
[[nodiscard]] Declared declared_by_oid(unsigned type) noexcept;

}  // namespace loom::db
