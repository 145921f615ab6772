// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/scan_reader.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/print.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

constexpr const char* kAcquisition = "process/acquisition/";

/// Numbers of any other kind are converted too.
const char* type_name(std::optional<hdf5::Type> type) {
  if (!type) return "other numbers";
  switch (*type) {
    case hdf5::Type::kInt8:
      return "int8";
    case hdf5::Type::kInt32:
      return "int32";
    case hdf5::Type::kInt64:
      return "int64";
    case hdf5::Type::kFloat32:
      return "float32";
    case hdf5::Type::kUint8:
      return "uint8";
    case hdf5::Type::kUint16:
      return "uint16";
    case hdf5::Type::kUint32:
      return "uint32";
    default:
      return "float64";
  }
}

/// Numbers of a data set; the largest number where they are more.
std::size_t count_of(const std::vector<std::size_t>& shape) {
  std::size_t all = 1;
  for (const std::size_t n : shape) {
    if (n > 0 && all > SIZE_MAX / n) return SIZE_MAX;
    all *= n;
  }
  return all;
}

}  // namespace

ScanReader::ScanReader(const std::string& path, const std::string& group, hdf5::Writing writing)
    : reader_(path, writing), grows_(writing == hdf5::Writing::kMayGoOn) {
  layout_.path = path;
  layout_.group = group;
  layout_.data = group + "/data";
  check_kind();
  const auto shape = reader_.extent(layout_.data);
  const std::string what = path + ": " + layout_.data;
  if (shape.size() != 3 || shape[0] == 0 || shape[1] == 0 || shape[2] < 2) {
    throw Error(Status::kWrongShape, what + ": found " + sizes_of(shape) +
                                         ", expected angles x rows x columns, at least 1 x 1 x 2");
  }
  if (*std::max_element(shape.begin(), shape.end()) > kMostOfAnAxis) {
    throw Error(Status::kWrongShape, what + ": found " + sizes_of(shape) + ", expected at most " +
                                         std::to_string(kMostOfAnAxis) + " along an axis");
  }
  layout_.angles = shape[0];
  layout_.rows = shape[1];
  layout_.columns = shape[2];
  layout_.type = type_name(reader_.type(layout_.data));
  layout_.counts = are_counts(layout_.data);
  const auto frames = [&](const char* name, std::string& set, std::size_t& count,
                          const std::string& value_name, bool& has, double& value) {
    set = group + "/" + name;
    if (reader_.has(set)) count = find_frames(set);
    if (count > 0) {
      layout_.counts = layout_.counts && are_counts(set);  // averaged flats are floats
      return;
    }
    set.clear();
    has = reader_.has(value_name);
    if (has) value = number(value_name);
  };
  frames("data_white", layout_.white, layout_.flats,
         std::string(kAcquisition) + "flat_fields/flat_field_value", layout_.has_flat_value,
         layout_.flat_value);
  frames("data_dark", layout_.dark, layout_.darks,
         std::string(kAcquisition) + "dark_fields/dark_field_value", layout_.has_dark_value,
         layout_.dark_value);
  find_angles(writing);
}

/// Of a file in another layout than Data Exchange's what there is.
void ScanReader::check_kind() const {
  if (reader_.has(layout_.data)) return;
  constexpr std::size_t kMostNames = 4;
  std::string names;
  std::size_t count = 0;
  for (const std::string& name : reader_.children("/")) {
    if (count++ < kMostNames) names += (names.empty() ? "" : ", ") + name;
  }
  if (count > kMostNames) names += " ...";
  throw Error(Status::kMissingHdu, layout_.path + ": no data set " + layout_.data +
                                       " as Data Exchange has it (--group); there is " +
                                       (names.empty() ? "nothing" : names));
}

bool ScanReader::are_counts(const std::string& name) const {
  const std::optional<hdf5::Type> type = reader_.type(name);
  return type == hdf5::Type::kUint16 || type == hdf5::Type::kUint8;
}

double ScanReader::number(const std::string& name) const {
  const auto value = reader_.number(name);
  if (!value || !std::isfinite(*value)) {
    throw Error(Status::kWrongShape, layout_.path + ": " + name + ": expected one number");
  }
  return *value;
}

/// None in a set that stands there for those that are to come.
std::size_t ScanReader::find_frames(const std::string& name) const {
  const auto shape = reader_.extent(name);
  const bool one = shape.size() == 2;  // a single frame
  if ((one || shape.size() == 3) && shape[shape.size() - 2] == layout_.rows &&
      shape.back() == layout_.columns && shape[0] <= kMostOfAnAxis) {
    return one ? 1 : shape[0];
  }
  throw Error(kScanMismatch,
              print("%s: %s: found %s, expected frames of %zu x %zu", layout_.path.c_str(),
                    name.c_str(), sizes_of(shape).c_str(), layout_.rows, layout_.columns));
}

/// Its letters small.
std::string ScanReader::angle_unit(const std::string& angle) const {
  std::string unit = reader_.description(angle, "units").value_or("");
  unit.erase(0, std::min(unit.find_first_not_of(' '), unit.size()));
  return loom::in_small_letters(std::move(unit));
}

