// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/make_maps.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "skyloom/recipes/left_out.hpp"
#include "skyloom/recipes/other_files.hpp"
#include "skyloom/recipes/solve_maps.hpp"
#include "skyloom/sky/wcs_fits.hpp"

namespace skyloom {
namespace {

/// NESTED numbers, growing, of all pixels that were hit.
std::vector<Pixel> hit_pixels(const SkySums& sums) {
  std::vector<Pixel> out;
  for (const std::int32_t tile : sums.hit_tiles()) {
    for (std::size_t place = 0; place < sums.tiles().pixels(); ++place) {
      if (sums.find(static_cast<std::size_t>(tile), place)) {
        out.push_back(sums.tiles().pixel(static_cast<std::size_t>(tile), place));
      }
    }
  }
  return out;
}

constexpr const char* kDestriped = "map";
constexpr const char* kMapNames[] = {"hits", "rcond", "invcov", "cov", "binned", kDestriped};

std::string map_path(const MapJob& job, const std::string& prefix, const char* name) {
  return job.folder + "/" + prefix + name + ending_of(job);
}

/// Of the files of a part.
std::string prefix_of(std::size_t part) { return print("part%zu_", part + 1); }

/// The values of one pixel after another, with the tile that holds it at hand.
class MapWriter {
 public:
  /// `prefix`: of the files' names, which they get with those in `together`.
  MapWriter(const SkySums& sums, const MapJob& job, Executor& executor, FilesTogether& together,
            std::string prefix = {})
      : sums_(sums),
        job_(job),
        executor_(executor),
        together_(together),
        prefix_(std::move(prefix)) {
    if (leaves_out()) hit_pixels_ = hit_pixels(sums);
  }

  /// `value(pixel sums, out)`; where nothing was seen all columns are `empty`.
  template <class Value>
  void sums(const char* name, MapFile file, double empty, const Value& value) const {
    file.ordering = job_.ordering;
    file.frame = job_.coordinates;
    file.empty = empty;
    const std::size_t n = file.columns.size();
    write(path(name), file, [&](Pixel pixel, double* out) {
      const auto at = sums_.find(pixel);
      const auto tile = static_cast<std::size_t>(sums_.tiles().tile(pixel));
      if (!at || !value(sums_.tile(tile)[*at], out)) {
        std::fill(out, out + n, empty);
      }
    });
  }

  /// A map of I, Q, U; `tiles`: of every hit tile of all data, whose sums are `whole`, in their
  /// order. NaN is UNSEEN.
  void stokes(const char* name, std::span<const std::int32_t> hit_tiles, const SkySums& whole,
              const TileMaps& tiles) const {
    std::vector<std::int32_t> place_of(sums_.tiles().tiles(), -1);
    for (std::size_t h = 0; h < tiles.size(); ++h) {
      place_of[static_cast<std::size_t>(hit_tiles[h])] = static_cast<std::int32_t>(h);
    }
    const MapFile file{.columns = {"I_STOKES", "Q_STOKES", "U_STOKES"},
                       .unit = "K",
                       .type = job_.type,
                       .ordering = job_.ordering,
                       .frame = job_.coordinates};
    write(path(name), file, [&](Pixel pixel, double* out) {
      const std::int32_t h = place_of[static_cast<std::size_t>(sums_.tiles().tile(pixel))];
      const auto at = whole.find(pixel);
      if (!at || std::isnan(tiles[static_cast<std::size_t>(h)][*at].i)) {
        std::fill(out, out + 3, kUnseen);
        return;
      }
      const Stokes& value = tiles[static_cast<std::size_t>(h)][*at];
      out[0] = value.i;
      out[1] = value.q;
      out[2] = value.u;
    });
  }

