// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/view_maps.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"
#include "loom/json/json.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/page.hpp"
#include "skyloom/recipes/compare_maps.hpp"
#include "skyloom/recipes/page_texts.hpp"
#include "skyloom/recipes/pictures.hpp"
#include "skyloom/recipes/view_noise.hpp"
#include "skyloom/sky/map_file.hpp"
#include "skyloom/sky/spectrum.hpp"
#include "skyloom/sky/stokes_names.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr std::int64_t kSpectrumNside = 256;
constexpr std::size_t kMostSummary = std::size_t{1} << 26;

/// Columns of one map.
struct Map {
  std::string path;
  MapGrid grid;
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  ///< I, Q, U, or I
  std::string unit, frame;
};

/// I, Q and U wherever they stand, or I alone, whatever stands behind it (hits, covariances); where
/// nothing tells, the first three columns, or the first.
std::vector<std::size_t> shown_columns(const std::vector<std::string>& names) {
  if (const auto found = stokes_columns(names)) {
    if (!found->q) return {found->i};
    return {found->i, *found->q, *found->u};
  }
  if (names.size() < 3) return {0};
  return {0, 1, 2};
}

Map read_map(const std::string& path) {
  const MapTable table(path);
  Map out{.path = path,
          .grid = table.grid(),
          .names = {},
          .columns = {},
          .unit = {},
          .frame = table.frame()};
  const std::vector<std::size_t> shown = shown_columns(table.names());
  out.unit = table.unit(shown.front());
  for (const std::size_t c : shown) {
    std::string name = table.names()[c];
    if (const auto end = name.find("_STOKES"); end != std::string::npos) name.resize(end);
    out.names.push_back(page::to_utf8(name));
    out.columns.push_back(table.column(c));
  }
  return out;
}

/// The file and the folder that it is in.
std::string name_of(const std::string& path) {
  const std::filesystem::path whole(path);
  const std::filesystem::path folder = whole.parent_path().filename();
  return page::to_utf8((folder / whole.filename()).string());
}

/// The best map of a folder, or the file itself.
std::string map_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  for (const char* ending : {kFitsEnding, kHdf5Ending}) {
    for (const char* name : {"/map", "/binned"}) {
      if (is_there(path + name + ending)) return path + name + ending;
    }
  }
  throw Error(Status::kNotFound, path + ": neither map nor binned (.fits, .h5) in it");
}

Json spectra_json(const Map& map, const char* of, std::size_t most, Executor& executor) {
  const Healpix sky(std::min(map.grid.pixels.nside(), kSpectrumNside));
  std::vector<std::vector<double>> stokes;
  for (const auto& column : map.columns) stokes.push_back(coarser(map.grid.pixels, column, sky));
  const auto finest = static_cast<std::size_t>(2 * sky.nside());
  const Spectra found = power_spectra(sky, stokes, std::min(most, finest), executor);
  return {{"of", of},       {"tt", found.tt},       {"ee", found.ee},
          {"bb", found.bb}, {"nside", sky.nside()}, {"sky_share", found.sky_share}};
}

Json summary_of(const ViewJob& job) {
  std::string path = job.summary;
  if (path.empty()) {
    path = job.folder + "/summary.json";
    if (!is_there(path)) return nullptr;
  }
  auto found = Json::parse(read_text(path, kMostSummary));
  if (!found || !found->is_object()) {
    throw Error(Status::kCorrupt, path + ": no JSON of a run of skyloom");
  }
  Json out = Json::object();
  for (const char* key : {"residuals", "options", "data", "maps", "seconds"}) {
    if (found->contains(key)) out[key] = (*found)[key];
  }
  return out;
}

/// What the page makes longitudes and latitudes of.
Json grid_json(const ImagePlace& image) {
  return {{"projection", image.projection},
          {"columns", image.columns},
          {"rows", image.rows},
          {"lon", image.lon_deg},
          {"lat", image.lat_deg},
          {"column", image.column},
          {"row", image.row},
          {"cell", image.cell_deg}};
}

Json difference_json(const ColumnDifference& d) {
  return {{"name", d.name},         {"pixels", d.pixels},   {"rms", d.rms},
          {"relative", d.relative}, {"largest", d.largest}, {"correlation", d.correlation}};
}

void add_other(const ViewJob& job, const Map& map, const Pictures& pictures, Executor& executor,
               const Observer& observer, Json& data) {
  const Map other = read_map(map_of(job.other));
  require_alike({map.path, map.grid, map.names, map.unit, map.frame},
                {other.path, other.grid, other.names, other.unit, other.frame}, observer);
  data["other"] = name_of(other.path);
  data["difference"] = Json::array();
  Map apart = map;
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    const Means means = c == 0 ? Means::kTakenOff : Means::kKept;
    const auto found = compare_columns(map.names[c], map.columns[c], other.columns[c], means);
    data["difference"].push_back(difference_json(found));
    const double shift = c == 0 ? found.mean_first - found.mean_second : 0;
    for (std::size_t i = 0; i < apart.columns[c].size(); ++i) {
      apart.columns[c][i] -= other.columns[c][i] + shift;
    }
    data["maps"].push_back(pictures.json(other.columns[c], map.names[c], "other"));
    data["maps"].push_back(pictures.json(apart.columns[c], map.names[c], "difference"));
  }
  if (job.multipoles == 0 || map.grid.image) return;
  data["spectra"].push_back(spectra_json(other, "other", job.multipoles, executor));
  data["spectra"].push_back(spectra_json(apart, "difference", job.multipoles, executor));
}

