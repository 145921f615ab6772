// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/observation_file.hpp"

#include <cmath>
#include <map>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/random/name_uid.hpp"
#include "skyloom/status.hpp"

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

/// Rows of a table by the texts of its first column.
std::map<std::string, std::size_t> rows_by_name(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> rows;
  for (std::size_t i = 0; i < names.size(); ++i) rows.emplace(names[i], i);
  return rows;
}

}  // namespace

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
  const std::vector<double> gamma = file.read_field(table, "gamma");
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

double read_noise(const Reader& file, const std::string& model, double rate_hz,
                  std::vector<Detector>& detectors) {
  const std::string group = "metadata/" + model, table = group + "/" + kNoiseTable;
  const bool analytic = file.has(table);
  const std::string weights = group + "/detector_weights";
  if (!analytic && !file.has(weights)) {
    throw Error(kNoiseModel, file.path() + ": neither " + table + " nor " + weights);
  }
  const std::string& source = analytic ? table : weights;
  const auto rows = rows_by_name(file.read_text_field(source, "f0"));
  std::vector<std::vector<double>> columns;
  for (int i = 1; i <= (analytic ? 5 : 1); ++i) {
    columns.push_back(file.read_field(source, print("f%d", i)));
    if (columns.back().size() != rows.size()) {
      throw Error(kNoiseModel, file.path() + ": " + source + print(": no column f%d", i));
    }
  }
  double rate = rate_hz;
  for (Detector& detector : detectors) {
    const auto found = rows.find(detector.name);
    if (found == rows.end()) {
      throw Error(kNoiseModel, file.path() + ": " + source + ": no row of " + detector.name);
    }
    const std::size_t row = found->second;
    if (analytic) {
      detector.noise = {.net = columns[4][row],
                        .fmin_hz = columns[1][row],
                        .fknee_hz = columns[2][row],
                        .slope = columns[3][row]};
      const double its_rate = columns[0][row];
      if (!(std::fabs(its_rate / rate_hz - 1) < 1e-3) || (rate != rate_hz && rate != its_rate)) {
        throw Error(kNoiseModel, file.path() + ": " + source + ": " + detector.name +
                                     print(": rate %g Hz: expected that of shared/times, %g Hz",
                                           its_rate, rate_hz));
      }
      rate = its_rate;
    } else if (columns[0][row] > 0) {
      detector.noise = {.net = 1 / std::sqrt(columns[0][row] * rate_hz)};
    }
    if (detector.noise.net != 0 && !is_sound_net(detector.noise.net)) {
      throw Error(kNoiseModel, file.path() + ": " + source + ": " + detector.name +
                                   print(": NET %g: expected 0, or %g to %g", detector.noise.net,
                                         kLeastNet, kMostNet));
    }
  }
  return rate;
}

}  // namespace skyloom
