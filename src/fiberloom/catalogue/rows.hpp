// SPDX-License-Identifier: BSD-3-Clause
// Rows of the database's tables, made of what sources and labels say; what is computed beside.
// Internal to catalogue/.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fiberloom/catalogue/cells.hpp"
#include "loom/db/db.hpp"

namespace fiberloom::catalogue {

/// Values by name that stand before, or in place of, those of the sources.
using Given = std::map<std::string, db::Value>;

/// Rows of a table of the database: what is given, else what the sources have.
class Rows {
 public:
  Rows(const SqlTable& table, std::span<const Source> sources, const Given& given);

  [[nodiscard]] db::Value at(std::size_t r, std::size_t column) const {
    return cells_[column].there() ? cells_[column].at(r) : given_[column];
  }
  /// Does any row have it?
  [[nodiscard]] bool knows(std::size_t column) const;
  void fill(std::size_t r, std::span<db::Value> out) const {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = at(r, i);
  }
  /// Rows 0 ... n - 1 with whole keys, in the order of these, one of each: the first.
  [[nodiscard]] std::vector<std::size_t> by_key(std::size_t n, std::size_t keys) const;

 private:
  std::vector<Cells> cells_;
  std::vector<db::Value> given_;
};

/// Where a column stands; behind the last where the table has none.
[[nodiscard]] std::size_t place_of(const SqlTable& table, std::string_view name);

/// Puts `n` rows into the table, or in place of those of their keys.
void merge_rows(db::Connection& connection, const SqlTable& table, const Rows& rows, std::size_t n);

/// What is not of the file's columns: the index for cones, and which of several fits is the best.
class Derived {
 public:
  Derived();
  void fill(std::span<db::Value> row) const;

 private:
  static std::size_t at(std::string_view name);
  std::size_t ra_, dec_, zwarn_, depth_, exptime_, hpx_, x_, rank_;
};

}  // namespace fiberloom::catalogue
