// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/observation_file.hpp"

#include <cmath>
#include <set>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/random/name_uid.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/unit_columns.hpp"

namespace skyloom {
namespace {

using hdf5::Reader;

std::vector<double> quaternions_of(const Reader& file, const std::string& table, std::size_t rows) {
  std::vector<double> values = file.read_field(table, "quat");
  if (values.size() != rows * 4) {
    throw Error(Status::kMissingKeyword,
                file.path() + ": " + table + ": no column quat of 4 numbers a row");
  }
  return values;
}

/// What a file seems to be that is no observation.
const char* kind_of(const Reader& file) {
  if (file.has("map")) return "a map";
  if (file.has("focalplane")) return "a focal plane";
  if (file.has("exchange/data")) return "a Data Exchange file (X-ray tomography)";
  return "something else";
}

}  // namespace

void check_observation(const Reader& file) {
  const std::string attribute = "toast_format_version";
  if (!file.number("/", attribute) && !file.description("/", attribute)) {
    throw Error(Status::kMissingKeyword, file.path() + ": no observation of TOAST (no attribute " +
                                             attribute + "): it seems to be " + kind_of(file));
  }
  const double format = number_of(file, "/", attribute);
  if (format != kObservationFormat) {
    throw Error(Status::kUnsupported, file.path() + print(": toast_format_version %g: expected %d",
                                                          format, kObservationFormat));
  }
}

void refuse_compressed(const Reader& file, const std::string& name) {
  if (!file.has(name + "/compressed")) return;
  throw Error(Status::kUnsupported, file.path() + ": " + name +
                                        " is compressed (flacarray): expected plain numbers, as "
                                        "SaveHDF5 has them without detdata_float32 or compression");
}

std::string text_of(const Reader& file, const std::string& name, const std::string& attribute) {
  const auto found = file.description(name, attribute);
  if (!found) {
    throw Error(Status::kMissingKeyword,
                file.path() + ": " + name + ": no attribute " + attribute + " with a text");
  }
  return *found;
}

double number_of(const Reader& file, const std::string& name, const std::string& attribute) {
  const auto found = file.number(name, attribute);
  if (!found) {
    throw Error(Status::kMissingKeyword,
                file.path() + ": " + name + ": no attribute " + attribute + " with a number");
  }
  return *found;
}

std::map<std::string, std::size_t> rows_by_name(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < names.size(); ++i) rows.emplace(names[i], i);
  return rows;
}

std::vector<Detector> read_detectors(const Reader& file, const std::vector<std::string>& names,
                                     const std::string& table) {
  const std::vector<std::string> all = file.read_text_field(table, "name");
  if (all.empty()) {
    throw Error(Status::kMissingKeyword, file.path() + ": " + table + ": no column name of texts");
  }
  const auto rows = rows_by_name(all);
  const std::vector<double> quat = quaternions_of(file, table, all.size());
  const std::vector<double> leakage = file.read_field(table, "pol_leakage");
  const std::vector<double> efficiency = file.read_field(table, "pol_efficiency");
  const std::vector<double> gamma = UnitColumns(file, table).read("gamma", "rad");
  const std::vector<double> uid = file.read_field(table, "uid");
  const auto has = [&](const std::vector<double>& values) { return values.size() == all.size(); };
  std::vector<Detector> out;
  for (const std::string& name : names) {
    const auto found = rows.find(name);
    if (found == rows.end()) {
      throw Error(Status::kMissingKeyword,
                  file.path() + ": " + table + ": no row of detector " + name);
    }
    const std::size_t row = found->second;
    Detector detector{.name = name, .place = unit_quaternion(quat.data() + 4 * row)};
    if (has(gamma)) detector.gamma = gamma[row];
    if (has(leakage)) {
      detector.leakage = leakage[row];
    } else if (has(efficiency)) {
      detector.leakage = (1 - efficiency[row]) / (1 + efficiency[row]);
    }
    const double number = has(uid) ? uid[row] : name_uid(name);
    if (!(std::isfinite(detector.place.w) && detector.leakage >= 0 && detector.leakage <= 1 &&
          number >= 0 && number < 0x1p32)) {
      throw Error(Status::kCorrupt,
                  file.path() + ": " + table + ": detector " + name +
                      ": expected a quaternion, a leakage from 0 to 1 and a uid of 32 bits");
    }
    detector.uid = static_cast<std::uint32_t>(number);
    out.push_back(std::move(detector));
  }
  return out;
}

std::vector<std::size_t> own_groups(const FocalPlane& plane) {
  static const std::set<std::string> kThere{"name",      "quat",     "pol_leakage",
                                            "gamma",     "psd_fmin", "psd_fknee",
                                            "psd_alpha", "psd_net",  "uid"};
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < plane.groups.size(); ++k) {
    if (!kThere.contains(plane.groups[k])) out.push_back(k);
  }
  return out;
}

}  // namespace skyloom
