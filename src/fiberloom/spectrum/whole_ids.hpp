// SPDX-License-Identifier: BSD-3-Clause
// Numbers of targets that a table holds as floating-point numbers: up to some size they are whole.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/spectrum/table.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

/// The first number of a column of floating-point ones that is too large to be told from the whole
/// number next to it: it may be that of another target. nullopt where all are as they were.
[[nodiscard]] inline std::optional<double> lost_digits(const Table& table,
                                                       const std::string& name) {
  const Column* const column = table.find(name);
  if (column == nullptr) return std::nullopt;
  if (column->cell != Cell::kFloat64 && column->cell != Cell::kFloat32) return std::nullopt;
  const double limit = column->cell == Cell::kFloat64 ? 0x1p53 : 0x1p24;
  for (const double id : table.column(name).value_or(std::vector<double>())) {
    if (std::abs(id) >= limit) return id;
  }
  return std::nullopt;
}

/// What is said of it, behind the name of the table.
[[nodiscard]] inline std::string lost_digits_text(double id) {
  return loom::print(
      "TARGETID has floating-point numbers, which lost digits of %.0f: expected integers", id);
}

/// Throws kMissingKeyword where a column TARGETID holds texts or lists, of which numbers of rows
/// would take the place, and kCorrupt where it holds floating-point numbers that have lost digits:
/// they would be numbers of other targets.
inline void require_whole_ids(const Table& table, const std::string& path,
                              const char* name = "FIBERMAP") {
  if (table.find("TARGETID") != nullptr && !table.integers("TARGETID", 0)) {
    throw loom::Error(
        loom::Status::kMissingKeyword,
        path + ": " + name + ": no column TARGETID of numbers, what is called so is none");
  }
  if (const auto id = lost_digits(table, "TARGETID")) {
    throw loom::Error(loom::Status::kCorrupt, path + ": " + name + ": " + lost_digits_text(*id));
  }
}

}  // namespace fiberloom