/// Empty where there are none. Of a scan that is still being written one a projection, or more.
std::vector<double> ScanReader::written_angles(hdf5::Writing writing) const {
  const std::string theta = layout_.group + "/theta";
  if (!reader_.has(theta)) return {};
  const auto alone = reader_.number(theta);  // of one projection, no list perhaps
  const std::size_t found = alone ? 1 : count_of(reader_.extent(theta));
  const bool grows = writing == hdf5::Writing::kMayGoOn && found <= kMostOfAnAxis;
  if (found != layout_.angles && !grows) {
    throw Error(kScanMismatch, print("%s: %s: found %zu angles, expected %zu, one a projection",
                                     layout_.path.c_str(), theta.c_str(), found, layout_.angles));
  }
  if (found == 0) return {};
  std::vector<double> degrees = alone ? std::vector{*alone} : reader_.read(theta);
  if (angle_unit(theta).starts_with("rad")) {
    for (double& t : degrees) t *= 180 / std::numbers::pi;
  }
  for (const double t : degrees) {
    if (std::isfinite(t) || grows) continue;
    throw Error(kScanMismatch, layout_.path + ": " + theta + ": an angle is not a number");
  }
  return degrees;
}

void ScanReader::find_angles(hdf5::Writing writing) {
  const std::string rotation = std::string(kAcquisition) + "rotation/";
  layout_.expected = layout_.angles;
  if (writing == hdf5::Writing::kMayGoOn) {
    const double said = reader_.number(rotation + "num_angles").value_or(0);  // may be to come
    if (said > 0 && said <= static_cast<double>(kMostOfAnAxis)) {
      layout_.expected = std::max(layout_.expected, static_cast<std::size_t>(said));
      layout_.says_expected = true;
    }
  }
  std::vector<double> written = written_angles(writing);
  if (!written.empty()) {
    const std::string unit = angle_unit(layout_.group + "/theta");
    const auto means = [&](const char* known) { return unit.starts_with(known); };
    // no name at all is degrees, as most writers mean it
    if (!unit.empty() && !means("rad") && !means("deg") && !means("\u00b0")) {
      layout_.strange_unit = unit;
    }
    layout_.says_expected = true;
    layout_.expected = std::max(layout_.expected, written.size());
    layout_.angles = std::min(layout_.angles, written.size());
    written.resize(layout_.angles);
    layout_.theta_deg = std::move(written);
    return;
  }
  const std::size_t there = std::exchange(layout_.angles, layout_.expected);
  assume_angles();
  layout_.angles = there;
  layout_.theta_deg.resize(there);
  if (!reader_.has(rotation + "rotation_start") || !reader_.has(rotation + "rotation_step")) return;
  const auto degrees = [&](const std::string& name) {
    const bool turned = angle_unit(name).starts_with("rad");
    return number(name) * (turned ? 180 / std::numbers::pi : 1);
  };
  const double start = degrees(rotation + "rotation_start");
  const double step = degrees(rotation + "rotation_step");
  layout_.source = AngleSource::kRotation;
  for (std::size_t a = 0; a < layout_.angles; ++a) {
    layout_.theta_deg[a] = start + step * static_cast<double>(a);
  }
}

std::vector<std::string> ScanReader::files() const {
  std::set<std::string> files{layout_.path};
  for (const std::string& name :
       {layout_.data, layout_.white, layout_.dark, layout_.group + "/theta"}) {
    if (name.empty() || !reader_.has(name)) continue;
    files.merge(reader_.files(name));
  }
  return {files.begin(), files.end()};
}

std::string ScanReader::identity() const {
  const std::string own = file_stamp(layout_.path);
  const std::vector<std::string> all = files();
  return all.size() == 1 ? own : own + " files=" + stamp_of_files(all);
}

void ScanReader::frames(const std::string& name, std::size_t frame, std::size_t frames,
                        std::size_t first, std::size_t rows, FrameBlock& out) const {
  out.frames = frames;
  out.rows = rows;
  out.columns = layout_.columns;
  const std::size_t size = frames * rows * layout_.columns;
  std::vector<std::size_t> start{frame, first, 0}, count{frames, rows, layout_.columns};
  if (reader_.extent(name).size() == 2) {
    start.erase(start.begin());
    count.erase(count.begin());
  }
  if (layout_.counts) {
    out.counts.resize(size);
    reader_.read_box(name, start, count, std::span<std::uint16_t>(out.counts));
  } else {
    out.floats.resize(size);
    reader_.read_box(name, start, count, std::span<float>(out.floats));
  }
}

void ScanReader::projections(std::size_t first, std::size_t rows, FrameBlock& out) const {
  frames(layout_.data, 0, layout_.angles, first, rows, out);
}
void ScanReader::flats(std::size_t first, std::size_t rows, FrameBlock& out) const {
  frames(layout_.white, 0, layout_.flats, first, rows, out);
}
void ScanReader::darks(std::size_t first, std::size_t rows, FrameBlock& out) const {
  frames(layout_.dark, 0, layout_.darks, first, rows, out);
}

}  // namespace tomoloom