 private:
  void write(const std::string& path, const MapFile& file, const MapValues& values) const {
    const SkyGrid grid = grid_of(job_);
    const WcsGrid* const wcs = grid.wcs();
    MapFile of = file;
    of.together = &together_;
    if (wcs == nullptr) {
      if (leaves_out()) of.part = &hit_pixels_;
      return write_map(path, job_.overwrite, grid.healpix(), of, values, executor_);
    }
    const MapValues stored = with_room(path, of, values);
    const ImagePlace place =
        ImagePlace::around(wcs->projection == Projection::kTan ? "TAN" : "CAR", wcs->middle.lon_deg,
                           wcs->middle.lat_deg, wcs->columns, wcs->rows, wcs->cell_deg);
    write_image(path, job_.overwrite, place, of,
                [&](std::size_t column, std::size_t row, double* out) {
                  stored(grid.at(column, row), out);
                });
  }
  [[nodiscard]] std::string path(const char* name) const { return map_path(job_, prefix_, name); }
  /// Pixels that were not hit are not in the files.
  [[nodiscard]] bool leaves_out() const {
    return !job_.wcs && (job_.partial || job_.format == MapFormat::kHdf5);
  }
  const SkySums& sums_;
  const MapJob& job_;
  Executor& executor_;
  FilesTogether& together_;
  std::string prefix_;
  std::vector<Pixel> hit_pixels_;  ///< where leaves_out()
};

void put(const Symmetric3& m, double* out) {
  out[0] = m.ii, out[1] = m.iq, out[2] = m.iu, out[3] = m.qq, out[4] = m.qu, out[5] = m.uu;
}

void write_sums(const MapWriter& writer, const MapJob& job) {
  const std::vector<std::string> six{"II", "IQ", "IU", "QQ", "QU", "UU"};
  const double least = job.solve.least_reciprocal;
  writer.sums("hits", {.columns = {"HITS"}, .type = MapType::kInt32}, 0,
              [](const PixelSums& at, double* out) {
                *out = at.hits;
                return true;
              });
  writer.sums("rcond", {.columns = {"RCOND"}, .type = job.type}, 0,
              [](const PixelSums& at, double* out) {
                *out = invert(at.weights, 0).reciprocal;
                return true;
              });
  writer.sums("invcov", {.columns = six, .unit = "1/K^2", .type = job.type, .positive = true},
              kUnseen, [](const PixelSums& at, double* out) {
                put(at.weights, out);
                return true;
              });
  writer.sums("cov", {.columns = six, .unit = "K^2", .type = job.type, .positive = true}, kUnseen,
              [least](const PixelSums& at, double* out) {
                const Symmetric3 inverse = invert(at.weights, least).inverse;
                put(inverse, out);
                return inverse.ii > 0;
              });
}

/// Maps of a rank's tiles become files of all, written by the first one: all of a run, or none, as
/// maps of two runs beside each other would pass for those of one.
class MapFiles {
 public:
  MapFiles(SolvedMaps& maps, const MapJob& job, Executor& executor, RankCompany* company)
      : maps_(maps), job_(job), executor_(executor), company_(company) {}

  [[nodiscard]] bool writes() const { return company_ == nullptr || company_->first(); }
  void write_sums(SkySums& sums, const std::string& prefix) {
    if (company_ != nullptr) company_->gather(sums);
    if (writes()) skyloom::write_sums(MapWriter(sums, job_, executor_, together_, prefix), job_);
  }
  /// After the sums of all data.
  void write_map(const char* name, const SkySums& sums, TileMaps tiles, const std::string& prefix) {
    const auto own = maps_.system->hit_tiles();
    std::vector<std::int32_t> hit_tiles(own.begin(), own.end());
    if (company_ != nullptr) company_->gather(hit_tiles, tiles);
    if (writes()) {
      MapWriter(sums, job_, executor_, together_, prefix)
          .stokes(name, hit_tiles, maps_.sums.whole, tiles);
    }
  }
  [[nodiscard]] FilesTogether& together() noexcept { return together_; }
  /// After all of them.
  void commit() { together_.commit(); }
  /// Pixels and samples of a part, as far as this rank tells of them, from its binned map.
  [[nodiscard]] PartSummary summary(const SkySums& part, const TileMaps& tiles) const {
    double counts[3] = {0, 0, 0};  // samples, pixels hit, pixels cut
    for (std::size_t h = 0; h < tiles.size(); ++h) {
      const std::int32_t tile = maps_.system->hit_tiles()[h];
      if (company_ != nullptr && !company_->owns(tile)) continue;
      const auto pixels = part.tile(static_cast<std::size_t>(tile));
      counts[1] += static_cast<double>(pixels.size());
      counts[2] += static_cast<double>(pixels.size());
      for (const PixelSums& pixel : pixels) counts[0] += pixel.hits;
      for (const Stokes& value : tiles[h]) counts[2] -= std::isnan(value.i) ? 0 : 1;
    }
    if (company_ != nullptr) company_->sum(counts);
    return {.good = static_cast<std::size_t>(counts[0]),
            .hit_pixels = static_cast<std::size_t>(counts[1]),
            .cut_pixels = static_cast<std::size_t>(counts[2])};
  }

