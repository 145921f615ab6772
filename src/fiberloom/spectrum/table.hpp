// SPDX-License-Identifier: BSD-3-Clause
// Rows of named columns beside spectra (a fibermap, scores): kept as they came, read as numbers or
// text by whoever knows a column's name. Knows no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fiberloom {

/// What a stored value is. kTruth: 'T', 'F' or 0 for neither; kOpaque: bytes that nobody here reads
/// (bits, complex numbers, arrays of variable length).
enum class Cell { kTruth, kUint8, kInt16, kInt32, kInt64, kFloat32, kFloat64, kText, kOpaque };

struct Column {
  std::string name{}, unit{}, comment{};
  Cell cell = Cell::kFloat64;
  std::size_t width = 1;       ///< values in a row: characters of text, bytes of what is opaque
  double scale = 1, zero = 0;  ///< the number is zero + scale x stored
  std::optional<std::int64_t> undefined{};  ///< the stored integer that stands for no number
  /// Of a list that is a matrix: its numbers of columns and rows ... (TDIM), the product of which
  /// is `width`; empty: it is none.
  std::vector<std::size_t> shape{};
  std::vector<std::uint8_t> data{};  ///< rows x width values, in the machine's byte order
};

/// Columns of equal length. Names are looked up without regard to case.
struct Table {
  std::size_t rows = 0;
  std::vector<Column> columns;
  /// What a file that the table came from says of it, and of its first `described` columns: not
  /// read here, handed back by a writer.
  std::vector<std::string> notes, descriptions;
  std::size_t described = 0;
  std::vector<std::uint8_t> heap;  ///< what opaque columns may point to

  [[nodiscard]] const Column* find(const std::string& name) const;

  /// A column of single numbers, what is undefined as NaN; nullopt when there is no such column.
  [[nodiscard]] std::optional<std::vector<double>> column(const std::string& name) const;
  /// The same as integers, all 64 bits of them; `undefined` for what is none or does not fit.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(const std::string& name,
                                                                  std::int64_t undefined) const;
  /// A column of text, blanks and NULs at the end taken off; nullopt when there is no such column.
  [[nodiscard]] std::optional<std::vector<std::string>> text_column(const std::string& name) const;

  /// These rows in this order; one may be taken several times. Throws kWrongShape beyond the end.
  [[nodiscard]] Table take(std::span<const std::size_t> wanted) const;

  /// Without the column, if there is one; what a file said of its columns is forgotten then.
  Table& drop(const std::string& name);

  /// Appends a column. Throws kInternal unless it has a value for each row (any number of rows
  /// where it is the first).
  Table& add(const std::string& name, std::span<const double> values, const std::string& unit = "",
             const std::string& comment = "");
  Table& add(const std::string& name, std::span<const float> values, const std::string& unit = "",
             const std::string& comment = "");
  Table& add(const std::string& name, std::span<const std::int32_t> values,
             const std::string& unit = "", const std::string& comment = "");
  Table& add(const std::string& name, std::span<const std::int64_t> values,
             const std::string& unit = "", const std::string& comment = "");
  /// Text of at most `width` characters, padded with blanks.
  Table& add(const std::string& name, std::span<const std::string> values, std::size_t width,
             const std::string& comment = "");
};

/// Bytes of one stored value.
[[nodiscard]] std::size_t cell_bytes(Cell cell) noexcept;

/// Value i of a row as a number, scaled, NaN where undefined; NaN too of text and what is opaque.
[[nodiscard]] double number_of(const Column& column, std::size_t row, std::size_t i = 0) noexcept;

}  // namespace fiberloom
