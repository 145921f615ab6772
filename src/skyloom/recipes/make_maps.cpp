// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/make_maps.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "skyloom/recipes/solve_maps.hpp"

namespace skyloom {
namespace {

/// The values of one pixel after another, with the tile that holds it at hand.
class MapWriter {
 public:
  /// `prefix`: of the files' names.
  MapWriter(const SkySums& sums, const MapJob& job, std::string prefix = {})
      : sums_(sums), job_(job), prefix_(std::move(prefix)) {}

  /// `value(pixel sums, out)`; where nothing was seen all columns are `empty`.
  template <class Value>
  void sums(const char* name, MapFile file, double empty, const Value& value) const {
    file.ordering = job_.ordering;
    file.frame = job_.coordinates;
    const std::size_t n = file.columns.size();
    write_map(path(name), job_.overwrite, sums_.sky(), file, [&](Pixel pixel, double* out) {
      const auto at = sums_.find(pixel);
      const auto tile = static_cast<std::size_t>(sums_.tiles().tile(pixel));
      if (!at || !value(sums_.tile(tile)[*at], out)) {
        std::fill(out, out + n, empty);
      }
    });
  }

  /// A map of I, Q, U; `tiles`: of every hit tile of all data, whose sums are `whole`, in their
  /// order. NaN is UNSEEN.
  void stokes(const char* name, const OffsetSystem& system, const SkySums& whole,
              const std::vector<std::vector<Stokes>>& tiles) const {
    std::vector<std::int32_t> place_of(sums_.tiles().tiles(), -1);
    for (std::size_t h = 0; h < tiles.size(); ++h) {
      place_of[static_cast<std::size_t>(system.hit_tiles()[h])] = static_cast<std::int32_t>(h);
    }
    const MapFile file{.columns = {"I_STOKES", "Q_STOKES", "U_STOKES"},
                       .unit = "K",
                       .type = job_.type,
                       .ordering = job_.ordering,
                       .frame = job_.coordinates};
    write_map(path(name), job_.overwrite, sums_.sky(), file, [&](Pixel pixel, double* out) {
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
  [[nodiscard]] std::string path(const char* name) const {
    return job_.folder + "/" + prefix_ + name + ".fits";
  }
  const SkySums& sums_;
  const MapJob& job_;
  std::string prefix_;
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
  writer.sums("invcov", {.columns = six, .unit = "1/K^2", .type = job.type}, kUnseen,
              [](const PixelSums& at, double* out) {
                put(at.weights, out);
                return true;
              });
  writer.sums("cov", {.columns = six, .unit = "K^2", .type = job.type}, kUnseen,
              [least](const PixelSums& at, double* out) {
                const Symmetric3 inverse = invert(at.weights, least).inverse;
                put(inverse, out);
                return inverse.ii > 0;
              });
}

/// Files of each part, with the offsets of all data.
void write_parts(SolvedMaps& maps, const MapJob& job, Executor& executor) {
  const AllSums& sums = maps.sums;
  const OffsetSystem& system = *maps.system;
  const std::span<const double> a = maps.solution.x;
  const std::vector<std::uint8_t>& part_of = maps.part_of;
  MapSummary& summary = maps.summary;
  std::vector<double> own(a.size());
  for (std::size_t part = 0; part < sums.parts.size(); ++part) {
    const SkySums& of = sums.parts[part];
    const MapWriter writer(of, job, print("part%zu_", part + 1));
    write_sums(writer, job);
    TileMaps tiles(system.hit_tiles().size());
    const auto expand = [&](std::span<const double> offsets) {
      executor.run(tiles.size(), [&](std::size_t h) {
        tiles[h] = system.part_map(h, of, offsets, job.solve.least_reciprocal);
      });
    };
    expand({});
    writer.stokes("binned", system, sums.whole, tiles);
    PartSummary found;
    for (std::size_t h = 0; h < tiles.size(); ++h) {
      const auto pixels = of.tile(static_cast<std::size_t>(system.hit_tiles()[h]));
      found.hit_pixels += pixels.size();
      found.cut_pixels += pixels.size();
      for (const PixelSums& pixel : pixels) found.good += pixel.hits;
      for (const Stokes& value : tiles[h]) found.cut_pixels -= std::isnan(value.i) ? 0 : 1;
    }
    summary.parts.push_back(found);
    if (a.empty()) continue;
    for (std::size_t b = 0; b < a.size(); ++b) own[b] = part_of[b] == part ? a[b] : 0;
    expand(own);
    writer.stokes("map", system, sums.whole, tiles);
  }
}

}  // namespace

MapSummary make_maps(const TodSource& source, const MapJob& job, Executor& executor,
                     const Observer& observer) {
  check_place(job.folder + "/map.fits");
  const std::unique_ptr<SolvedMaps> maps = solve_maps(source, job, executor, observer);
  StageClock clock;
  make_folder_of(job.folder + "/map.fits");
  const SkySums& sums = maps->sums.whole;
  const MapWriter writer(sums, job);
  write_sums(writer, job);
  writer.stokes("binned", *maps->system, sums, maps->tiles({}, executor));
  if (!job.binned_only) {
    writer.stokes("map", *maps->system, sums, maps->tiles(maps->solution.x, executor));
  }
  if (!maps->sums.parts.empty()) write_parts(*maps, job, executor);
  maps->summary.write = clock.lap();
  return maps->summary;
}

}  // namespace skyloom
