// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/make_maps.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/base/work_pool.hpp"
#include "loom/files/output_files.hpp"
#include "loom/runtime/capped_executor.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/noise/offset_filter.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/recipes/memory_plan.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kChunk = 4096;  // samples whose pointing is at hand

/// What a task needs for two detectors.
struct PairWork {
  std::vector<double> values[2];
  std::vector<std::uint8_t> flags[2];
  std::vector<Pixel> pixels = std::vector<Pixel>(kChunk);
  std::vector<double> q = std::vector<double>(kChunk), u = std::vector<double>(kChunk);
};

Stream compress(const Observation& observation, const Detector& detector,
                const Boresight& boresight, const SkySums& sums, double step_s,
                const Signal& signal, PairWork& work) {
  RunBuilder builder(sums.tiles(), baseline_samples(observation, step_s),
                     sample_weight(detector.noise, observation.plane.rate_hz));
  for (std::size_t first = 0; first < observation.samples; first += kChunk) {
    const std::size_t n = std::min(kChunk, observation.samples - first);
    const Pointing pointing{{work.pixels.data(), n}, {work.q.data(), n}, {work.u.data(), n}};
    expand_pointing(boresight, first, detector, sums.sky(), pointing);
    builder.add({pointing.pixels, pointing.q, pointing.u, signal.values.subspan(first, n),
                 signal.flags.subspan(first, n)});
  }
  return builder.finish();
}

/// Of all data, and of each part.
struct AllSums {
  explicit AllSums(const Healpix& sky, std::size_t n) : whole(sky), parts(n, SkySums(sky)) {}
  SkySums whole;
  std::vector<SkySums> parts;
};

/// Reads and compresses all of an observation, some pairs of detectors at a time.
void add_observation(const TodSource& source, std::size_t number, const MapJob& job,
                     const SplitPlan& plan, AllSums& sums, std::vector<Stream>& streams,
                     WorkPool<PairWork>& works, Executor& executor, const Observer& observer) {
  const Observation& observation = source.observation(number);
  const Boresight boresight = source.boresight(number);
  source.prepare(number, boresight, executor, observer);
  const std::size_t detectors = observation.plane.detectors.size();
  const std::size_t at_once = 2 * kPairsAtOnce * executor.concurrency();
  const std::size_t step = baseline_samples(observation, job.step_s);
  for (std::size_t first = 0; first < detectors; first += at_once) {
    stop_if_asked(observer);
    const std::size_t n = std::min(at_once, detectors - first), before = streams.size();
    streams.resize(before + n);
    executor.run((n + 1) / 2, [&](std::size_t pair) {
      auto work = works.borrow();
      const std::size_t count = std::min<std::size_t>(2, n - 2 * pair);
      Signal signals[2];
      for (std::size_t i = 0; i < count; ++i) {
        work->values[i].resize(observation.samples);
        work->flags[i].resize(observation.samples);
        signals[i] = {work->values[i], work->flags[i]};
      }
      source.read(number, boresight, first + 2 * pair, {signals, count});
      for (std::size_t i = 0; i < count; ++i) {
        const Detector& detector = observation.plane.detectors[first + 2 * pair + i];
        streams[before + 2 * pair + i] =
            compress(observation, detector, boresight, sums.whole, job.step_s, signals[i], *work);
      }
    });
    const std::span<Stream> fresh = std::span(streams).subspan(before);
    sums.whole.add(fresh, executor);
    for (std::size_t part = 0; part < plan.parts(); ++part) {
      sums.parts[part].add(fresh, executor, [&](std::size_t stream, std::size_t baseline) {
        return plan.part(number, first + stream, baseline * step) == part;
      });
    }
    executor.run(n, [&](std::size_t i) { fresh[i].keep_signal_alone(); });
    if (observer.progress) {
      observer.progress("detectors", number * detectors + first + n,
                        source.observations() * detectors);
    }
  }
}

/// The plan is kept: a scan whose detectors have more runs than it foresaw ends here.
void check_runs(const std::vector<Stream>& streams, const MemoryPlan& memory, const MapJob& job) {
  if (job.memory == 0) return;
  std::size_t runs = 0;
  for (const Stream& stream : streams) runs += stream.runs.size();
  if (runs <= memory.runs) return;
  throw Error(Status::kMemory,
              print("the detectors cross more pixels than the first one: %zu runs, the plan for %s "
                    "(--memory) is for %zu",
                    runs, gigabytes(job.memory).c_str(), memory.runs));
}

void count_streams(const TodSource& source, const std::vector<Stream>& streams,
                   MapSummary& summary) {
  summary.observations = source.observations();
  for (std::size_t i = 0; i < source.observations(); ++i) {
    summary.detectors = std::max(summary.detectors, source.observation(i).plane.detectors.size());
  }
  for (const Stream& stream : streams) {
    for (const std::uint32_t n : stream.lengths) summary.samples += n;
    summary.good += stream.good;
    summary.flagged += stream.flagged;
    summary.not_finite += stream.not_finite;
    summary.runs += stream.runs.size();
  }
}

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

