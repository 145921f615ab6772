// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/view_maps.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"
#include "loom/json/json.hpp"
#include "loom/page/embedded.hpp"
#include "loom/page/levels.hpp"
#include "loom/page/page.hpp"
#include "skyloom/recipes/compare_maps.hpp"
#include "skyloom/recipes/page_texts.hpp"
#include "skyloom/recipes/view_noise.hpp"
#include "skyloom/sky/spectrum.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kWide = 640, kPart = 320;  ///< pixels of the pictures
constexpr std::int64_t kSpectrumNside = 256;
constexpr std::size_t kMostSummary = std::size_t{1} << 26;

/// Columns of one map.
struct Map {
  std::string path;
  Healpix pixels{1};
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  ///< three at most
  std::string unit, frame;
};

Map read_map(const std::string& path) {
  const MapTable table(path);
  Map out{.path = path,
          .pixels = table.pixels(),
          .names = {},
          .columns = {},
          .unit = table.unit(),
          .frame = table.frame()};
  const std::size_t n = table.names().size() >= 3 ? 3 : 1;
  for (std::size_t c = 0; c < n; ++c) {
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

/// Both pictures of some values of one sky: which of its pixels they show is found once.
class Pictures {
 public:
  Pictures(const Healpix& sky, const SkyPlace& middle, double size_deg)
      : whole_(kWide * kWide / 2, -1), part_(kPart * kPart) {
    for (std::size_t i = 0; i < whole_.size(); ++i) {
      if (const auto to = mollweide(i % kWide, i / kWide, kWide, 0)) whole_[i] = sky.nested(*to);
    }
    for (std::size_t i = 0; i < part_.size(); ++i) {
      part_[i] = sky.nested(gnomonic(i % kPart, i / kPart, kPart, size_deg, middle));
    }
  }
  [[nodiscard]] Json json(const std::vector<double>& values, const std::string& name,
                          const char* of) const {
    const auto at = [&](Pixel p) { return p < 0 ? NAN : values[static_cast<std::size_t>(p)]; };
    const page::Levels whole =
        page::levels_of(whole_.size(), [&](std::size_t i) { return at(whole_[i]); });
    const page::Levels part =
        page::levels_of(part_.size(), [&](std::size_t i) { return at(part_[i]); });
    const auto picture = [](const page::Levels& levels, std::size_t width, std::size_t height) {
      return Json{{"width", width},
                  {"height", height},
                  {"low", levels.low},
                  {"step", levels.step},
                  {"data", levels.base64}};
    };
    double low = 0, high = 0;
    window_of(values, low, high);
    return {{"name", name},
            {"of", of},
            {"window", {low, high}},
            {"whole", picture(whole, kWide, kWide / 2)},
            {"part", picture(part, kPart, kPart)}};
  }

 private:
  /// What all values but one in a hundred on either side lie between.
  static void window_of(const std::vector<double>& values, double& low, double& high) {
    std::vector<double> seen;
    for (const double value : values) {
      if (std::isfinite(value)) seen.push_back(value);
    }
    if (seen.empty()) return;
    const auto rank = [&](std::size_t k) {
      std::nth_element(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(k), seen.end());
      return seen[k];
    };
    low = rank(seen.size() / 100);
    high = rank(seen.size() - 1 - seen.size() / 100);
  }
  std::vector<Pixel> whole_, part_;  ///< -1: the paper's corner
};

/// Where most samples are; else the middle of what was seen.
SkyPlace busiest(const Healpix& sky, const std::vector<double>& weights) {
  const Healpix wide(std::min<std::int64_t>(sky.nside(), 8));
  const std::vector<double> means = coarser(sky, weights, wide);
  std::size_t best = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (std::isfinite(means[i]) && !(means[best] >= means[i])) best = i;
  }
  return place_of(wide.centre(static_cast<Pixel>(best)));
}

Json spectra_json(const Map& map, const char* of, std::size_t most, Executor& executor) {
  const Healpix sky(std::min(map.pixels.nside(), kSpectrumNside));
  std::vector<std::vector<double>> stokes;
  for (const auto& column : map.columns) stokes.push_back(coarser(map.pixels, column, sky));
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

Json difference_json(const ColumnDifference& d) {
  return {{"name", d.name},         {"pixels", d.pixels},   {"rms", d.rms},
          {"relative", d.relative}, {"largest", d.largest}, {"correlation", d.correlation}};
}

void add_other(const ViewJob& job, const Map& map, const Pictures& pictures, Executor& executor,
               Json& data) {
  const Map other = read_map(map_of(job.other));
  if (other.pixels.nside() != map.pixels.nside() || other.columns.size() != map.columns.size()) {
    throw Error(kPixelisation,
                print("%s: Nside %lld, %zu columns; %s: Nside %lld, %zu columns: "
                      "expected the same",
                      map.path.c_str(), static_cast<long long>(map.pixels.nside()),
                      map.columns.size(), other.path.c_str(),
                      static_cast<long long>(other.pixels.nside()), other.columns.size()));
  }
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
  if (job.multipoles == 0) return;
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
  if (hits && hits->pixels.nside() != map.pixels.nside()) hits.reset();
  if (hits) {
    for (double& value : hits->columns[0]) {
      if (value == 0) value = NAN;
    }
  }
  std::vector<double> weights = hits ? hits->columns[0] : map.columns[0];
  if (!hits) {
    for (double& value : weights) value = std::isfinite(value) ? 1 : NAN;
  }
  const SkyPlace middle = job.middle ? *job.middle : busiest(map.pixels, weights);
  const Pictures pictures(map.pixels, middle, job.size_deg);
  stop_if_asked(observer);
  std::size_t seen = 0;
  for (const double value : map.columns[0]) seen += std::isfinite(value) ? 1 : 0;
  Json data{{"name", name_of(map.path)},
            {"nside", map.pixels.nside()},
            {"unit", page::to_utf8(map.unit)},
            {"frame", page::to_utf8(map.frame)},
            {"pixels", map.pixels.pixels()},
            {"seen", seen},
            {"middle", {middle.lon_deg, middle.lat_deg}},
            {"size", job.size_deg},
            {"maps", Json::array()},
            {"spectra", Json::array()}};
  for (std::size_t c = 0; c < map.columns.size(); ++c) {
    data["maps"].push_back(pictures.json(map.columns[c], map.names[c], "map"));
  }
  if (job.multipoles > 0) {
    data["spectra"].push_back(spectra_json(map, "map", job.multipoles, executor));
  }
  stop_if_asked(observer);
  if (!job.other.empty()) add_other(job, map, pictures, executor, data);
  if (hits) data["maps"].push_back(pictures.json(hits->columns[0], "hits", "hits"));
  if (!job.noise.empty()) data["noise"] = noise_spectra_json(job.noise, {}, executor, observer);
  data["run"] = summary_of(job);
  return page_of(std::move(data));
}

}  // namespace skyloom
