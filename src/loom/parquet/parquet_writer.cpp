// SPDX-License-Identifier: BSD-3-Clause
// Format 2.4 of apache/parquet-format: "PAR1", of each row group a data page a column, the footer,
// its length, "PAR1". Numbers are little-endian.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>

#include "loom/base/error.hpp"
#include "loom/parquet/parquet.hpp"
#include "loom/parquet/thrift_compact.hpp"

namespace loom::parquet {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they are");

constexpr std::string_view kMagic = "PAR1";
enum Physical { kBoolean = 0, kInt32 = 1, kInt64 = 2, kFloat = 4, kDouble = 5, kByteArray = 6 };
enum Encoding { kPlain = 0, kRle = 3 };
enum Repetition { kRequired = 0, kOptional = 1 };
constexpr int kUtf8 = 0, kInt16 = 16;  // of ConvertedType

/// What a type of values is in the file.
struct TypeOf {
  Physical physical;
  int converted = -1;  ///< < 0: none
};
constexpr std::array<TypeOf, 7> kTypes{
    {{kInt64}, {kInt32}, {kInt32, kInt16}, {kDouble}, {kFloat}, {kBoolean}, {kByteArray, kUtf8}}};

TypeOf type_of(const Column& column) { return kTypes.at(column.values.index()); }

std::size_t rows_of(const Column& column) {
  return std::visit([](const auto& values) { return values.size(); }, column.values);
}

bool may_be_null(const Column& column) {
  return std::find(column.known.begin(), column.known.end(), false) != column.known.end();
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_varint(std::string& out, std::size_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  out += static_cast<char>(value);
}

/// Which rows are known, as runs: what a page of a column with NULLs begins with.
std::string levels(const std::vector<bool>& known, std::size_t first, std::size_t last) {
  std::string runs;
  for (std::size_t r = first; r < last;) {
    std::size_t end = r;
    while (end < last && known[end] == known[r]) ++end;
    append_varint(runs, (end - r) << 1);
    runs += known[r] ? '\1' : '\0';
    r = end;
  }
  std::string out;
  append(out, static_cast<std::uint32_t>(runs.size()));
  return out + runs;
}

/// Values of rows [first, last) that are known.
template <class T, class Known>
void append_plain(std::string& out, const std::vector<T>& values, std::size_t first,
                  std::size_t last, Known known) {
  unsigned bits = 0;
  int count = 0;
  for (std::size_t r = first; r < last; ++r) {
    if (!known(r)) continue;
    if constexpr (std::is_same_v<T, bool>) {  // eight a byte, the lowest bit first
      bits |= (values[r] ? 1U : 0U) << count;
      if (++count < 8) continue;
      out += static_cast<char>(bits);
      bits = 0, count = 0;
    } else if constexpr (std::is_same_v<T, std::string>) {
      append(out, static_cast<std::uint32_t>(values[r].size()));
      out += values[r];
    } else if constexpr (std::is_same_v<T, std::int16_t>) {
      append(out, static_cast<std::int32_t>(values[r]));
    } else {
      append(out, values[r]);
    }
  }
  if (count > 0) out += static_cast<char>(bits);
}

/// Header and content of the page of rows [first, last).
std::string page_of(const Column& column, bool nulls, std::size_t first, std::size_t last) {
  constexpr std::size_t kMost = 0x7fffffff;
  std::string content = nulls ? levels(column.known, first, last) : std::string();
  const auto known = [&](std::size_t r) { return !nulls || column.known[r]; };
  std::visit([&](const auto& values) { append_plain(content, values, first, last, known); },
             column.values);
  if (content.size() > kMost) {
    throw Error(Status::kUnsupported, "Parquet: column " + column.name +
                                          ": texts of more than 2 GB in one group of rows");
  }
  Compact header;
  header.i32(1, 0);  // a data page
  header.i32(2, static_cast<std::int32_t>(content.size()));
  header.i32(3, static_cast<std::int32_t>(content.size()));
  header.begin_struct(5);
  header.i32(1, static_cast<std::int32_t>(last - first));
  header.i32(2, kPlain);
  header.i32(3, kRle);
  header.i32(4, kRle);
  header.end_struct();
  return header.finish() + content;
}

/// Where a column's page of a row group lies.
struct Chunk {
  std::uint64_t offset = 0, bytes = 0;
};
struct Group {
  std::size_t rows = 0;
  std::vector<Chunk> chunks;
};

void add_schema(Compact& footer, std::span<const Column> columns, const std::vector<bool>& nulls) {
  footer.begin_structs(2, columns.size() + 1);
  footer.begin_element();
  footer.text(4, "schema");
  footer.i32(5, static_cast<std::int32_t>(columns.size()));
  footer.end_struct();
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const TypeOf type = type_of(columns[c]);
    footer.begin_element();
    footer.i32(1, type.physical);
    footer.i32(3, nulls[c] ? kOptional : kRequired);
    footer.text(4, columns[c].name);
    if (type.converted >= 0) footer.i32(6, type.converted);
    footer.end_struct();
  }
}

void add_group(Compact& footer, std::span<const Column> columns, const Group& group) {
  footer.begin_element();
  footer.begin_structs(1, columns.size());
  std::uint64_t bytes = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Chunk& chunk = group.chunks[c];
    const auto offset = static_cast<std::int64_t>(chunk.offset),
               size = static_cast<std::int64_t>(chunk.bytes);
    bytes += chunk.bytes;
    footer.begin_element();
    footer.i64(2, offset);
    footer.begin_struct(3);
    footer.i32(1, type_of(columns[c]).physical);
    footer.numbers(2, {kPlain, kRle});
    footer.texts(3, {columns[c].name});
    footer.i32(4, 0);  // not compressed
    footer.i64(5, static_cast<std::int64_t>(group.rows));
    footer.i64(6, size);
    footer.i64(7, size);
    footer.i64(9, offset);
    footer.end_struct();
    footer.end_struct();
  }
  footer.i64(2, static_cast<std::int64_t>(bytes));
  footer.i64(3, static_cast<std::int64_t>(group.rows));
  footer.end_struct();
}

