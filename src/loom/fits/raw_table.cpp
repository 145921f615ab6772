// SPDX-License-Identifier: BSD-3-Clause
// Columns of binary tables.
#include "loom/fits/raw_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/fits/pixel_convert.hpp"

namespace loom {

RawTable RawTable::slice(std::size_t first, std::size_t n) const {
  if (first > rows || n > rows - first) {
    throw Error(Status::kWrongShape, "table rows " + std::to_string(first) + " to " +
                                         std::to_string(first + n) + " wanted, the table has " +
                                         std::to_string(rows));
  }
  RawTable out = *this;
  const auto begin = data.begin() + static_cast<std::ptrdiff_t>(first * row_bytes);
  out.data.assign(begin, begin + static_cast<std::ptrdiff_t>(n * row_bytes));
  out.rows = n;
  return out;
}

std::optional<std::vector<double>> RawTable::column(const std::string& name) const {
  const auto found = fits::find_column(*this, name);
  if (!found || found->repeat != 1 || found->type == 'A') return std::nullopt;
  std::vector<double> out;
  out.reserve(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto value = fits::column_row(*this, *found, r);
    if (value.empty()) return std::nullopt;
    out.push_back(value.front());
  }
  return out;
}

std::optional<std::vector<std::int64_t>> RawTable::integers(const std::string& name,
                                                            std::int64_t undefined) const {
  const auto values = column(name);
  if (!values) return std::nullopt;
  std::vector<std::int64_t> out(rows, undefined);
  for (std::size_t r = 0; r < rows; ++r) {
    const double v = (*values)[r];  // NaN fails both
    if (v >= -0x1p63 && v < 0x1p63) out[r] = static_cast<std::int64_t>(v);
  }
  // A double holds 53 bits; a TARGETID has more.
  const fits::TableColumn found = *fits::find_column(*this, name);
  if (found.type != 'K' || !fits::PixelScale{found.scale, found.zero, {}}.whole()) return out;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto raw = load_be<std::int64_t>(data.data() + r * row_bytes + found.offset);
    const fits::WideInteger v = fits::WideInteger{raw} + static_cast<fits::WideInteger>(found.zero);
    const bool fits = v >= INT64_MIN && v <= INT64_MAX;
    out[r] = fits && raw != found.null ? static_cast<std::int64_t>(v) : undefined;
  }
  return out;
}

std::optional<std::vector<std::string>> RawTable::text_column(const std::string& name) const {
  const auto found = fits::find_column(*this, name);
  if (!found || found->type != 'A') return std::nullopt;
  std::vector<std::string> out;
  out.reserve(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    const auto* p = data.data() + r * row_bytes + found->offset;
    std::string text(p, p + found->bytes);
    text.resize(std::min(text.find('\0'), text.size()));
    while (!text.empty() && text.back() == ' ') text.pop_back();
    out.push_back(std::move(text));
  }
  return out;
}