/// A filter for each stream, in their order; nothing where none is asked for.
OffsetPrior priors(const TodSource& source, const MapJob& job) {
  OffsetPrior out;
  if (!job.prior || job.step_s == 0) return out;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& observation = source.observation(i);
    const double rate = observation.plane.rate_hz;
    const std::size_t step = baseline_samples(observation, job.step_s);
    const std::size_t offsets = step == 0 ? 1 : (observation.samples + step - 1) / step;
    const std::vector<Detector>& detectors = observation.plane.detectors;
    for (std::size_t d = 0; d < detectors.size(); ++d) {
      if (d > 0 && detectors[d].noise == detectors[d - 1].noise) {
        out.push_back(out.back());
        continue;
      }
      const std::string& name = detectors[d].name;
      out.push_back(offset_filter(analytic_psd(detectors[d].noise, rate, name), rate, job.step_s,
                                  offsets, name));
    }
  }
  return out;
}

using TileMaps = std::vector<std::vector<Stokes>>;

TileMaps all_tiles(const OffsetSystem& system, std::span<const double> a, Executor& executor) {
  TileMaps tiles(system.hit_tiles().size());
  executor.run(tiles.size(), [&](std::size_t h) {
    tiles[h] = system.tile_map(h, a);
    const auto inverses = system.inverse(h);
    for (std::size_t p = 0; p < tiles[h].size(); ++p) {
      if (!(inverses[p].ii > 0)) tiles[h][p] = {NAN, NAN, NAN};
    }
  });
  return tiles;
}

/// The part of each baseline of the system, in its order: observations, detectors, time.
std::vector<std::uint8_t> parts_of_baselines(const TodSource& source, const MapJob& job,
                                             const SplitPlan& plan) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& observation = source.observation(i);
    const std::size_t step = baseline_samples(observation, job.step_s);
    const std::size_t length = step == 0 ? observation.samples : step;
    for (std::size_t d = 0; d < observation.plane.detectors.size(); ++d) {
      for (std::size_t first = 0; first < observation.samples; first += length) {
        out.push_back(static_cast<std::uint8_t>(plan.part(i, d, first)));
      }
    }
  }
  return out;
}

/// Files of each part; `a`: the offsets of all data, empty: none.
void write_parts(const AllSums& sums, const OffsetSystem& system, const MapJob& job,
                 std::span<const std::uint8_t> part_of, std::span<const double> a,
                 MapSummary& summary, Executor& executor) {
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

MapSummary make_maps(const TodSource& unfiltered, const MapJob& job, Executor& executor,
                     const Observer& observer) {
  const FilteredTod filtered(unfiltered, job.filters);
  const TodSource& source =
      job.filters.any() ? static_cast<const TodSource&>(filtered) : unfiltered;
  const Healpix sky(static_cast<std::int64_t>(job.nside));
  check_place(job.folder + "/map.fits");
  StageClock clock;
  MapSummary summary;
  MemoryPlan memory{.threads = executor.concurrency()};
  if (job.memory > 0) memory = plan_memory(source, job, memory.threads);
  summary.planned_bytes = memory.bytes;
  const SplitPlan plan(source, job.split);
  AllSums all(sky, plan.parts());
  const SkySums& sums = all.whole;
  std::vector<Stream> streams;
  {
    WorkPool<PairWork> works;
    CappedExecutor readers(executor, memory.threads);
    for (std::size_t i = 0; i < source.observations(); ++i) {
      add_observation(source, i, job, plan, all, streams, works, readers, observer);
      check_runs(streams, memory, job);
    }
  }
  source.rest();
  count_streams(source, streams, summary);
  summary.unfitted = filtered.failed();
  if (summary.unfitted > 0) {
    observer.warn(print(
        "%zu stretches of detectors have too few good samples for the polynomial: they are left "
        "out",
        summary.unfitted));
  }
  summary.compress = clock.lap();
  const OffsetSystem system(sums, streams, job.solve, executor);
  std::vector<Stream>().swap(streams);
  summary.baselines = system.size();
  summary.left_baselines = system.left_baselines();
  summary.cut_pixels = system.cut_pixels();
  summary.cut_samples = system.cut_samples();
  summary.sums_bytes = sums.bytes();
  for (const SkySums& part : all.parts) summary.sums_bytes += part.bytes();
  summary.system_bytes = system.bytes();
  for (const std::int32_t tile : system.hit_tiles()) {
    summary.hit_pixels += sums.tile(static_cast<std::size_t>(tile)).size();
  }
  summary.set_up = clock.lap();
  Solution solution;
  if (!job.binned_only) {
    solution = destripe(system, priors(source, job), job.limits, executor, observer);
    summary.residuals = solution.residuals;
    summary.converged = solution.converged;
    summary.solve = clock.lap();
    if (!solution.converged) {
      observer.warn(print("the offsets have not converged after %zu iterations: residual %g",
                          solution.residuals.size(),
                          solution.residuals.empty() ? 1.0 : solution.residuals.back()));
    }
  }
  make_folder_of(job.folder + "/map.fits");
  const MapWriter writer(sums, job);
  write_sums(writer, job);
  writer.stokes("binned", system, sums, all_tiles(system, {}, executor));
  if (!job.binned_only) {
    writer.stokes("map", system, sums, all_tiles(system, solution.x, executor));
  }
  if (plan.parts() > 0) {
    write_parts(all, system, job, parts_of_baselines(source, job, plan), solution.x, summary,
                executor);
  }
  summary.write = clock.lap();
  return summary;
}

}  // namespace skyloom
