// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/cells.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "fiberloom/foundation.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::catalogue {
namespace {

constexpr std::int64_t kNoInteger = std::numeric_limits<std::int64_t>::min();

std::vector<double> element_of(const Column& column, std::size_t rows, std::size_t element) {
  std::vector<double> out(rows);
  for (std::size_t r = 0; r < rows; ++r) out[r] = number_of(column, r, element);
  return out;
}

/// Truth values are integers in the database.
std::vector<std::int64_t> truths(const Column& column, std::size_t rows) {
  std::vector<std::int64_t> out(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const double value = number_of(column, r);
    out[r] = std::isnan(value) ? kNoInteger : static_cast<std::int64_t>(value);
  }
  return out;
}

}  // namespace

Source same_rows(const Table& table) {
  Source out{&table, std::vector<std::size_t>(table.rows)};
  std::iota(out.rows.begin(), out.rows.end(), std::size_t{0});
  return out;
}

Source rows_of_targets(const Table& table, std::span<const std::int64_t> ids) {
  const auto own = table.integers("TARGETID", kNoInteger);
  if (!own) return same_rows(table);
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t r = 0; r < own->size(); ++r) places.emplace((*own)[r], r);
  Source out{&table, {}};
  for (const std::int64_t id : ids) {
    const auto found = places.find(id);
    out.rows.push_back(found == places.end() ? Source::kNoRow : found->second);
  }
  return out;
}

std::string clean_text(const std::string& text) {
  std::string out = text;
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return page::to_utf8(out);
}

Cells::Cells(const SqlColumn& column, std::span<const Source> sources) {
  if (column.from.empty()) return;
  for (const Source& source : sources) {
    const Column* const found = source.table->find(column.from);
    if (found == nullptr) continue;
    const std::size_t rows = source.table->rows;
    if (column.type == SqlType::kText) {
      auto values = source.table->text_column(column.from);
      if (!values) continue;
      for (std::string& text : *values) text = clean_text(text);
      values_ = std::move(*values);
    } else if (found->cell == Cell::kText || found->cell == Cell::kOpaque) {
      continue;
    } else if (column.type == SqlType::kInteger) {
      if (found->width != 1) continue;
      if (found->cell == Cell::kTruth) {
        values_ = truths(*found, rows);
      } else if (auto values = source.table->integers(column.from, kNoInteger)) {
        values_ = std::move(*values);
      }
    } else if (column.element < found->width) {
      values_ = element_of(*found, rows, column.element);
    }
    if (!there()) continue;
    rows_ = source.rows;
    return;
  }
}

db::Value Cells::at(std::size_t r) const {
  if (r >= rows_.size() || rows_[r] == Source::kNoRow) return std::monostate{};
  const std::size_t row = rows_[r];
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values_)) {
    if ((*integers)[row] == kNoInteger) return std::monostate{};
    return (*integers)[row];
  }
  if (const auto* numbers = std::get_if<std::vector<double>>(&values_)) {
    if (!std::isfinite((*numbers)[row])) return std::monostate{};
    return (*numbers)[row];
  }
  if (const auto* texts = std::get_if<std::vector<std::string>>(&values_)) return (*texts)[row];
  return std::monostate{};
}

}  // namespace fiberloom::catalogue