namespace fits {
namespace {

constexpr std::size_t kMaxRowBytes = std::size_t{1} << 31;

bool is_one_of(char type, std::string_view types) {
  return types.find(type) != std::string_view::npos;
}

/// TSCALn, TZEROn and TNULLn, which mean nothing for text, logicals and bits.
void read_scaling(const HeaderCards& cards, const std::string& index, TableColumn& column) {
  const auto complain = [&](const std::string& key, const char* expected) {
    column.fault = key + " is '" + cards.text(key).value_or("") + "', expected " + expected;
  };
  if (is_one_of(column.type, "BIJKEDCM")) {
    column.scale = cards.has("TSCAL" + index) ? cards.number("TSCAL" + index).value_or(0.0) : 1.0;
    if (column.scale == 0) complain("TSCAL" + index, "a number other than 0");
    const auto zero = cards.number("TZERO" + index);
    if (!zero && cards.has("TZERO" + index)) complain("TZERO" + index, "a number");
    column.zero = zero.value_or(0.0);
  }
  if (is_one_of(column.type, "BIJK")) {
    column.null = cards.integer("TNULL" + index);
    if (!column.null && cards.has("TNULL" + index)) complain("TNULL" + index, "an integer");
  }
}

}  // namespace

std::size_t type_bytes(char type) noexcept {
  switch (type) {
    case 'L':
    case 'B':
    case 'A':
      return 1;
    case 'I':
      return 2;
    case 'J':
    case 'E':
      return 4;
    case 'K':
    case 'D':
    case 'C':
    case 'P':
      return 8;
    case 'M':
    case 'Q':
      return 16;
    default:
      return 0;
  }
}

std::optional<TableColumn> parse_tform(const std::string& tform) {
  TableColumn out;
  const char* p = tform.data();
  const char* end = p + tform.size();
  while (p != end && *p == ' ') ++p;
  if (p != end && *p >= '0' && *p <= '9') {
    const auto [next, error] = std::from_chars(p, end, out.repeat);
    if (error != std::errc{} || out.repeat > kMaxRowBytes) return std::nullopt;
    p = next;
  }
  if (p == end) return std::nullopt;
  out.type = capital(*p);
  if ((out.type == 'P' || out.type == 'Q') && p + 1 != end) out.element = p[1];
  if (out.type == 'X') {
    out.bytes = (out.repeat + 7) / 8;
    return out;
  }
  const std::size_t size = type_bytes(out.type);
  if (size == 0 || ((out.type == 'P' || out.type == 'Q') && out.repeat > 1)) return std::nullopt;
  out.bytes = size * out.repeat;
  return out;
}

std::vector<TableColumn> table_columns(const RawTable& table) {
  const HeaderCards cards{table.column_cards};
  std::vector<TableColumn> out;
  std::size_t offset = 0;
  for (std::size_t i = 1;; ++i) {
    const std::string index = std::to_string(i);
    const auto tform = cards.text("TFORM" + index);
    if (!tform) break;
    auto column = parse_tform(*tform);
    if (!column || column->bytes > table.row_bytes - offset) break;
    column->offset = offset;
    column->name = cards.text("TTYPE" + index).value_or("");
    read_scaling(cards, index, *column);
    column->dim = cards.text("TDIM" + index).value_or("");
    offset += column->bytes;
    out.push_back(std::move(*column));
  }
  return out;
}

std::optional<TableColumn> find_column(const RawTable& table, const std::string& name) {
  const std::string wanted = normal_name(name);
  for (auto& column : table_columns(table)) {
    if (normal_name(column.name) == wanted) return column;
  }
  return std::nullopt;
}

std::vector<double> column_row(const RawTable& table, const TableColumn& column, std::size_t row) {
  const std::uint8_t* p = table.data.data() + row * table.row_bytes + column.offset;
  const std::size_t size = type_bytes(column.type);
  const PixelScale scale{column.scale, column.zero, column.null};
  std::vector<double> out;
  out.reserve(column.repeat);
  for (std::size_t i = 0; i < column.repeat; ++i, p += size) {
    switch (column.type) {
      case 'L':
        out.push_back(*p == 0 ? std::nan("") : *p == 'T' ? 1.0 : 0.0);
        break;
      case 'B':
        out.push_back(convert_pixel<double>(*p, scale));
        break;
      case 'I':
        out.push_back(convert_pixel<double>(load_be<std::int16_t>(p), scale));
        break;
      case 'J':
        out.push_back(convert_pixel<double>(load_be<std::int32_t>(p), scale));
        break;
      case 'K':
        out.push_back(convert_pixel<double>(load_be<std::int64_t>(p), scale));
        break;
      case 'E':
        out.push_back(convert_pixel<double>(load_be<float>(p), scale));
        break;
      case 'D':
        out.push_back(convert_pixel<double>(load_be<double>(p), scale));
        break;
      default:
        return {};
    }
  }
  return out;
}

void TableBuilder::append(const std::string& name, const std::string& tform, std::size_t bytes,
                          std::vector<std::uint8_t> data, const std::string& unit,
                          const std::string& comment) {
  if (data.size() != bytes * rows_) {
    throw Error(Status::kInternal, "table column " + name + ": wrong number of values");
  }
  const std::string index = std::to_string(columns_.size() + 1);
  cards_.set("TTYPE" + index, name, comment);
  cards_.set("TFORM" + index, tform);
  if (!unit.empty()) cards_.set("TUNIT" + index, unit);
  columns_.push_back({bytes, std::move(data)});
}

namespace {

template <class T>
std::vector<std::uint8_t> big_endian_bytes(std::span<const T> values) {
  std::vector<std::uint8_t> out(values.size() * sizeof(T));
  to_big_endian<T>(values.data(), out.data(), values.size());
  return out;
}

}  // namespace

TableBuilder& TableBuilder::add(const std::string& name, std::span<const double> values,
                                const std::string& unit, const std::string& comment) {
  append(name, "D", 8, big_endian_bytes(values), unit, comment);
  return *this;
}

TableBuilder& TableBuilder::add(const std::string& name, std::span<const std::int32_t> values,
                                const std::string& unit, const std::string& comment) {
  append(name, "J", 4, big_endian_bytes(values), unit, comment);
  return *this;
}

TableBuilder& TableBuilder::add(const std::string& name, std::span<const std::int64_t> values,
                                const std::string& unit, const std::string& comment) {
  append(name, "K", 8, big_endian_bytes(values), unit, comment);
  return *this;
}

TableBuilder& TableBuilder::add(const std::string& name, std::span<const std::string> values,
                                std::size_t width, const std::string& comment) {
  std::vector<std::uint8_t> bytes(values.size() * width, std::uint8_t{' '});
  for (std::size_t r = 0; r < values.size(); ++r) {
    std::copy_n(values[r].begin(), std::min(width, values[r].size()),
                bytes.begin() + static_cast<std::ptrdiff_t>(r * width));
  }
  append(name, std::to_string(width) + "A", width, std::move(bytes), "", comment);
  return *this;
}

TableBuilder& TableBuilder::add_vector(const std::string& name, std::span<const double> values,
                                       std::size_t width, const std::string& dim) {
  append(name, std::to_string(width) + "D", 8 * width, big_endian_bytes(values), "", "");
  if (!dim.empty()) cards_.set("TDIM" + std::to_string(columns_.size()), dim);
  return *this;
}

RawTable TableBuilder::build() const {
  RawTable out;
  out.rows = rows_;
  out.column_cards = cards_.cards;
  for (const Column& c : columns_) out.row_bytes += c.bytes;
  out.data.resize(out.rows * out.row_bytes);
  std::size_t offset = 0;
  for (const Column& c : columns_) {
    for (std::size_t r = 0; r < rows_; ++r) {
      std::copy_n(c.data.begin() + static_cast<std::ptrdiff_t>(r * c.bytes), c.bytes,
                  out.data.begin() + static_cast<std::ptrdiff_t>(r * out.row_bytes + offset));
    }
    offset += c.bytes;
  }
  return out;
}

}  // namespace fits
}  // namespace loom
