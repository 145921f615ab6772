// SPDX-License-Identifier: BSD-3-Clause
// Values of tables beside spectra as a database takes them. Knows no database that is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fiberloom/catalogue/schema.hpp"
#include "fiberloom/spectrum/table.hpp"

namespace fiberloom::catalogue {

/// Tables in which a column is looked for, the first that has it wins. Row r of what is put stands
/// in row `rows[r]` of the table; kNoRow: in none.
struct Source {
  static constexpr std::size_t kNoRow = SIZE_MAX;
  const Table* table = nullptr;
  std::vector<std::size_t> rows;
};

/// Row r in row r.
[[nodiscard]] Source same_rows(const Table& table);
/// The row of the same TARGETID; of several the first. Of a table without the column the same row.
[[nodiscard]] Source rows_of_targets(const Table& table, std::span<const std::int64_t> ids);

/// Text that every database takes: UTF-8 in one line.
[[nodiscard]] std::string clean_text(const std::string& text);

/// One column of the database, filled from sources; NULL where none has it, or no number.
class Cells {
 public:
  Cells(const SqlColumn& column, std::span<const Source> sources);
  [[nodiscard]] db::Value at(std::size_t r) const;
  /// Does any source have it?
  [[nodiscard]] bool there() const noexcept { return !std::holds_alternative<None>(values_); }

 private:
  struct None {};
  std::variant<None, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>
      values_;
  std::vector<std::size_t> rows_;
};

}  // namespace fiberloom::catalogue
