// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/noise_file.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/kelvin.hpp"
#include "skyloom/noise/spectrum_lags.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/observation_file.hpp"

namespace skyloom {
namespace {

using hdf5::Reader;

std::string group_of(const std::string& model) { return "metadata/" + model; }

/// A row of a mixing matrix.
struct Mixture {
  std::string detector, stream;
  double coupling = 0;
};

std::vector<Mixture> mixing_of(const Reader& file, const std::string& group) {
  const std::string table = group + "/" + kMixingTable;
  const std::vector<std::string> detectors = file.read_text_field(table, "f0");
  const std::vector<std::string> streams = file.read_text_field(table, "f1");
  const std::vector<double> couplings = file.read_field(table, "f2");
  if (streams.size() != detectors.size() || couplings.size() != detectors.size()) {
    throw Error(kNoiseModel, file.path() + ": " + table + ": expected detector, stream, coupling");
  }
  std::vector<Mixture> out;
  for (std::size_t i = 0; i < detectors.size(); ++i) {
    if (!std::isfinite(couplings[i])) {
      throw Error(kNoiseModel, file.path() + ": " + table + ": " + detectors[i] +
                                   print(": a coupling of %g", couplings[i]));
    }
    out.push_back({detectors[i], streams[i], couplings[i]});
  }
  return out;
}

/// What a weight of the table is in 1/K^2, by the unit that the peer notes beside it.
double weight_unit(const Reader& file, const std::string& table) {
  const std::string unit = file.description(table, "unit").value_or("1 / K2");
  const std::string begin = "1 / ", end = "2";
  const bool square = unit.size() > 5 && unit.starts_with(begin) && unit.ends_with(end);
  const auto kelvin =
      square ? kelvin_of(std::string_view(unit).substr(4, unit.size() - 5)) : std::nullopt;
  if (!kelvin) {
    throw Error(kNoiseModel, file.path() + ": " + table + ": unit '" + unit + "': expected 1 / K2");
  }
  return 1 / (*kelvin * *kelvin);
}

/// What other streams than its own add to a detector's NET^2, K^2 s; `rows` and `nets`: of streams.
std::map<std::string, double> common_psds(const Reader& file, const std::string& group,
                                          const std::map<std::string, std::size_t>& rows,
                                          const std::vector<double>& nets) {
  std::map<std::string, double> out;
  for (const Mixture& part : mixing_of(file, group)) {
    if (part.stream == part.detector) continue;
    const auto found = rows.find(part.stream);
    if (found == rows.end()) {
      throw Error(kNoiseModel,
                  file.path() + ": " + group + "/" + kNoiseTable + ": no row of " + part.stream);
    }
    const double net = part.coupling * nets[found->second];
    out[part.detector] += net * net;
  }
  return out;
}

}  // namespace

double read_noise(const Reader& file, const std::string& model, double rate_hz,
                  std::vector<Detector>& detectors) {
  const std::string group = group_of(model), table = group + "/" + kNoiseTable;
  const bool analytic = file.has(table);
  const std::string weights = group + "/" + kWeightTable;
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
  std::map<std::string, double> common;
  if (analytic && has_mixed_noise(file, model)) {
    common = common_psds(file, group, rows, columns.back());
  }
  const double unit = analytic ? 1 : weight_unit(file, weights);
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
      if (const auto added = common.find(detector.name); added != common.end()) {
        detector.common_psd = added->second;
      }
      const double its_rate = columns[0][row];
      if (!(std::fabs(its_rate / rate_hz - 1) < 1e-3) || (rate != rate_hz && rate != its_rate)) {
        throw Error(kNoiseModel, file.path() + ": " + source + ": " + detector.name +
                                     print(": rate %g Hz: expected that of shared/times, %g Hz",
                                           its_rate, rate_hz));
      }
      rate = its_rate;
    } else {
      const double weight = unit * columns[0][row];
      if (!(weight >= 0) || std::isinf(weight)) {
        throw Error(kNoiseModel, file.path() + ": " + source + ": " + detector.name +
                                     print(": a weight of %g: expected 0 or more", weight));
      }
      if (weight > 0) detector.noise = {.net = 1 / std::sqrt(weight * rate_hz)};
    }
    if (detector.noise.net != 0 && !is_sound_net(detector.noise.net)) {
      throw Error(kNoiseModel, file.path() + ": " + source + ": " + detector.name +
                                   print(": NET %g: expected 0, or %g to %g", detector.noise.net,
                                         kLeastNet, kMostNet));
    }
  }
  return rate;
}