 private:
  SolvedMaps& maps_;
  const MapJob& job_;
  Executor& executor_;
  RankCompany* company_;
  FilesTogether together_;
};

/// Files of each part, with the offsets of all data.
void write_parts(SolvedMaps& maps, MapFiles& files, const MapJob& job, Executor& executor) {
  for (std::size_t part = 0; part < maps.sums.parts.size(); ++part) {
    SkySums& of = maps.sums.parts[part];
    const std::string prefix = prefix_of(part);
    const double least = job.solve.least_reciprocal;
    TileMaps binned = maps.system->part_maps(of, nullptr, least, executor);
    maps.summary.parts.push_back(files.summary(of, binned));
    files.write_sums(of, prefix);
    files.write_map("binned", of, std::move(binned), prefix);
    if (job.binned_only) continue;
    files.write_map("map", of, part_map(maps, part, job, executor), prefix);
  }
}

/// The whole and its parts, whatever a run made of them.
bool is_map_name(std::string name) {
  for (const std::string_view ending : {kFitsEnding, kHdf5Ending}) {
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    if (name.starts_with("part")) {
      const std::size_t digits = name.find_first_not_of("0123456789", 4);
      if (digits == 4 || digits == std::string::npos || name[digits] != '_') return false;
      name.erase(0, digits + 1);
    }
    return std::ranges::any_of(kMapNames, [&](const char* known) { return name == known; });
  }
  return false;
}

}  // namespace

std::vector<std::string> map_files(const MapJob& job) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& prefix) {
    for (const char* name : kMapNames) {
      if (name != kDestriped || !job.binned_only) out.push_back(map_path(job, prefix, name));
    }
  };
  add({});
  for (std::size_t part = 0; part < parts_of(job.split); ++part) add(prefix_of(part));
  return out;
}

void check_map_files(const MapJob& job, std::span<const NamedFile> others,
                     std::span<const NamedFile> inputs) {
  if (job.partial && job.wcs) {
    throw Error(Status::kUsage,
                "--partial with --wcs: expected one of them, an image has all of its cells");
  }
  if (job.format == MapFormat::kHdf5) {
    require_map_format(map_path(job, {}, "map"));
    if (job.partial || job.wcs) {
      throw Error(Status::kUsage,
                  std::string("--format hdf5 with ") +
                      (job.wcs ? "--wcs: expected one of them, it holds HEALPix maps"
                               : "--partial: expected one of them, it never has "
                                 "room for what was not hit"));
    }
  }
  std::vector<NamedFile> outputs(others.begin(), others.end());
  std::vector<std::string> files = map_files(job);
  for (const std::string& path : files) outputs.push_back({"a map", path});
  files.push_back(job.obs_matrix);
  outputs.push_back({"--obs-matrix", job.obs_matrix});
  check_outputs(files, job.overwrite);
  std::vector<NamedFile> read(inputs.begin(), inputs.end());
  read.push_back({"--deproject", job.deproject});
  check_distinct(outputs, read);
}

MapSummary make_maps(const TodSource& source, const MapJob& job, Executor& executor,
                     const Observer& observer, RankCompany* company) {
  if (company == nullptr || company->first()) check_map_files(job);
  const std::unique_ptr<SolvedMaps> maps = solve_maps(source, job, executor, observer, company);
  StageClock clock;
  SkySums& sums = maps->sums.whole;
  std::optional<FolderOf> folder;
  MapFiles files(*maps, job, executor, company);
  std::optional<FolderOf> of_matrix;
  if (files.writes()) {
    folder.emplace(map_path(job, {}, "map"));
    if (!job.obs_matrix.empty()) of_matrix.emplace(job.obs_matrix);
  }
  files.write_sums(sums, {});
  files.write_map("binned", sums, maps->system->maps(nullptr, executor), {});
  if (!job.binned_only) {
    files.write_map(
        "map", sums,
        maps->summary.gls ? std::move(maps->gls) : maps->system->maps(&maps->solution.x, executor),
        {});
  }
  if (!maps->sums.parts.empty()) write_parts(*maps, files, job, executor);
  tell_of_empty_parts(maps->summary, observer);
  write_observation_matrix(std::move(maps->matrix), job, executor, observer, company,
                           &files.together());
  files.commit();
  if (files.writes()) tell_of_others(job.folder, map_files(job), is_map_name, observer);
  remove_checkpoints(*maps, job, company);
  maps->summary.write = clock.lap();
  return maps->summary;
}

}  // namespace skyloom