std::string page_of(Json data) {
  const std::string json = page::escape_script(data.dump(-1, JsonText::kAscii));
  const std::string title = page::escape_html(data["name"].get<std::string>());
  const std::string css = std::string(page::common_css()) + std::string(texts::view_css());
  const std::string js = std::string(page::common_js()) + std::string(texts::view_js());
  return page::fill(texts::view_html(),
                    {{"title", title}, {"css", css}, {"js", js}, {"data", json}});
}

std::string view_observation(const ViewJob& job, Executor& executor, const Observer& observer) {
  if (!job.noise.empty() || !job.other.empty()) {
    throw Error(Status::kUsage, job.folder + " is an observation: expected maps with " +
                                    (job.noise.empty() ? "--with" : "--noise"));
  }
  return page_of({{"name", name_of(job.folder)},
                  {"maps", Json::array()},
                  {"spectra", Json::array()},
                  {"noise", noise_spectra_json(job.folder, {}, executor, observer)}});
}

}  // namespace

std::vector<NamedFile> files_that_are_read(std::span<const NamedFile> inputs) {
  constexpr std::string_view kRead[] = {kFitsEnding, kHdf5Ending, "/summary.json"};
  return with_files_of_folders(inputs, kRead);
}

SkyPlace sky_place_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  double values[2] = {NAN, NAN};
  const std::string parts[] = {text.substr(0, comma),
                               comma == std::string::npos ? "" : text.substr(comma + 1)};
  for (std::size_t i = 0; i < 2; ++i) {
    values[i] = number_in(parts[i]).value_or(NAN);
  }
  if (!(std::fabs(values[0]) <= 720 && std::fabs(values[1]) <= 90)) {
    throw Error(Status::kUsage, "'" + text + "': expected LON,LAT in degrees");
  }
  return {values[0], values[1]};
}

std::string view_maps(const ViewJob& job, Executor& executor, const Observer& observer) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(job.folder, ignored) && begins_as_hdf5(job.folder) &&
      !is_hdf5_map(job.folder)) {
    return view_observation(job, executor, observer);
  }
  const Map map = read_map(map_of(job.folder));
  const std::string hits_path =
      job.folder + "/hits" + std::filesystem::path(map.path).extension().string();
  std::optional<Map> hits;
  if (is_there(hits_path)) hits = read_map(hits_path);
  if (hits && !same_pixels(hits->grid, map.grid)) hits.reset();
  if (hits) {
    for (double& value : hits->columns[0]) {
      if (value == 0) value = NAN;
    }
  }
  std::vector<double> weights = hits ? hits->columns[0] : map.columns[0];
  if (!hits) {
    for (double& value : weights) value = std::isfinite(value) ? 1 : NAN;
  }
  const SkyPlace middle = job.middle ? *job.middle : busiest(map.grid, weights);
  const Pictures pictures(map.grid, middle, job.size_deg);
  stop_if_asked(observer);
  std::size_t seen = 0;
  for (const double value : map.columns[0]) seen += std::isfinite(value) ? 1 : 0;
  Json data{{"name", name_of(map.path)},
            {"unit", page::to_utf8(map.unit)},
            {"frame", page::to_utf8(map.frame)},
            {"pixels", map.grid.size()},
            {"seen", seen},
            {"middle", {middle.lon_deg, middle.lat_deg}},
            {"size", job.size_deg},
            {"maps", Json::array()},
            {"spectra", Json::array()}};
  if (map.grid.image) {
    data["grid"] = grid_json(*map.grid.image);
  } else {
    data["nside"] = map.grid.pixels.nside();
  }
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    data["maps"].push_back(pictures.json(map.columns[c], map.names[c], "map"));
  }
  if (job.multipoles > 0 && !map.grid.image) {
    data["spectra"].push_back(spectra_json(map, "map", job.multipoles, executor));
  }
  stop_if_asked(observer);
  if (!job.other.empty()) add_other(job, map, pictures, executor, observer, data);
  if (hits) data["maps"].push_back(pictures.json(hits->columns[0], "hits", "hits"));
  if (!job.noise.empty()) data["noise"] = noise_spectra_json(job.noise, {}, executor, observer);
  data["run"] = summary_of(job);
  return page_of(std::move(data));
}

}  // namespace skyloom