bool has_spectra(const Reader& file, const std::string& model) {
  return has_mixed_noise(file, model) || file.has(group_of(model) + "/" + kNoiseTable);
}

bool has_mixed_noise(const Reader& file, const std::string& model) {
  const std::string group = group_of(model);
  return file.has(group + "/" + kMixingTable) &&
         (file.description(group, "class").value_or("") != kAnalyticNoise ||
          !file.has(group + "/" + kNoiseTable));
}

MixedSpectra::MixedSpectra(const Reader& file, const std::string& model, double rate_hz)
    : path_(file.path()), rate_hz_(rate_hz) {
  const std::string group = group_of(model), table = group + "/" + kNoiseTable;
  for (const Mixture& part : mixing_of(file, group)) {
    parts_[part.detector].emplace_back(part.stream, part.coupling);
  }
  if (!file.has(table)) {
    read_sets(file, group);
    return;
  }
  const std::vector<std::string> names = file.read_text_field(table, "f0");
  std::vector<double> columns[4];  // fmin, fknee, slope, NET
  for (int i = 0; i < 4; ++i) columns[i] = file.read_field(table, print("f%d", i + 2));
  for (std::size_t i = 0; i < names.size(); ++i) {
    analytic_[names[i]] = {.net = columns[3][i],
                           .fmin_hz = columns[0][i],
                           .fknee_hz = columns[1][i],
                           .slope = columns[2][i]};
  }
}

// A set is NAME, rows of frequencies and of the spectra that NAME_keys has the streams of.
void MixedSpectra::read_sets(const Reader& file, const std::string& group) {
  if (const auto unit = file.description(group, "psd_units"); unit.value_or("") != "K2 s") {
    throw Error(kNoiseModel,
                path_ + ": " + group + ": psd_units '" + unit.value_or("") + "': expected K2 s");
  }
  for (const std::string& name : file.children(group)) {
    const std::string set = group + "/" + name;
    if (!file.has(set + "_keys")) continue;
    const std::vector<std::string> keys = file.read_texts(set + "_keys");
    const std::vector<std::size_t> shape = file.extent(set);
    if (shape.size() != 2 || shape[0] != keys.size() + 1) {
      throw Error(kNoiseModel, path_ + ": " + set +
                                   print(": expected a spectrum for each of %zu "
                                         "streams, and frequencies",
                                         keys.size()));
    }
    const std::vector<double> frequencies = file.read_row(set, 0);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      given_[keys[i]] = {frequencies, file.read_row(set, i + 1)};
    }
  }
}

NoisePsd MixedSpectra::stream(const std::string& name) const {
  if (const auto found = analytic_.find(name); found != analytic_.end()) {
    return analytic_psd(found->second, rate_hz_, name);
  }
  const auto found = given_.find(name);
  if (found == given_.end()) {
    throw Error(kNoiseModel, path_ + ": no spectrum of the stream " + name);
  }
  return found->second;
}

NoisePsd MixedSpectra::of(const std::string& detector) const {
  const auto found = parts_.find(detector);
  if (found == parts_.end()) {
    throw Error(kNoiseModel, path_ + ": " + kMixingTable + ": no row of " + detector);
  }
  NoisePsd out;
  for (const auto& [name, coupling] : found->second) {
    const NoisePsd one = stream(name);
    if (out.psd.empty()) out = {one.frequency_hz, std::vector<double>(one.psd.size(), 0.0)};
    std::vector<double> here = one.psd;
    if (one.frequency_hz != out.frequency_hz) {
      const LogCurve curve(one.frequency_hz, one.psd);
      here.assign(out.psd.size(), 0.0);
      std::transform(out.frequency_hz.begin(), out.frequency_hz.end(), here.begin(), curve);
    }
    for (std::size_t i = 0; i < here.size(); ++i) out.psd[i] += coupling * coupling * here[i];
  }
  return out;
}

}  // namespace skyloom
