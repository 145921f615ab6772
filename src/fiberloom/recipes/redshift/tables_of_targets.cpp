// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"

#include <algorithm>
#include <string>

#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/redshift/candidate.hpp"

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
    const bool sky = type && (*type)[r] == "SKY";
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

Table stack(std::span<const Table> tables) {
  if (tables.empty()) return {};
  Table out = tables.front();
  if (tables.size() == 1) return out;
  forget_cards(out);
  out.heap.clear();
  std::erase_if(out.columns, [](const Column& c) { return c.cell == Cell::kOpaque; });
  for (const Table& more : tables.subspan(1)) {
    std::erase_if(out.columns, [&](const Column& c) {
      const Column* other = more.find(c.name);
      return other == nullptr || other->cell != c.cell || other->scale != c.scale ||
             other->zero != c.zero || (c.cell != Cell::kText && other->width != c.width);
    });
    for (Column& c : out.columns) {
      const Column& other = *more.find(c.name);
      const std::size_t width = std::max(c.width, other.width);
      const auto append = [&](const Column& from, std::size_t rows, std::vector<std::uint8_t>& to) {
        const std::size_t bytes = from.width * cell_bytes(from.cell);
        for (std::size_t r = 0; r < rows; ++r) {
          const auto first = from.data.begin() + static_cast<std::ptrdiff_t>(r * bytes);
          to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(bytes));
          to.insert(to.end(), (width - from.width) * cell_bytes(from.cell), std::uint8_t{' '});
        }
      };
      std::vector<std::uint8_t> data;
      append(c, out.rows, data);
      append(other, more.rows, data);
      c.data = std::move(data);
      c.width = width;
    }
    out.rows += more.rows;
  }
  return out;
}

}  // namespace fiberloom
