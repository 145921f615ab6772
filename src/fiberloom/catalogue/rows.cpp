// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "fiberloom/catalogue/healpix.hpp"

namespace fiberloom::catalogue {
namespace {

using db::Value;
using Values = std::vector<Value>;

bool is_null(const Value& value) { return std::holds_alternative<std::monostate>(value); }

double number(const Value& value, double otherwise = std::nan("")) {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  return otherwise;
}

}  // namespace

std::size_t place_of(const SqlTable& table, std::string_view name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const SqlColumn& c) { return c.name == name; });
  return static_cast<std::size_t>(found - table.columns.begin());
}

Rows::Rows(const SqlTable& table, std::span<const Source> sources, const Given& given) {
  for (const SqlColumn& column : table.columns) {
    const auto found = given.find(column.name);
    const bool known = found != given.end() && !is_null(found->second);
    cells_.emplace_back(known ? SqlColumn{column.name, column.type, {}, 0} : column, sources);
    given_.push_back(known ? found->second : Value(std::monostate{}));
  }
}

bool Rows::knows(std::size_t column) const {
  return cells_[column].there() || !is_null(given_[column]);
}

std::vector<std::size_t> Rows::by_key(std::size_t n, std::size_t keys) const {
  std::map<Values, std::size_t> places;
  for (std::size_t r = 0; r < n; ++r) {
    Values key;
    for (std::size_t k = 0; k < keys; ++k) key.push_back(at(r, k));
    if (std::none_of(key.begin(), key.end(), is_null)) places.emplace(std::move(key), r);
  }
  std::vector<std::size_t> out;
  for (const auto& [key, row] : places) out.push_back(row);
  return out;
}

void merge_rows(db::Connection& connection, const SqlTable& table, const Rows& rows,
                std::size_t n) {
  const std::vector<std::size_t> wanted = rows.by_key(n, table.keys);
  // Columns that nobody knows would be NULL in all rows, which changes nothing.
  std::vector<std::size_t> places;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i >= table.keys && !rows.knows(i)) continue;
    places.push_back(i);
    names.push_back(table.columns[i].name);
  }
  connection.merge(table.name, names, table.keys, wanted.size(),
                   [&](std::size_t r, std::span<Value> out) {
                     for (std::size_t i = 0; i < out.size(); ++i) {
                       out[i] = rows.at(wanted[r], places[i]);
                     }
                   });
}

Derived::Derived()
    : ra_(at("target_ra")),
      dec_(at("target_dec")),
      zwarn_(at("zwarn")),
      depth_(at("tsnr2_lrg")),
      exptime_(at("coadd_exptime")),
      hpx_(at("hpx")),
      x_(at("unit_x")),
      rank_(at("zrank")) {}

void Derived::fill(std::span<Value> row) const {
  const double ra = number(row[ra_]), dec = number(row[dec_]);
  if (std::isfinite(ra) && std::abs(ra) <= 720 && std::abs(dec) <= 90) {
    const Direction to = direction(ra, dec);
    row[hpx_] = nested_pixel(to);
    for (std::size_t k = 0; k < 3; ++k) row[x_ + k] = to[k];
  }
  // As the field chooses among fits of a target: no warning first, then the larger TSNR2_LRG.
  constexpr double kDeepest = 1e9;
  const double depth = number(row[depth_], number(row[exptime_], 0));
  const bool good = number(row[zwarn_], 1) == 0;
  row[rank_] = (good ? 2 * kDeepest : 0) + std::clamp(depth, -kDeepest, kDeepest) / 2;
}

std::size_t Derived::at(std::string_view name) { return place_of(redshift_table(), name); }

}  // namespace fiberloom::catalogue
