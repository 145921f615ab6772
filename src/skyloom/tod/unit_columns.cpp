// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/unit_columns.hpp"

#include <numbers>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {
namespace {

/// Units as astropy writes them, and what they are of those that are taken without a note.
constexpr struct {
  const char *kind, *name;
  double factor;
} kColumnUnits[] = {{"K s(1/2)", "K s(1/2)", 1},
                    {"K s(1/2)", "mK s(1/2)", 1e-3},
                    {"K s(1/2)", "uK s(1/2)", 1e-6},
                    {"K s(1/2)", "K Hz(-1/2)", 1},
                    {"K s(1/2)", "mK Hz(-1/2)", 1e-3},
                    {"K s(1/2)", "uK Hz(-1/2)", 1e-6},
                    {"Hz", "Hz", 1},
                    {"Hz", "mHz", 1e-3},
                    {"rad", "rad", 1},
                    {"rad", "deg", std::numbers::pi / 180}};

/// The unit that the notes beside a table have for a column; empty: none.
std::string noted_unit(const std::vector<std::string>& notes, const std::string& column) {
  const std::string begin = "{name: " + column + ",", key = "unit: ";
  for (const std::string& line : notes) {
    if (line.find(begin) == std::string::npos) continue;
    const std::size_t at = line.find(key);
    if (at == std::string::npos) return {};
    const std::size_t from = at + key.size();
    return line.substr(from, line.find_first_of(",}", from) - from);
  }
  return {};
}

}  // namespace

UnitColumns::UnitColumns(const hdf5::Reader& file, std::string table)
    : file_(file),
      table_(std::move(table)),
      notes_(file.read_texts(table_ + ".__table_column_meta__")) {}

std::vector<double> UnitColumns::read(const std::string& name, const std::string& kind) const {
  std::vector<double> values = file_.read_field(table_, name);
  const double factor = values.empty() ? 1 : factor_of(name, kind);
  for (double& value : values) value *= factor;
  return values;
}

double UnitColumns::factor_of(const std::string& name, const std::string& kind) const {
  const std::string unit = noted_unit(notes_, name);
  if (unit.empty()) return 1;
  std::string known;
  for (const auto& each : kColumnUnits) {
    if (kind != each.kind) continue;
    if (unit == each.name) return each.factor;
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  throw Error(Status::kUnsupported, file_.path() + ": " + table_ + ": " + name + ": unit '" + unit +
                                        "': expected " + known);
}

}  // namespace skyloom
