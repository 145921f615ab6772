// SPDX-License-Identifier: BSD-3-Clause
// Rows of mixed bytes to columns of one kind each, in the machine's byte order.
#include "fiberloom/formats/tables.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

struct Letter {
  char letter;
  Cell cell;
};
/// TFORM letters; every other is opaque.
constexpr std::array<Letter, 8> kLetters{{{'L', Cell::kTruth},
                                          {'B', Cell::kUint8},
                                          {'I', Cell::kInt16},
                                          {'J', Cell::kInt32},
                                          {'K', Cell::kInt64},
                                          {'E', Cell::kFloat32},
                                          {'D', Cell::kFloat64},
                                          {'A', Cell::kText}}};

Cell cell_of(char letter) {
  const auto found = std::find_if(kLetters.begin(), kLetters.end(),
                                  [&](const Letter& l) { return l.letter == letter; });
  return found == kLetters.end() ? Cell::kOpaque : found->cell;
}

char letter_of(Cell cell) {
  const auto found = std::find_if(kLetters.begin(), kLetters.end(),
                                  [&](const Letter& l) { return l.cell == cell; });
  return found == kLetters.end() ? 'B' : found->letter;
}

/// Values of `size` bytes, from the file's byte order to the machine's or back.
void copy_values(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes, std::size_t size) {
  if constexpr (std::endian::native == std::endian::big) size = 1;
  for (std::size_t at = 0; at < bytes; at += size) {
    std::reverse_copy(from + at, from + at + size, to + at);
  }
}

/// Unsigned integers have whole ones.
void set_zero(HeaderCards& cards, const std::string& key, double zero) {
  const bool whole = std::abs(zero) < 0x1p62 && zero == std::floor(zero);
  whole ? cards.set(key, static_cast<std::int64_t>(zero)) : cards.set(key, zero);
}

std::string dimensions(const std::vector<std::size_t>& shape) {
  std::string text;
  for (const std::size_t n : shape) (text += text.empty() ? '(' : ',') += std::to_string(n);
  return text + ")";
}

/// What TDIM says of a list of numbers; empty where it is none, or other than the list.
std::vector<std::size_t> shape_of(const std::string& dim, const Column& column) {
  if (column.cell == Cell::kText || column.cell == Cell::kOpaque) return {};
  std::vector<std::size_t> shape;
  std::size_t product = 1;
  const char* const end = dim.data() + dim.size();
  for (const char* at = dim.data(); at != end;) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
      ++at;
      continue;
    }
    std::size_t n = 0;
    const auto [next, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n == 0 || n > column.width) return {};
    shape.push_back(n);
    product *= n;
    if (product > column.width) return {};
    at = next;
  }
  return !shape.empty() && product == column.width ? shape : std::vector<std::size_t>{};
}

std::size_t row_bytes_of(const Column& column) { return column.width * cell_bytes(column.cell); }

}  // namespace

Table to_table(const RawTable& raw) {
  Table out;
  out.rows = raw.rows;
  out.notes = raw.header.cards;
  out.descriptions = raw.column_cards;
  out.heap = raw.heap;
  const HeaderCards cards{raw.column_cards};
  std::size_t all = 0;
  for (const fits::TableColumn& c : fits::table_columns(raw)) {
    Column column;
    const std::string index = std::to_string(out.columns.size() + 1);
    column.name = c.name;
    column.unit = cards.text("TUNIT" + index).value_or("");
    column.comment = cards.comment("TTYPE" + index);
    column.cell = cell_of(c.type);
    column.width = column.cell == Cell::kOpaque ? c.bytes : c.repeat;
    column.scale = c.scale;
    column.zero = c.zero;
    column.undefined = c.null;
    column.shape = shape_of(c.dim, column);
    column.data.resize(raw.rows * c.bytes);
    for (std::size_t r = 0; r < raw.rows; ++r) {
      copy_values(raw.data.data() + r * raw.row_bytes + c.offset, column.data.data() + r * c.bytes,
                  c.bytes, cell_bytes(column.cell));
    }
    all += c.bytes;
    out.columns.push_back(std::move(column));
  }
  if (all != raw.row_bytes) {
    throw Error(Status::kCorrupt, "a table's columns take " + std::to_string(all) +
                                      " bytes, its rows " + std::to_string(raw.row_bytes));
  }
  out.described = out.columns.size();
  return out;
}

RawTable to_raw_table(const Table& table) {
  RawTable out;
  out.header.cards = table.notes;
  out.rows = table.rows;
  out.heap = table.heap;
  HeaderCards cards{table.descriptions};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    out.row_bytes += row_bytes_of(column);
    if (c < table.described) continue;
    const std::string index = std::to_string(c + 1);
    const char letter = letter_of(column.cell);
    const bool one = column.width == 1 && column.cell != Cell::kText;
    cards.set("TTYPE" + index, column.name, column.comment);
    cards.set("TFORM" + index, (one ? "" : std::to_string(column.width)) + letter);
    if (!column.shape.empty()) cards.set("TDIM" + index, dimensions(column.shape));
    if (!column.unit.empty()) cards.set("TUNIT" + index, column.unit);
    if (column.scale != 1) cards.set("TSCAL" + index, column.scale);
    if (column.zero != 0) set_zero(cards, "TZERO" + index, column.zero);
    if (column.undefined) cards.set("TNULL" + index, *column.undefined);
  }
  out.column_cards = std::move(cards.cards);
  out.data.resize(out.rows * out.row_bytes);
  std::size_t offset = 0;
  for (const Column& column : table.columns) {
    const std::size_t bytes = row_bytes_of(column);
    for (std::size_t r = 0; r < out.rows; ++r) {
      copy_values(column.data.data() + r * bytes, out.data.data() + r * out.row_bytes + offset,
                  bytes, cell_bytes(column.cell));
    }
    offset += bytes;
  }
  return out;
}

std::optional<Table> to_table(const std::optional<RawTable>& raw) {
  if (!raw) return std::nullopt;
  return to_table(*raw);
}

std::optional<RawTable> to_raw_table(const std::optional<Table>& table) {
  if (!table) return std::nullopt;
  return to_raw_table(*table);
}

}  // namespace fiberloom
