// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/view_volume.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/json/json.hpp"
#include "loom/page/page.hpp"
#include "tomoloom/recipes/compare_volumes.hpp"
#include "tomoloom/recipes/inspect_file.hpp"
#include "tomoloom/recipes/view_page.hpp"
#include "tomoloom/recipes/view_plane.hpp"
#include "tomoloom/recipes/view_scan.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kSampled = 16;  ///< slices that tell the histogram's range

/// Where the planes lie.
struct Cut {
  std::size_t slice, row, column;
};

struct Planes {
  Plane across, front, side;
  explicit Planes(const ScanLayout& l)
      : across(l.rows, l.columns), front(l.angles, l.columns), side(l.angles, l.rows) {}

  void add(const Cut& cut, std::size_t slice, std::span<const float> values, std::size_t columns) {
    const std::size_t rows = values.size() / columns;
    for (std::size_t c = 0; c < columns; ++c) front.set(slice, c, values[cut.row * columns + c]);
    for (std::size_t r = 0; r < rows; ++r) side.set(slice, r, values[r * columns + cut.column]);
    if (slice != cut.slice) return;
    across.set(values);
  }
  void tell(Json& out, const char* of) const {
    out.push_back(across.json("slice", of));
    out.push_back(front.json("row", of));
    out.push_back(side.json("column", of));
  }
};

/// From the least to the greatest of some slices.
Histogram histogram_of(const FrameSource& volume) {
  Histogram histogram;
  LargeVector<float> slice;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const std::size_t slices = volume.layout().angles, count = std::min(kSampled, slices);
  for (std::size_t i = 0; i < count; ++i) {
    read_slice(volume, (2 * i + 1) * slices / (2 * count), slice);
    for (const float each : slice) {
      if (!std::isfinite(each)) continue;
      low = std::min(low, static_cast<double>(each));
      high = std::max(high, static_cast<double>(each));
    }
  }
  if (low <= high) {
    histogram.low = low;
    histogram.high = high;
  }
  return histogram;
}

std::size_t place_of(const std::string& path, const char* what, std::optional<std::size_t> wanted,
                     std::size_t size) {
  if (wanted.value_or(0) < size) return wanted.value_or(size / 2);
  throw Error(kSliceRange, print("%s: --%s %zu: the volume has 0 to %zu", path.c_str(), what,
                                 *wanted, size - 1));
}

Json facts_of(const std::string& path, const std::string& group) {
  Json out = Json::array();
  for (const auto& [name, value] : inspect_file(path, group).facts) {
    out.push_back({page::to_utf8(name), page::to_utf8(value)});
  }
  return out;
}

Json difference_json(const VolumeDifference& d) {
  return {{"rms", d.rms},
          {"relative", d.relative},
          {"largest", d.largest},
          {"at", {d.slice, d.row, d.column}},
          {"mean_first", d.mean_first},
          {"mean_second", d.mean_second},
          {"gain", d.gain},
          {"correlation", d.correlation},
          {"worst_slice", d.worst_slice},
          {"worst_rms", d.worst_rms},
          {"left_out", d.left_out}};
}

std::string name_of(const std::string& path) {
  return page::to_utf8(std::filesystem::path(path).filename().string());
}

}  // namespace

std::string view_volume(const ViewJob& job, Executor& executor, const Observer& observer) {
  const auto volume = open_slices(job.volume, job.group);
  const auto other = job.other.empty() ? nullptr : open_slices(job.other, job.group);
  if (other) check_same_size(*volume, *other);
  const ScanLayout& l = volume->layout();
  const Cut cut{place_of(l.path, "slice", job.slice, l.angles),
                place_of(l.path, "row", job.row, l.rows),
                place_of(l.path, "column", job.column, l.columns)};
  Planes own(l), beside(l), apart(l);
  Histogram histogram = histogram_of(*volume);
  DifferenceSums sums;
  LargeVector<float> first, second;
  for (std::size_t s = 0; s < l.angles; ++s) {
    stop_if_asked(observer);
    read_slice(*volume, s, first);
    histogram.add(first);
    own.add(cut, s, first, l.columns);
    if (other) {
      read_slice(*other, s, second);
      sums.add(s, first, second, l.columns, 0);
      beside.add(cut, s, second, l.columns);
      for (std::size_t i = 0; i < first.size(); ++i) first[i] -= second[i];
      apart.add(cut, s, first, l.columns);
    }
    if (observer.progress) observer.progress("slices", s + 1, l.angles);
  }
  Json data{{"name", name_of(job.volume)},
            {"size", {l.angles, l.rows, l.columns}},
            {"cut", {cut.slice, cut.row, cut.column}},
            {"facts", facts_of(job.volume, job.group)},
            {"histogram", histogram.json()},
            {"planes", Json::array()}};
  own.tell(data["planes"], "volume");
  if (other) {
    data["other"] = name_of(job.other);
    data["difference"] = difference_json(sums.result());
    beside.tell(data["planes"], "other");
    apart.tell(data["planes"], "difference");
  }
  if (!job.scan.scan.empty()) data["scan"] = scan_json(job, cut.slice, executor, observer);
  return page_of(data, name_of(job.volume));
}

}  // namespace tomoloom
