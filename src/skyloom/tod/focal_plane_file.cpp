// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/focal_plane_file.hpp"

#include <cmath>
#include <set>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/observation_file.hpp"
#include "skyloom/tod/unit_columns.hpp"

namespace skyloom {
namespace {

using hdf5::Reader;

constexpr const char* kPlaneTables[] = {"focalplane", kFocalPlaneTable};

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
  const UnitColumns columns(file, table);
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
