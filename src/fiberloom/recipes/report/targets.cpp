// SPDX-License-Identifier: BSD-3-Clause
// Columns of FIBERMAP.
#include "fiberloom/recipes/report/targets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "fiberloom/spectrum/sky_fibers.hpp"

namespace fiberloom::report {
namespace {

constexpr std::size_t kLongestType = 24;  // letters; a table may hold any

struct Places {
  const char *x, *y, *unit;
};
constexpr Places kPlaces[] = {{"FIBER_X", "FIBER_Y", "mm"},
                              {"FIBERASSIGN_X", "FIBERASSIGN_Y", "mm"},
                              {"FIBER_RA", "FIBER_DEC", "deg"},
                              {"TARGET_RA", "TARGET_DEC", "deg"}};

/// At least two fibres at different places: columns of zeros tell nothing.
bool tells_places(const std::vector<double>& x, const std::vector<double>& y) {
  bool first = true;
  double x0 = 0, y0 = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) continue;
    if (!first && (x[i] != x0 || y[i] != y0)) return true;
    x0 = x[i], y0 = y[i], first = false;
  }
  return false;
}

void read_places(Targets& out, const Table& table) {
  for (const Places& place : kPlaces) {
    auto x = table.column(place.x), y = table.column(place.y);
    if (!x || !y || !tells_places(*x, *y)) continue;
    out.x = std::move(*x);
    out.y = std::move(*y);
    out.place_unit = place.unit;
    return;
  }
}

}  // namespace

bool Targets::is_sky(std::size_t row) const {
  if (row >= types.size()) return false;
  const std::string& type = types[row];
  return is_sky_type(type.substr(0, type.find(' ')));
}

bool Targets::is_known_bad(std::size_t row) const {
  return row < status.size() && status[row] != 0;
}

std::optional<std::vector<std::int64_t>> whole_numbers(const Table& table,
                                                       const std::string& name) {
  const Column* column = table.find(name);
  if (column == nullptr || column->scale != 1 || column->zero != 0) return std::nullopt;
  if (column->cell != Cell::kInt64 && column->cell != Cell::kInt32 &&
      column->cell != Cell::kInt16) {
    return std::nullopt;
  }
  return table.integers(name, column->undefined.value_or(0));  // what is undefined, as stored
}

Targets read_targets(const std::optional<Table>& fibermap, std::size_t rows) {
  Targets out;
  if (!fibermap || fibermap->rows != rows) return out;
  out.types = fibermap->text_column("OBJTYPE").value_or(std::vector<std::string>());
  for (std::string& type : out.types) type.resize(std::min(type.size(), kLongestType));
  if (const auto ids = whole_numbers(*fibermap, "TARGETID")) {
    for (const std::int64_t id : *ids) out.ids.push_back(std::to_string(id));
  }
  out.status = whole_numbers(*fibermap, "FIBERSTATUS").value_or(std::vector<std::int64_t>());
  read_places(out, *fibermap);
  return out;
}

void add_truth(Targets& targets, const std::vector<std::int64_t>& fibers, const Table& truth) {
  const auto numbers = whole_numbers(truth, "FIBER");
  const auto kinds = truth.text_column("CLASS");
  const auto redshifts = truth.column("REDSHIFT");
  if (!numbers) return;
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t r = 0; r < numbers->size(); ++r) row_of.emplace((*numbers)[r], r);
  if (kinds) targets.types.resize(fibers.size());
  if (redshifts) {
    targets.redshifts.assign(fibers.size(), std::numeric_limits<double>::quiet_NaN());
  }
  for (std::size_t s = 0; s < fibers.size(); ++s) {
    const auto found = row_of.find(fibers[s]);
    if (found == row_of.end()) continue;
    if (kinds && (*kinds)[found->second] != targets.types[s]) {
      std::string& type = targets.types[s];
      if (!type.empty()) type += ' ';
      type += (*kinds)[found->second].substr(0, kLongestType);
    }
    if (redshifts) targets.redshifts[s] = (*redshifts)[found->second];
  }
}

}  // namespace fiberloom::report
