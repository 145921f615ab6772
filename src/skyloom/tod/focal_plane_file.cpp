// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/focal_plane_file.hpp"

#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/observation_file.hpp"

namespace skyloom {
namespace {

using hdf5::Reader;

constexpr const char* kPlaneTables[] = {"focalplane", kFocalPlaneTable};

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

/// A column in the unit of its kind; empty: there is none.
class Columns {
 public:
  Columns(const Reader& file, const char* table)
      : file_(file),
        table_(table),
        notes_(file.read_texts(std::string(table) + ".__table_column_meta__")) {}

  [[nodiscard]] std::vector<double> read(const std::string& name, const std::string& kind) const {
    std::vector<double> values = file_.read_field(table_, name);
    const double factor = values.empty() ? 1 : factor_of(name, kind);
    for (double& value : values) value *= factor;
    return values;
  }

 private:
  [[nodiscard]] double factor_of(const std::string& name, const std::string& kind) const {
    const std::string unit = noted_unit(notes_, name);
    if (unit.empty()) return 1;
    std::string known;
    for (const auto& each : kColumnUnits) {
      if (kind != each.kind) continue;
      if (unit == each.name) return each.factor;
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    }
    throw Error(Status::kUnsupported, file_.path() + ": " + table_ + ": " + name + ": unit '" +
                                          unit + "': expected " + known);
  }

  const Reader& file_;
  const char* table_;
  std::vector<std::string> notes_;
};

const char* table_of(const Reader& file) {
  for (const char* table : kPlaneTables) {
    if (file.has(table)) return table;
  }
  throw Error(Status::kMissingHdu, file.path() + ": neither " + kPlaneTables[0] + " nor " +
                                       kPlaneTables[1] +
                                       ": expected a focal plane or an observation of TOAST");
}

void check_names(const Reader& file, const char* table, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty() || !seen.insert(name).second) {
      throw Error(Status::kCorrupt, file.path() + ": " + table + ": detector '" + name +
                                        "': expected a name of its own for each");
    }
  }
}

/// A column of texts, or of whole numbers as texts.
std::vector<std::string> groups_of(const Reader& file, const char* table, const std::string& name) {
  std::vector<std::string> out = file.read_text_field(table, name);
  if (!out.empty()) return out;
  for (const double value : file.read_field(table, name)) {
    if (std::floor(value) != value) {
      throw Error(Status::kWrongShape, file.path() + ": " + table + ": column " + name +
                                           print(": %g: expected texts or whole numbers", value));
    }
    out.push_back(print("%.0f", value));
  }
  if (out.empty()) {
    throw Error(Status::kMissingKeyword,
                file.path() + ": " + table + ": no column " + name + " of texts or whole numbers");
  }
  return out;
}

}  // namespace

FocalPlane read_focal_plane(const std::string& path, const HexagonOptions& otherwise,
                            const std::vector<std::string>& groups) {
  const Reader file(path);
  const char* const table = table_of(file);
  const std::vector<std::string> names = file.read_text_field(table, "name");
  check_names(file, table, names);
  FocalPlane plane{.detectors = read_detectors(file, names, table),
                   .rate_hz = otherwise.rate_hz,
                   .groups = groups};
  for (const std::string& column : groups) {
    const std::vector<std::string> each = groups_of(file, table, column);
    for (std::size_t i = 0; i < each.size(); ++i) plane.detectors[i].groups.push_back(each[i]);
  }
  const Columns columns(file, table);
  const std::vector<double> gamma = columns.read("gamma", "rad");
  const std::vector<double> net = columns.read("psd_net", "K s(1/2)");
  const std::vector<double> knee = columns.read("psd_fknee", "Hz");
  const std::vector<double> least = columns.read("psd_fmin", "Hz");
  const std::vector<double> slope = file.read_field(table, "psd_alpha");
  const bool leaks = !file.read_field(table, "pol_leakage").empty() ||
                     !file.read_field(table, "pol_efficiency").empty();
  for (std::size_t i = 0; i < plane.detectors.size(); ++i) {
    Detector& detector = plane.detectors[i];
    const auto value = [i](const std::vector<double>& column, double none) {
      return column.empty() ? none : column[i];
    };
    detector.gamma = value(gamma, 0);
    if (!std::isfinite(detector.gamma)) {
      throw Error(Status::kCorrupt, path + ": " + table + ": detector " + detector.name +
                                        print(": gamma %g", detector.gamma));
    }
    if (!leaks) detector.leakage = otherwise.leakage;
    detector.noise = {.net = value(net, otherwise.noise.net),
                      .fmin_hz = value(least, otherwise.noise.fmin_hz),
                      .fknee_hz = value(knee, otherwise.noise.fknee_hz),
                      .slope = value(slope, otherwise.noise.slope)};
  }
  return plane;
}

}  // namespace skyloom