void check(std::span<const Column> columns) {
  std::set<std::string> names;
  for (const Column& column : columns) {
    const bool fits = rows_of(column) == rows_of(columns.front()) &&
                      (column.known.empty() || column.known.size() == rows_of(column));
    if (fits && names.insert(column.name).second) continue;
    throw Error(Status::kInternal, "Parquet: column " + column.name +
                                       ": another number of rows, or the name of another");
  }
}

}  // namespace

void write_parquet(const std::string& path, std::span<const Column> columns,
                   const std::string& creator, Overwrite overwrite) {
  check(columns);
  const std::size_t rows = columns.empty() ? 0 : rows_of(columns.front());
  std::vector<bool> nulls;
  for (const Column& column : columns) nulls.push_back(may_be_null(column));
  AtomicFile file(path, overwrite);
  std::uint64_t at = 0;
  const auto put = [&](std::string_view bytes) {
    file.write_at(at, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    at += bytes.size();
  };
  put(kMagic);
  std::vector<Group> groups;
  for (std::size_t first = 0; first < rows; first += kGroupRows) {
    const std::size_t last = std::min(first + kGroupRows, rows);
    Group& group = groups.emplace_back(Group{last - first, {}});
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string page = page_of(columns[c], nulls[c], first, last);
      group.chunks.push_back({at, page.size()});
      put(page);
    }
  }
  Compact footer;
  footer.i32(1, 1);  // of the format
  add_schema(footer, columns, nulls);
  footer.i64(3, static_cast<std::int64_t>(rows));
  footer.begin_structs(4, groups.size());
  for (const Group& group : groups) add_group(footer, columns, group);
  footer.text(6, creator);
  const std::string bytes = footer.finish();
  put(bytes);
  std::string tail;
  append(tail, static_cast<std::uint32_t>(bytes.size()));
  put(tail + std::string(kMagic));
  file.commit();
}

}  // namespace loom::parquet
