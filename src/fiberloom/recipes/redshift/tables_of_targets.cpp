// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/spectrum/sky_fibers.hpp"

namespace fiberloom {

void forget_cards(Table& table) {
  table.described = 0;
  table.descriptions.clear();
}

std::vector<std::uint32_t> zwarn_of(const Table& fibermap) {
  namespace zw = redshift::zwarn;
  using enum calibrate::FiberStatus;
  constexpr std::int64_t nothing_seen = kBadPosition | kBrokenFiber | kUnassigned;
  constexpr std::int64_t bad_amp = kBadAmpB | kBadAmpR | kBadAmpZ;
  std::vector<std::uint32_t> out(fibermap.rows, 0U);
  auto status = fibermap.integers("COADD_FIBERSTATUS", 0);
  if (!status) status = fibermap.integers("FIBERSTATUS", 0);
  const auto type = fibermap.text_column("OBJTYPE");
  for (std::size_t r = 0; r < fibermap.rows; ++r) {
    const std::int64_t s = status ? (*status)[r] : 0;
    const bool sky = type && is_sky_type((*type)[r]);
    const bool bad = type && !sky && (*type)[r] != "TGT";
    if ((s & kPoorPosition) != 0) out[r] |= zw::kPoorData;
    if ((s & nothing_seen) != 0 || bad) out[r] |= zw::kNoData;
    if ((s & kBrokenFiber) != 0) out[r] |= zw::kUnplugged;
    if ((s & bad_amp) != 0) out[r] |= zw::kLittleCoverage;
    if (sky) out[r] |= zw::kSky;
    if (bad) out[r] |= zw::kBadTarget;
  }
  return out;
}

void add_exposure_columns(const HeaderCards& header, Table& fibermap) {
  const auto integers = [&](const char* column, const char* key) {
    const auto value = header.integer(key);
    if (!value || fibermap.find(column) != nullptr) return;
    const std::vector<std::int32_t> all(fibermap.rows, static_cast<std::int32_t>(*value));
    fibermap.add(column, std::span(all));
  };
  const auto numbers = [&](const char* column, const char* key, const char* unit) {
    const auto value = header.number(key);
    if (!value || fibermap.find(column) != nullptr) return;
    const std::vector<double> all(fibermap.rows, *value);
    fibermap.add(column, std::span(all), unit);
  };
  integers("NIGHT", "NIGHT");
  integers("EXPID", "EXPID");
  integers("TILEID", "TILEID");
  numbers("MJD", "MJD-OBS", "d");
  numbers("EXPTIME", "EXPTIME", "s");
}

std::span<const char* const> group_keywords() {
  static constexpr std::array kKeywords{"SPGRP",  "SPGRPVAL", "TILEID",   "SPECTRO",  "PETAL",
                                        "NIGHT",  "EXPID",    "HPXPIXEL", "HPXNSIDE", "HPXNEST",
                                        "SURVEY", "PROGRAM",  "FAPRGRM"};
  return kKeywords;
}

void keep_common_group(const HeaderCards& other, HeaderCards& header) {
  for (const char* key : group_keywords()) {
    if (header.text(key) != other.text(key)) header.remove(key);
  }
}

void join_status(std::span<const std::int64_t> bits, Table& fibermap) {
  const std::vector<std::int64_t> none(fibermap.rows, 0);
  const std::vector<std::int64_t> own = fibermap.integers("FIBERSTATUS", 0).value_or(none);
  std::vector<std::int64_t> all = own;
  for (std::size_t r = 0; r < all.size(); ++r) all[r] |= bits[r];
  if (all == own) return;
  Table one;
  one.add("FIBERSTATUS", std::span<const std::int64_t>(all));
  const Column* const old = fibermap.find("FIBERSTATUS");
  if (old == nullptr) {
    fibermap.columns.push_back(std::move(one.columns.front()));
    return;
  }
  const auto place = static_cast<std::size_t>(old - fibermap.columns.data());
  fibermap.columns[place] = std::move(one.columns.front());
  forget_cards(fibermap);  // it may have been of another type
}

namespace {

bool has_integers(const Column& c) {
  return (c.cell == Cell::kUint8 || c.cell == Cell::kInt16 || c.cell == Cell::kInt32 ||
          c.cell == Cell::kInt64) &&
         c.scale == 1 && c.zero == std::floor(c.zero);
}
bool has_numbers(const Column& c) {
  return c.cell != Cell::kText && c.cell != Cell::kOpaque && c.cell != Cell::kTruth;
}

bool stored_alike(const Column& a, const Column& b) {
  return a.cell == b.cell && a.scale == b.scale && a.zero == b.zero && a.undefined == b.undefined &&
         (a.cell == Cell::kText || a.width == b.width);
}
bool can_stack(const Column& a, const Column& b) {
  return stored_alike(a, b) || (has_numbers(a) && has_numbers(b) && a.width == b.width);
}

/// A column of numbers as 64-bit ones: integers where it is of single integers and `whole`.
Column widened(const Table& table, const Column& column, bool whole) {
  constexpr std::int64_t kUndefined = std::numeric_limits<std::int64_t>::min();
  Column out = column;
  out.cell = whole ? Cell::kInt64 : Cell::kFloat64;
  out.scale = 1;
  out.zero = 0;
  out.undefined.reset();
  out.data.resize(table.rows * column.width * sizeof(double));
  if (whole) {
    const auto values = table.integers(column.name, kUndefined).value();
    std::memcpy(out.data.data(), values.data(), out.data.size());
    if (std::find(values.begin(), values.end(), kUndefined) != values.end()) {
      out.undefined = kUndefined;
    }
    return out;
  }
  for (std::size_t k = 0; k < table.rows * column.width; ++k) {
    const double value = number_of(column, k / column.width, k % column.width);
    std::memcpy(out.data.data() + k * sizeof(double), &value, sizeof(double));
  }
  return out;
}

/// The rows of `more` below those of `c`, a column of `rows`, text as wide as the widest.
void append_rows(Column& c, std::size_t rows, const Column& other, std::size_t more) {
  const std::size_t width = std::max(c.width, other.width);
  std::vector<std::uint8_t> data;
  const auto add = [&](const Column& from, std::size_t n) {
    const std::size_t bytes = from.width * cell_bytes(from.cell);
    for (std::size_t r = 0; r < n; ++r) {
      const auto first = from.data.begin() + static_cast<std::ptrdiff_t>(r * bytes);
      data.insert(data.end(), first, first + static_cast<std::ptrdiff_t>(bytes));
      data.insert(data.end(), (width - from.width) * cell_bytes(from.cell), std::uint8_t{' '});
    }
  };
  add(c, rows);
  add(other, more);
  c.data = std::move(data);
  c.width = width;
}

/// FIBERSTATUS in all tables where one has it: lost, it would let bad fibres pass.
std::vector<Table> with_status(std::span<const Table> tables) {
  std::vector<Table> out(tables.begin(), tables.end());
  const auto has = [](const Table& t) { return t.find("FIBERSTATUS") != nullptr; };
  if (std::none_of(out.begin(), out.end(), has)) return out;
  for (Table& t : out) {
    if (has(t)) continue;
    const std::vector<std::int32_t> good(t.rows, 0);
    t.add("FIBERSTATUS", std::span(good));
  }
  return out;
}

}  // namespace

Table stack(std::span<const Table> tables) {
  if (tables.empty()) return {};
  if (tables.size() == 1) return tables.front();
  const std::vector<Table> all = with_status(tables);
  Table out = all.front();
  forget_cards(out);
  out.heap.clear();
  std::erase_if(out.columns, [](const Column& c) { return c.cell == Cell::kOpaque; });
  for (const Table& more : std::span(all).subspan(1)) {
    std::erase_if(out.columns, [&](const Column& c) {
      const Column* other = more.find(c.name);
      return other == nullptr || !can_stack(c, *other);
    });
    for (Column& c : out.columns) {
      const Column& other = *more.find(c.name);
      if (stored_alike(c, other)) {
        append_rows(c, out.rows, other, more.rows);
        continue;
      }
      const bool whole = has_integers(c) && has_integers(other) && c.width == 1;
      const Column below = widened(more, other, whole);
      c = widened(out, c, whole);
      append_rows(c, out.rows, below, more.rows);
      if (below.undefined) c.undefined = below.undefined;
    }
    out.rows += more.rows;
  }
  return out;
}

}  // namespace fiberloom
