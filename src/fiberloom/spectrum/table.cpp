// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"

namespace fiberloom {
namespace {

template <class T>
T load(const Column& column, std::size_t index) noexcept {
  T value;
  std::memcpy(&value, column.data.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// An integer as stored; nullopt of other cells.
std::optional<std::int64_t> stored_integer(const Column& column, std::size_t index) noexcept {
  switch (column.cell) {
    case Cell::kUint8:
      return column.data[index];
    case Cell::kInt16:
      return load<std::int16_t>(column, index);
    case Cell::kInt32:
      return load<std::int32_t>(column, index);
    case Cell::kInt64:
      return load<std::int64_t>(column, index);
    default:
      return std::nullopt;
  }
}

bool is_number(const Column& column) noexcept {
  return column.cell != Cell::kText && column.cell != Cell::kOpaque;
}

std::string trimmed(const std::string& name) {
  const std::size_t first = name.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return name.substr(first, name.find_last_not_of(' ') - first + 1);
}

Table& append(Table& table, Column column) {
  const std::size_t bytes = column.width * cell_bytes(column.cell);
  const std::size_t rows = bytes == 0 ? table.rows : column.data.size() / bytes;
  if (table.columns.empty()) table.rows = rows;
  if (rows != table.rows || column.data.size() != rows * bytes) {
    throw Error(Status::kInternal, "table column " + column.name + ": " + std::to_string(rows) +
                                       " rows, expected " + std::to_string(table.rows));
  }
  table.columns.push_back(std::move(column));
  return table;
}

template <class T>
Column numbers(const std::string& name, Cell cell, std::span<const T> values,
               const std::string& unit, const std::string& comment) {
  Column column{.name = name, .unit = unit, .comment = comment, .cell = cell};
  column.data.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(column.data.data(), values.data(), values.size_bytes());
  return column;
}

}  // namespace

std::size_t cell_bytes(Cell cell) noexcept {
  switch (cell) {
    case Cell::kInt16:
      return 2;
    case Cell::kInt32:
    case Cell::kFloat32:
      return 4;
    case Cell::kInt64:
    case Cell::kFloat64:
      return 8;
    default:
      return 1;
  }
}

double number_of(const Column& column, std::size_t row, std::size_t i) noexcept {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::size_t index = row * column.width + i;
  double value = 0;
  switch (column.cell) {
    case Cell::kText:
    case Cell::kOpaque:
      return kNone;
    case Cell::kTruth:
      return column.data[index] == 0 ? kNone : column.data[index] == 'T' ? 1.0 : 0.0;
    case Cell::kFloat32:
      value = load<float>(column, index);
      break;
    case Cell::kFloat64:
      value = load<double>(column, index);
      break;
    default: {
      const std::int64_t stored = *stored_integer(column, index);
      if (stored == column.undefined) return kNone;
      value = static_cast<double>(stored);
    }
  }
  const bool plain = column.scale == 1 && column.zero == 0;  // keeps -0
  return plain ? value : column.zero + column.scale * value;
}

const Column* Table::find(const std::string& name) const {
  const std::string wanted = trimmed(name);
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
    return loom::same_but_for_case(trimmed(column.name), wanted);
  });
  return found == columns.end() ? nullptr : &*found;
}

Table& Table::drop(const std::string& name) {
  const Column* const found = find(name);
  if (found == nullptr) return *this;
  columns.erase(columns.begin() + (found - columns.data()));
  descriptions.clear(), described = 0;
  return *this;
}

std::optional<std::vector<double>> Table::column(const std::string& name) const {
  const Column* found = find(name);
  if (found == nullptr || found->width != 1 || !is_number(*found)) return std::nullopt;
  std::vector<double> out(rows);
  for (std::size_t r = 0; r < rows; ++r) out[r] = number_of(*found, r);
  return out;
}

std::optional<std::vector<std::int64_t>> Table::integers(const std::string& name,
                                                         std::int64_t undefined) const {
  const auto values = column(name);
  if (!values) return std::nullopt;
  const Column& found = *find(name);
  const bool whole =
      found.scale == 1 && found.zero == std::floor(found.zero) && std::abs(found.zero) <= 0x1p63;
  std::vector<std::int64_t> out(rows, undefined);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto stored = whole ? stored_integer(found, r) : std::nullopt;
    if (stored) {  // a double holds 53 bits; a TARGETID has more
      __extension__ using Wide = __int128;
      const Wide v = Wide{*stored} + static_cast<Wide>(found.zero);
      const bool fits = v >= std::numeric_limits<std::int64_t>::min() &&
                        v <= std::numeric_limits<std::int64_t>::max();
      if (fits && stored != found.undefined) out[r] = static_cast<std::int64_t>(v);
      continue;
    }
    const double v = (*values)[r];  // NaN fails both
    if (v >= -0x1p63 && v < 0x1p63) out[r] = static_cast<std::int64_t>(v);
  }
  return out;
}

std::optional<std::vector<std::string>> Table::text_column(const std::string& name) const {
  const Column* found = find(name);
  if (found == nullptr || found->cell != Cell::kText) return std::nullopt;
  std::vector<std::string> out;
  out.reserve(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint8_t* p = found->data.data() + r * found->width;
    std::string text(p, p + found->width);
    text.resize(std::min(text.find('\0'), text.size()));
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out.push_back(std::move(text));
  }
  return out;
}

Table Table::take(std::span<const std::size_t> wanted) const {
  for (const std::size_t row : wanted) {
    if (row < rows) continue;
    throw Error(Status::kWrongShape, "table row " + std::to_string(row) +
                                         " wanted, the table has " + std::to_string(rows));
  }
  Table out = *this;
  out.rows = wanted.size();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::size_t bytes = columns[c].width * cell_bytes(columns[c].cell);
    out.columns[c].data.resize(wanted.size() * bytes);
    for (std::size_t r = 0; r < wanted.size(); ++r) {
      std::copy_n(columns[c].data.data() + wanted[r] * bytes, bytes,
                  out.columns[c].data.data() + r * bytes);
    }
  }
  return out;
}

Table& Table::add(const std::string& name, std::span<const double> values, const std::string& unit,
                  const std::string& comment) {
  return append(*this, numbers(name, Cell::kFloat64, values, unit, comment));
}

Table& Table::add(const std::string& name, std::span<const float> values, const std::string& unit,
                  const std::string& comment) {
  return append(*this, numbers(name, Cell::kFloat32, values, unit, comment));
}

Table& Table::add(const std::string& name, std::span<const std::int32_t> values,
                  const std::string& unit, const std::string& comment) {
  return append(*this, numbers(name, Cell::kInt32, values, unit, comment));
}

Table& Table::add(const std::string& name, std::span<const std::int64_t> values,
                  const std::string& unit, const std::string& comment) {
  return append(*this, numbers(name, Cell::kInt64, values, unit, comment));
}

Table& Table::add(const std::string& name, std::span<const std::string> values, std::size_t width,
                  const std::string& comment) {
  Column column{.name = name, .comment = comment, .cell = Cell::kText, .width = width};
  column.data.assign(values.size() * width, std::uint8_t{' '});
  for (std::size_t r = 0; r < values.size(); ++r) {
    std::copy_n(values[r].begin(), std::min(width, values[r].size()),
                column.data.begin() + static_cast<std::ptrdiff_t>(r * width));
  }
  return append(*this, std::move(column));
}

}  // namespace fiberloom
