// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/observation_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "loom/json/json.hpp"
#include "skyloom/float32.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/random/name_uid.hpp"
#include "skyloom/tod/observation_file.hpp"

namespace skyloom {
namespace {

using hdf5::Field;
using hdf5::TextKind;
using hdf5::Type;
using hdf5::Writer;

constexpr const char* kNoiseGroup = "metadata/noise_model";

void say(Writer& writer, const std::string& name, const std::string& attribute,
         const std::string& value) {
  writer.describe(name, attribute, value, TextKind::kVariable);
}

/// Packed rows of a table.
class Rows {
 public:
  template <class T>
  void put(const T& value) {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  void put_text(const std::string& text, std::size_t width) {
    const std::size_t end = bytes_.size() + width;
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.resize(end, 0);
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

double sample_time(const Observation& observation, std::size_t sample) {
  return observation.start_s + static_cast<double>(sample) / observation.plane.rate_hz;
}

std::size_t name_width(const Observation& observation) {
  std::size_t width = 1;
  for (const Detector& detector : observation.plane.detectors) {
    width = std::max(width, detector.name.size() + 1);
    for (const std::string& group : detector.groups) width = std::max(width, group.size() + 1);
  }
  if (observation.commons) {
    for (const CommonStream& stream : observation.commons->streams) {
      width = std::max(width, stream.name.size() + 1);
    }
  }
  return width;
}

/// Across all detectors, degrees: twice the largest distance from the boresight.
double field_of_view_deg(const FocalPlane& plane) {
  double half = 0;
  for (const Detector& detector : plane.detectors) {
    const Quaternion& q = detector.place;  // sin and cos of half the angle to the boresight
    half = std::max(half, 2 * std::atan2(std::hypot(q.x, q.y), std::hypot(q.z, q.w)));
  }
  return 2 * half * 180 / std::numbers::pi;
}

/// A number with its unit, as astropy keeps it beside a table.
void note_quantity(const char* name, const char* unit, double value,
                   std::vector<std::string>& lines) {
  std::string text = print("%.17g", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  lines.push_back(print("- %s: !astropy.units.Quantity", name));
  lines.push_back(print("    unit: !astropy.units.Unit {unit: %s}", unit));
  lines.push_back("    value: " + text);
}

/// What astropy keeps beside a table: types, units, and what it has no columns for.
std::vector<std::string> table_notes(const Observation& observation) {
  std::vector<std::string> lines{"datatype:", "- {name: name, datatype: string}",
                                 "- {name: quat, datatype: string, subtype: 'float64[4]'}"};
  const struct {
    const char *name, *unit;
  } columns[] = {{"pol_leakage", ""}, {"gamma", "rad"},  {"psd_fmin", "Hz"},
                 {"psd_fknee", "Hz"}, {"psd_alpha", ""}, {"psd_net", "K s(1/2)"}};
  for (const auto& column : columns) {
    const std::string unit = *column.unit == 0 ? "" : std::string("unit: ") + column.unit + ", ";
    lines.push_back(std::string("- {name: ") + column.name + ", " + unit + "datatype: float64}");
  }
  lines.emplace_back("- {name: uid, datatype: uint32}");
  for (const std::size_t k : own_groups(observation.plane)) {
    lines.push_back("- {name: " + observation.plane.groups[k] + ", datatype: string}");
  }
  lines.emplace_back("meta: !!omap");
  note_quantity("sample_rate", "Hz", observation.plane.rate_hz, lines);
  note_quantity("field_of_view", "deg", field_of_view_deg(observation.plane), lines);
  lines.emplace_back("- __serialized_columns__:");
  for (const auto& column : columns) {
    if (*column.unit == 0) continue;
    lines.push_back(std::string("    ") + column.name + ":");
    lines.emplace_back("      __class__: astropy.units.quantity.Quantity");
    lines.push_back(std::string("      unit: !astropy.units.Unit {unit: ") + column.unit + "}");
    lines.push_back(std::string("      value: !astropy.table.SerializedColumn {name: ") +
                    column.name + "}");
  }
  return lines;
}

/// What a detector, or a stream that detectors have in common, is in the tables of noise.
struct NoiseRows {
  explicit NoiseRows(std::size_t name_width) : width(name_width) {}

  void stream(const std::string& name, std::uint32_t uid, const DetectorNoise& noise,
              double rate_hz) {
    analytic.put_text(name, width);
    for (const double value : {rate_hz, noise.fmin_hz, noise.fknee_hz, noise.slope, noise.net}) {
      analytic.put(value);
    }
    const NoisePsd model = analytic_psd(noise, rate_hz, name);
    if (spectra.empty()) spectra = model.frequency_hz;
    for (const double value : model.psd) require_float32(value, "K2 s of noise", name);
    spectra.insert(spectra.end(), model.psd.begin(), model.psd.end());
    uids.push_back(uid);
    names.push_back(name);
  }
  void mix(const std::string& detector, const std::string& stream, double coupling) {
    mixing.put_text(detector, width);
    mixing.put_text(stream, width);
    mixing.put(coupling);
    ++mixed;
  }

  std::size_t width, mixed = 0;
  Rows analytic, weights, mixing;
  std::vector<double> spectra, uids;
  std::vector<std::string> names;
};

// The peer reads what its classes have of it: an analytic table beside a mixture is ours.
void write_noise_tables(Writer& to, const NoiseRows& rows, std::size_t detectors,
                        const char* kind) {
  const std::string group = kNoiseGroup;
  const std::size_t width = rows.width, n = rows.names.size();
  to.group(group);
  say(to, group, "class", kind);
  say(to, group, "psd_units", "K2 s");
  to.table(group + "/" + kNoiseTable,
           std::vector<Field>{{"f0", Type::kText, width}, {"f1"}, {"f2"}, {"f3"}, {"f4"}, {"f5"}},
           n, rows.analytic.bytes());
  to.table(group + "/" + kWeightTable,
           std::vector<Field>{{"f0", Type::kText, width}, {"f1", Type::kFloat32}}, detectors,
           rows.weights.bytes());
  say(to, group + "/" + kWeightTable, "unit", "1 / K2");
  to.table(group + "/" + kMixingTable,
           std::vector<Field>{{"f0", Type::kText, width}, {"f1", Type::kText, width}, {"f2"}},
           rows.mixed, rows.mixing.bytes());
  // all spectra have the frequencies of the first row; the name is any that no other one has
  const std::string set = group + "/psds";
  to.create(set, Type::kFloat32, {n + 1, rows.spectra.size() / (n + 1)});
  to.write(set, 0, std::span<const double>(rows.spectra));
  to.create(set + "_indices", Type::kUint32, {n});
  to.write(set + "_indices", 0, std::span<const double>(rows.uids));
  to.texts(set + "_keys", rows.names);
}

}  // namespace

ObservationWriter::ObservationWriter(const std::string& path, Overwrite overwrite,
                                     const Observation& observation, const Boresight& boresight,
                                     const GroundMotion* motion)
    : writer_(std::make_unique<Writer>(path, overwrite)) {
  write_header(observation);
  write_instrument(observation);
  write_noise(observation);
  write_shared(observation, boresight, motion);
  write_intervals(observation, motion);
  if (motion != nullptr) write_motion(observation, *motion);
  const std::size_t detectors = detectors_ = observation.plane.detectors.size();
  writer_->create("detdata/signal", Type::kFloat64, {detectors, observation.samples});
  say(*writer_, "detdata/signal", "units", "K");
  writer_->create("detdata/flags", Type::kUint8, {detectors, observation.samples});
  say(*writer_, "detdata/flags", "units", "");
}

ObservationWriter::~ObservationWriter() = default;

void ObservationWriter::write_header(const Observation& observation) {
  Writer& to = *writer_;
  Json names = Json::array(), sets = Json::array(), flags = Json::object();
  for (const Detector& detector : observation.plane.detectors) {
    names.push_back(detector.name);
    sets.push_back(Json::array({detector.name}));
    flags[detector.name] = 0;
  }
  say(to, "/", "toast_version", "skyloom");
  to.describe("/", "toast_format_version", std::int64_t{kObservationFormat});
  say(to, "/", "observation_name", observation.name);
  to.describe("/", "observation_uid", std::int64_t{observation.uid});
  say(to, "/", "observation_detectors", names.dump());
  say(to, "/", "observation_detector_sets", sets.dump());
  to.describe("/", "observation_samples", static_cast<std::int64_t>(observation.samples));
  say(to, "/", "observation_sample_sets", "NONE");
  say(to, "/", "observation_detector_flags", flags.dump());
  to.group("attr");
  to.group("metadata/other");
  say(to, "metadata/other", "python_data_type", "dict");  // TOAST reads no file without it
}

void ObservationWriter::write_intervals(const Observation& observation,
                                        const GroundMotion* motion) {
  Writer& to = *writer_;
  to.group("intervals");
  say(to, "intervals", "times", "times");
  const auto time = [&](std::size_t sample) { return sample_time(observation, sample); };
  const auto put = [&](const std::string& name, const std::vector<Stretch>& stretches) {
    const std::size_t n = stretches.size();
    if (n == 0) return;  // the peer has no data set of none either
    std::vector<double> spans(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
      spans[i] = time(stretches[i].first);
      spans[n + i] = time(std::min(stretches[i].end, observation.samples - 1));
    }
    to.create("intervals/" + name, Type::kFloat64, {2, n});
    to.write("intervals/" + name, 0, std::span<const double>(spans));
  };
  if (motion == nullptr) return put(kStretches, observation.stretches);
  for (const auto& [name, stretches] : motion->intervals) put(name, stretches);
}

void ObservationWriter::write_site(const Observation& observation) {
  Writer& to = *writer_;
  const char* const group = "instrument";
  const std::string name = observation.ground ? observation.ground->site_name : "space";
  say(to, group, "site_class",
      observation.ground ? "toast.instrument.GroundSite" : "toast.instrument.SpaceSite");
  say(to, group, "site_name", name);
  to.describe(group, "site_uid", std::int64_t{name_uid(name)});
  if (!observation.ground) return;
  const Site& site = observation.ground->site;
  to.describe(group, "site_lat_deg", site.latitude_deg);
  to.describe(group, "site_lon_deg", site.longitude_deg);
  to.describe(group, "site_alt_m", site.height_m);
}

void ObservationWriter::write_motion(const Observation& observation, const GroundMotion& motion) {
  Writer& to = *writer_;
  const std::size_t n = observation.samples;
  const double turn = observation.ground ? observation.ground->scan.boresight_angle_deg : 0;
  std::vector<double> look(4 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const Quaternion q = mount_quaternion(motion.azimuth[i], motion.elevation[i], turn);
    const double parts[] = {q.x, q.y, q.z, q.w};
    std::copy(parts, parts + 4, look.begin() + static_cast<std::ptrdiff_t>(4 * i));
  }
  to.create("shared/azimuth", Type::kFloat64, {n});
  to.write("shared/azimuth", 0, std::span<const double>(motion.azimuth));
  to.create("shared/elevation", Type::kFloat64, {n});
  to.write("shared/elevation", 0, std::span<const double>(motion.elevation));
  to.create("shared/boresight_azel", Type::kFloat64, {n, 4});
  to.write("shared/boresight_azel", 0, std::span<const double>(look));
  for (const char* name : {"shared/azimuth", "shared/elevation", "shared/boresight_azel"}) {
    say(to, name, "comm_type", "column");
  }
}

void ObservationWriter::write_instrument(const Observation& observation) {
  Writer& to = *writer_;
  to.group("instrument");
  const char* const group = "instrument";
  to.describe(group, "toast_format_version", std::int64_t{kObservationFormat});
  say(to, group, "telescope_class", "toast.instrument.Telescope");
  say(to, group, "telescope_name", observation.telescope);
  to.describe(group, "telescope_uid", std::int64_t{observation.telescope_uid});
  write_site(observation);
  say(to, group, "session_class", "toast.instrument.Session");
  say(to, group, "session_name", observation.session);
  to.describe(group, "session_uid", std::int64_t{observation.session_uid});
  to.describe(group, "session_start", observation.start_s);
  const double seconds = static_cast<double>(observation.samples - 1) / observation.plane.rate_hz;
  to.describe(group, "session_end", observation.start_s + seconds);
  say(to, group, "focalplane_class", "toast.instrument.Focalplane");
  const std::size_t width = name_width(observation);
  std::vector<Field> fields{{"name", Type::kText, width},    {"quat", Type::kFloat64, 4, true},
                            {"pol_leakage", Type::kFloat64}, {"gamma", Type::kFloat64},
                            {"psd_fmin", Type::kFloat64},    {"psd_fknee", Type::kFloat64},
                            {"psd_alpha", Type::kFloat64},   {"psd_net", Type::kFloat64},
                            {"uid", Type::kUint32}};
  const std::vector<std::size_t> groups = own_groups(observation.plane);
  for (const std::size_t k : groups) {
    fields.push_back({observation.plane.groups[k], Type::kText, width});
  }
  Rows rows;
  for (const Detector& detector : observation.plane.detectors) {
    rows.put_text(detector.name, width);
    for (const double part :
         {detector.place.x, detector.place.y, detector.place.z, detector.place.w, detector.leakage,
          detector.gamma, detector.noise.fmin_hz, detector.noise.fknee_hz, detector.noise.slope,
          detector.noise.net}) {
      rows.put(part);
    }
    rows.put(detector.uid);
    for (const std::size_t k : groups) rows.put_text(detector.groups[k], width);
  }
  to.table(kFocalPlaneTable, fields, observation.plane.detectors.size(), rows.bytes());
  to.texts(std::string(kFocalPlaneTable) + ".__table_column_meta__", table_notes(observation));
}

void ObservationWriter::write_noise(const Observation& observation) {
  const double rate = observation.plane.rate_hz;
  const CommonModes* const commons = observation.commons.get();
  NoiseRows rows(name_width(observation));
  for (std::size_t d = 0; d < observation.plane.detectors.size(); ++d) {
    const Detector& detector = observation.plane.detectors[d];
    rows.stream(detector.name, detector.uid, detector.noise, rate);
    rows.weights.put_text(detector.name, rows.width);
    const double weight = sample_weight(detector, rate);
    require_float32(weight, "1/K2 of a sample", detector.name);
    rows.weights.put(static_cast<float>(weight));
    rows.mix(detector.name, detector.name, 1);
    if (commons == nullptr) continue;
    for (const auto& [stream, coupling] : commons->parts[d]) {
      rows.mix(detector.name, commons->streams[stream].name, coupling);
    }
  }
  if (commons != nullptr) {
    for (const CommonStream& stream : commons->streams) {
      rows.stream(stream.name, stream.uid, stream.noise, rate);
    }
  }
  write_noise_tables(*writer_, rows, observation.plane.detectors.size(),
                     commons != nullptr ? kMixedNoise : kAnalyticNoise);
}

void ObservationWriter::write_shared(const Observation& observation, const Boresight& boresight,
                                     const GroundMotion* motion) {
  Writer& to = *writer_;
  const std::size_t n = observation.samples;
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = sample_time(observation, i);
  to.create("shared/times", Type::kFloat64, {n});
  to.write("shared/times", 0, std::span<const double>(values));
  values.resize(4 * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < 4; ++k) values[4 * i + k] = boresight(k, i);
  }
  to.create("shared/boresight_radec", Type::kFloat64, {n, 4});
  to.write("shared/boresight_radec", 0, std::span<const double>(values));
  const std::vector<std::uint8_t> flags =
      motion != nullptr ? motion->flags : std::vector<std::uint8_t>(n, 0);
  to.create("shared/flags", Type::kUint8, {n});
  to.write("shared/flags", 0, std::span<const std::uint8_t>(flags));
  if (has_plate(boresight)) {
    const std::span<const double> angles(boresight.row(kPlateAngle), n);
    to.create(kPlateAngles, Type::kFloat64, {n});
    to.write(kPlateAngles, 0, angles);
    say(to, kPlateAngles, "comm_type", "column");
  }
  for (const char* name : {"shared/times", "shared/boresight_radec", "shared/flags"}) {
    say(to, name, "comm_type", "column");
  }
  if (!observation.frame.empty()) say(to, "shared/boresight_radec", kFrame, observation.frame);
}

void ObservationWriter::signal(std::size_t detector, std::span<const double> values,
                               std::span<const std::uint8_t> flags) {
  writer_->write("detdata/signal", detector, values);
  writer_->write("detdata/flags", detector, flags);
}

void ObservationWriter::truth(std::size_t detector, const Truth& truth) {
  const struct {
    const char *name, *unit;
    const std::vector<double>& values;
  } sets[] = {{kTrueGain, "", truth.gain}, {kTrueGlitches, "K", truth.glitch}};
  for (const auto& set : sets) {
    if (set.values.empty()) continue;
    if (detector == 0) {
      writer_->create(set.name, Type::kFloat32, {detectors_, set.values.size()});
      say(*writer_, set.name, "units", set.unit);
    }
    writer_->write(set.name, detector, std::span<const double>(set.values));
  }
}

void ObservationWriter::commit() { writer_->commit(); }

}  // namespace skyloom
