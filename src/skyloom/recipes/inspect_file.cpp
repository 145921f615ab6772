// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/inspect_file.hpp"

#include <cmath>

#include "loom/base/print.hpp"
#include "skyloom/recipes/projection.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/sky/stokes_names.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {
namespace {

FileReport inspect_observation(const std::string& path) {
  const StoredTod data({path}, {});
  const Observation& observation = data.observation(0);
  const double rate = observation.plane.rate_hz;
  FileReport report{.path = path, .kind = "observation (TOAST HDF5, format 2)", .facts = {}};
  report.facts = {
      {"name", observation.name},
      {"detectors", std::to_string(observation.plane.detectors.size())},
      {"samples", std::to_string(observation.samples)},
      {"rate", print("%g Hz", rate)},
      {"length", print("%.4g minutes", static_cast<double>(observation.samples) / rate / 60)}};
  if (!observation.plane.detectors.empty()) {
    const Detector& first = observation.plane.detectors.front();
    report.facts.emplace_back("first detector", first.name);
    report.facts.emplace_back(
        "its noise", print("NET %g K sqrt(s), fknee %g Hz", first.noise.net, first.noise.fknee_hz));
  }
  return report;
}

std::size_t unseen_of(const MapTable& map) {
  std::size_t unseen = 0;
  for (const double value : map.column(0)) unseen += std::isnan(value) ? 1 : 0;
  return unseen;
}

FileReport inspect_flat_map(const std::string& path, const MapTable& map) {
  const ImagePlace& place = *map.image();
  const SkyPlace middle = middle_of(place);
  return {.path = path,
          .kind = "flat map (WCS)",
          .facts = {{"projection", place.projection},
                    {"cells",
                     print("%zu x %zu of %.6g degrees", place.columns, place.rows, place.cell_deg)},
                    {"middle", print("%.6g, %.6g degrees", middle.lon_deg, middle.lat_deg)},
                    {"frame", map.frame()},
                    {"planes", names_in_words(map.names())},
                    {"without a value", std::to_string(unseen_of(map))}}};
}

FileReport inspect_map(const std::string& path) {
  const MapTable map(path);
  if (map.image() != nullptr) return inspect_flat_map(path, map);
  return {.path = path,
          .kind = "HEALPix map",
          .facts = {{"Nside", std::to_string(map.pixels().nside())},
                    {"pixels", std::to_string(map.pixels().pixels())},
                    {"frame", map.frame()},
                    {"columns", names_in_words(map.names())},
                    {"unit", map.unit().empty() ? "none" : map.unit()},
                    {"without a value", std::to_string(unseen_of(map))}}};
}

}  // namespace

FileReport inspect_file(const std::string& path) {
  if (!begins_as_hdf5(path) || is_hdf5_map(path)) return inspect_map(path);
  return inspect_observation(path);
}

}  // namespace skyloom
