// SPDX-License-Identifier: BSD-3-Clause
// The catalogue's tables, a row of a list each column: its name and type in the database, and the
// column of a FITS file that it comes from. Names are those of the field's own database where it
// has such a column.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/db/db.hpp"

namespace fiberloom::catalogue {

/// What this program writes. A catalogue of a newer one is not touched.
inline constexpr int kSchemaVersion = 1;

enum class SqlType { kInteger, kNumber, kText };

struct SqlColumn {
  std::string name;
  SqlType type = SqlType::kNumber;
  /// Of the tables of a file; empty: whoever adds rows knows it.
  std::string from{};
  std::size_t element = 0;  ///< of a column of lists
};

struct SqlTable {
  std::string name;
  std::vector<SqlColumn> columns;
  std::size_t keys = 0;  ///< the first columns are the primary key
};

// In the order in which a user meets them.
[[nodiscard]] const SqlTable& exposure_table();
[[nodiscard]] const SqlTable& frame_table();
[[nodiscard]] const SqlTable& tile_table();
[[nodiscard]] const SqlTable& fiberassign_table();
[[nodiscard]] const SqlTable& photometry_table();
[[nodiscard]] const SqlTable& group_table();
[[nodiscard]] const SqlTable& redshift_table();
[[nodiscard]] const SqlTable& candidate_table();
[[nodiscard]] const SqlTable& quality_table();
[[nodiscard]] const SqlTable& location_table();

[[nodiscard]] std::vector<std::string> names_of(const SqlTable& table);

/// The version of the tables that are there; nullopt where there are none. Throws db::Fault
/// kNoDatabase where there are tables and they are no catalogue (of a file).
[[nodiscard]] std::optional<int> schema_version(db::Connection& connection);

/// Makes tables, indices and views, in one transaction, where there are none.
void make_schema(db::Connection& connection);

/// A text that no other database of ours has; empty: it has none.
[[nodiscard]] std::string identity_of(db::Connection& connection);
/// Gives it one where it has none.
void make_identity(db::Connection& connection);

}  // namespace fiberloom::catalogue
