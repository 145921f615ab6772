// SPDX-License-Identifier: BSD-3-Clause
// Binary tables as raw big-endian rows, with just enough understanding to slice them, to read a
// column as numbers or text, and to build a new one. Knows no files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/fits/header_cards.hpp"

namespace loom {

/// A binary table carried through unread: column cards and raw big-endian rows (heap kept).
struct RawTable {
  HeaderCards header;  ///< units, comments, user keywords
  std::vector<std::string>
      column_cards;  ///< TTYPEn, TFORMn, TUNITn, TDIMn, TNULLn ... as in the file
  std::size_t rows = 0, row_bytes = 0;
  std::vector<std::uint8_t> data;  ///< rows * row_bytes
  std::vector<std::uint8_t> heap;
  /// Rows [first, first + n). Throws kWrongShape beyond the end.
  [[nodiscard]] RawTable slice(std::size_t first, std::size_t n) const;
  /// Column of integers or floats as doubles, scaled, undefined ones (TNULL) as NaN; nullopt when
  /// there is no such (scalar) column.
  [[nodiscard]] std::optional<std::vector<double>> column(const std::string& name) const;
  /// The same as integers, all 64 bits of them; `undefined` for TNULL and what does not fit.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(const std::string& name,
                                                                  std::int64_t undefined) const;
  /// Column of text, blanks and NULs at the end taken off; nullopt when there is no such column.
  [[nodiscard]] std::optional<std::vector<std::string>> text_column(const std::string& name) const;
};

namespace fits {

/// One column: `repeat` values of `type` (the TFORM letter) at `offset` of a row.
struct TableColumn {
  std::string name;  ///< as in the file, blanks taken off
  char type = 'A';
  char element = 'B';  ///< of variable-length columns (P, Q): type of what the heap holds
  std::size_t repeat = 1, offset = 0, bytes = 0;
  double scale = 1, zero = 0;        ///< TSCAL, TZERO
  std::optional<std::int64_t> null;  ///< TNULL of integers
  std::string fault;                 ///< which of these three cards is no number, and what it is
  std::string dim;                   ///< TDIM as in the file
};

/// Bytes of one value of a TFORM letter; 0 for X and what is none.
[[nodiscard]] std::size_t type_bytes(char type) noexcept;

/// TFORM "1000D" -> type, repeat, bytes; nullopt when it is none.
[[nodiscard]] std::optional<TableColumn> parse_tform(const std::string& tform);

/// The columns in order, as far as the cards make sense (TFORMn missing or wrong ends the list).
[[nodiscard]] std::vector<TableColumn> table_columns(const RawTable& table);

/// The column of this name, case ignored.
[[nodiscard]] std::optional<TableColumn> find_column(const RawTable& table,
                                                     const std::string& name);

/// All `repeat` values of one row as doubles, scaled, TNULL as NaN. Precondition: the column
/// belongs to the table and is numeric; otherwise the result is empty.
[[nodiscard]] std::vector<double> column_row(const RawTable& table, const TableColumn& column,
                                             std::size_t row);

/// Builds a table column by column; every column must have the same number of rows.
class TableBuilder {
 public:
  explicit TableBuilder(std::size_t rows) : rows_(rows) {}
  TableBuilder& add(const std::string& name, std::span<const double> values,
                    const std::string& unit = "", const std::string& comment = "");
  TableBuilder& add(const std::string& name, std::span<const std::int32_t> values,
                    const std::string& unit = "", const std::string& comment = "");
  TableBuilder& add(const std::string& name, std::span<const std::int64_t> values,
                    const std::string& unit = "", const std::string& comment = "");
  TableBuilder& add(const std::string& name, std::span<const std::string> values, std::size_t width,
                    const std::string& comment = "");
  /// `values` holds rows x width numbers; `dim` is the TDIM string, empty for none.
  TableBuilder& add_vector(const std::string& name, std::span<const double> values,
                           std::size_t width, const std::string& dim = "");
  [[nodiscard]] RawTable build() const;

 private:
  struct Column {
    std::size_t bytes = 0;
    std::vector<std::uint8_t> data;  // rows x bytes, big-endian
  };
  void append(const std::string& name, const std::string& tform, std::size_t bytes,
              std::vector<std::uint8_t> data, const std::string& unit, const std::string& comment);

  std::size_t rows_;
  std::vector<Column> columns_;
  HeaderCards cards_;
};

}  // namespace fits
}  // namespace loom
