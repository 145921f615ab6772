// SPDX-License-Identifier: BSD-3-Clause
// The rows that a query of the catalogue finds, as text while they come, or as a table. Knows no
// database that is open.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/db/db.hpp"

namespace fiberloom {

enum class AnswerFormat { kTable, kCsv, kJson, kFits, kParquet };

/// Where text goes.
using TextSink = std::function<void(std::string_view)>;

/// Writes rows as text, one after the other.
class AnswerText {
 public:
  virtual ~AnswerText() = default;
  virtual void columns(std::span<const std::string> names) = 0;
  virtual void row(std::span<const db::Value> values) = 0;
  virtual void end() = 0;
};
/// kTable: columns in line for a terminal, NULL as nothing, numbers with up to 9 digits. kCsv: RFC
/// 4180 with a line of names, NULL as nothing, all digits of a number. kJson: an array of objects,
/// one a line, NULL and what is no number as null.
[[nodiscard]] std::unique_ptr<AnswerText> answer_text(AnswerFormat format, TextSink sink);

/// Collects rows by column: of integers, of numbers, of text as soon as one value is one.
class AnswerColumns {
 public:
  void columns(std::span<const std::string> names);
  /// What counts where no row does.
  void types(std::span<const db::Declared> types);
  void row(std::span<const db::Value> values);
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }

  struct Column {
    std::string name;
    using Kind = db::Declared;
    Kind kind = Kind::kNothing;
    std::vector<std::int64_t> integers;
    std::vector<double> numbers;
    std::vector<std::string> texts;
    std::vector<bool> known;  ///< false: NULL
  };
  [[nodiscard]] const std::vector<Column>& all() const noexcept { return columns_; }

 private:
  static void widen(Column& column, Column::Kind kind);
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
};

/// int64, float64 and text; integers that are NULL by TNULL, numbers as NaN. Columns of nothing but
/// NULL are numbers; of an answer without rows what their tables say.
[[nodiscard]] Table to_table(const AnswerColumns& answer);

/// All digits that a number has, none that it has not; "" for what is none.
[[nodiscard]] std::string number_text(double value);

}  // namespace fiberloom
