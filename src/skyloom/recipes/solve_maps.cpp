// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/solve_maps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/base/work_pool.hpp"
#include "loom/runtime/capped_executor.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/noise/offset_filter.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/recipes/checkpoint.hpp"
#include "skyloom/recipes/gls_maps.hpp"
#include "skyloom/recipes/memory_plan.hpp"
#include "skyloom/tod/shared_tod.hpp"

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
                const Boresight& boresight, const SkyGrid& grid, double step_s,
                const Signal& signal, PairWork& work) {
  RunBuilder builder(tiles_of(grid), baseline_samples(observation, step_s),
                     sample_weight(detector.noise, observation.plane.rate_hz));
  for (std::size_t first = 0; first < observation.samples; first += kChunk) {
    const std::size_t n = std::min(kChunk, observation.samples - first);
    const Pointing pointing{{work.pixels.data(), n}, {work.q.data(), n}, {work.u.data(), n}};
    expand_pointing(boresight, first, detector, grid, pointing);
    flag_outside(grid, pointing.pixels, signal.flags.subspan(first, n));
    builder.add({pointing.pixels, pointing.q, pointing.u, signal.values.subspan(first, n),
                 signal.flags.subspan(first, n)});
  }
  return builder.finish();
}

/// Parts of the data, by the places that a rank's observations and detectors have in all of them.
struct Parts {
  const SplitPlan& plan;
  const SharedTod* shared;  ///< null: all of them are here

  [[nodiscard]] std::size_t of(std::size_t number, std::size_t detector, std::size_t sample) const {
    if (shared == nullptr) return plan.part(number, detector, sample);
    const Share& at = shared->share(number);
    return plan.part(at.observation, at.first + detector, sample);
  }
};

/// Reads and compresses all of an observation, some pairs of detectors at a time.
void add_observation(const TodSource& source, std::size_t number, const MapJob& job,
                     const Parts& parts, AllSums& sums, std::vector<Stream>& streams,
                     WorkPool<PairWork>& works, Executor& executor, const Observer& observer) {
  const Observation& observation = source.observation(number);
  const Boresight boresight = source.boresight(number);
  source.prepare(number, boresight, executor, observer);
  const std::size_t detectors = observation.plane.detectors.size();
  const std::size_t at_once = 2 * kPairsAtOnce * executor.concurrency();
  const std::size_t step = baseline_samples(observation, job.step_s);
  const SkyGrid grid = grid_of(job);
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
            compress(observation, detector, boresight, grid, job.step_s, signals[i], *work);
      }
    });
    const std::span<Stream> fresh = std::span(streams).subspan(before);
    sums.whole.add(fresh, executor);
    for (std::size_t part = 0; part < parts.plan.parts(); ++part) {
      sums.parts[part].add(fresh, executor, [&](std::size_t stream, std::size_t baseline) {
        return parts.of(number, first + stream, baseline * step) == part;
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

std::size_t most_detectors(const TodSource& source) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    most = std::max(most, source.observation(i).plane.detectors.size());
  }
  return most;
}

void count_streams(const std::vector<Stream>& streams, MapSummary& summary) {
  for (const Stream& stream : streams) {
    for (const std::uint32_t n : stream.lengths) summary.samples += n;
    summary.good += stream.good;
    summary.flagged += stream.flagged;
    summary.not_finite += stream.not_finite;
    summary.runs += stream.runs.size();
  }
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
    NoisePsd before;
    for (std::size_t d = 0; d < observation.plane.detectors.size(); ++d) {
      NoisePsd noise = source.noise(i, d);
      if (d > 0 && noise == before) {
        out.push_back(out.back());
        continue;
      }
      out.push_back(
          offset_filter(noise, rate, job.step_s, offsets, observation.plane.detectors[d].name));
      before = std::move(noise);
    }
  }
  return out;
}

/// The part of each baseline of the system, in its order: observations, detectors, time.
std::vector<std::uint8_t> parts_of_baselines(const TodSource& source, const MapJob& job,
                                             const Parts& parts) {
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& observation = source.observation(i);
    const std::size_t step = baseline_samples(observation, job.step_s);
    const std::size_t length = step == 0 ? observation.samples : step;
    for (std::size_t d = 0; d < observation.plane.detectors.size(); ++d) {
      for (std::size_t first = 0; first < observation.samples; first += length) {
        out.push_back(static_cast<std::uint8_t>(parts.of(i, d, first)));
      }
    }
  }
  return out;
}

/// Reads everything; returns what became of it.
std::vector<Stream> read_streams(const TodSource& source, const MapJob& job, const Parts& plan,
                                 SolvedMaps& to, Executor& executor, const Observer& observer) {
  MemoryPlan memory{.threads = executor.concurrency()};
  if (job.memory > 0) memory = plan_memory(source, job, memory.threads);
  to.summary.planned_bytes = memory.bytes;
  std::vector<Stream> streams;
  {
    WorkPool<PairWork> works;
    CappedExecutor readers(executor, memory.threads);
    for (std::size_t i = 0; i < source.observations(); ++i) {
      add_observation(source, i, job, plan, to.sums, streams, works, readers, observer);
      check_runs(streams, memory, job);
    }
  }
  source.rest();
  count_streams(streams, to.summary);
  return streams;
}

/// Of all ranks together.
void count_all(RankCompany* company, MapSummary& s) {
  if (company == nullptr) return;
  std::size_t* const counts[] = {&s.samples,    &s.good,       &s.flagged,     &s.not_finite,
                                 &s.runs,       &s.baselines,  &s.unfitted,    &s.left_baselines,
                                 &s.hit_pixels, &s.cut_pixels, &s.cut_samples, &s.glitches};
  std::vector<double> sums;
  for (const std::size_t* count : counts) sums.push_back(static_cast<double>(*count));
  company->sum(sums);
  for (std::size_t i = 0; i < sums.size(); ++i) *counts[i] = static_cast<std::size_t>(sums[i]);
}

void count_system(const AllSums& sums, const OffsetSystem& system, MapSummary& summary) {
  summary.baselines = system.size();
  summary.left_baselines = system.left_baselines();
  summary.cut_pixels = system.cut_pixels();
  summary.cut_samples = system.cut_samples();
  summary.sums_bytes = sums.whole.bytes();
  for (const SkySums& part : sums.parts) summary.sums_bytes += part.bytes();
  summary.system_bytes = system.bytes();
  for (const std::int32_t tile : system.hit_tiles()) {
    if (system.company() != nullptr && !system.company()->owns(tile)) continue;
    summary.hit_pixels += sums.whole.tile(static_cast<std::size_t>(tile)).size();
  }
}

void solve_offsets(const TodSource& source, const MapJob& job, SolvedMaps& to, Executor& executor,
                   const Observer& observer, RankCompany* company) {
  const OffsetPrior prior = priors(source, job);
  std::optional<Checkpoint> checkpoint;
  if (!job.checkpoint.empty()) {
    checkpoint.emplace(job.checkpoint, system_key(*to.system, prior, job.preconditioner),
                       to.system->size(), job.checkpoint_seconds, observer, company);
  }
  to.solution = destripe(*to.system, prior, job.limits, executor, observer,
                         checkpoint ? &*checkpoint : nullptr, job.preconditioner);
  if (checkpoint) to.summary.recalled = checkpoint->recalled();
}

void tell_solution(SolvedMaps& of, const Observer& observer) {
  MapSummary& summary = of.summary;
  summary.residuals = of.solution.residuals;
  summary.converged = of.solution.converged;
  if (summary.converged) return;
  observer.warn(print("the %s not converged after %zu iterations: residual %g",
                      of.gls.empty() ? "offsets have" : "map has", summary.residuals.size(),
                      summary.residuals.empty() ? 1.0 : summary.residuals.back()));
}

}  // namespace

std::unique_ptr<SolvedMaps> solve_maps(const TodSource& unfiltered, const MapJob& job,
                                       Executor& executor, const Observer& observer,
                                       RankCompany* company) {
  check_gls(job);
  if (job.method == MapMethod::kGls && company != nullptr) {
    throw Error(Status::kUsage, "--method gls: expected one process, not ranks");
  }
  const FilteredTod filtered(unfiltered, job.filters);
  const TodSource& all = job.filters.any() ? static_cast<const TodSource&>(filtered) : unfiltered;
  std::optional<SharedTod> share;
  if (company != nullptr) share.emplace(all, share_of(all, company->rank(), company->size()));
  const TodSource& source = share ? static_cast<const TodSource&>(*share) : all;
  StageClock clock;
  const SplitPlan plan(all, job.split);
  const Parts parts{plan, share ? &*share : nullptr};
  auto out = std::make_unique<SolvedMaps>(tiles_of(grid_of(job)), plan.parts());
  MapSummary& summary = out->summary;
  std::vector<Stream> streams = read_streams(source, job, parts, *out, executor, observer);
  summary.unfitted = filtered.failed();
  summary.glitches = filtered.glitches();
  if (company != nullptr) {
    std::vector<SkySums*> sums{&out->sums.whole};
    for (SkySums& part : out->sums.parts) sums.push_back(&part);
    company->merge(sums);
  }
  summary.compress = clock.lap();
  out->system.emplace(out->sums.whole, streams, job.solve, executor, company);
  std::vector<Stream>().swap(streams);
  count_system(out->sums, *out->system, summary);
  count_all(company, summary);
  summary.observations = all.observations();
  summary.detectors = most_detectors(all);
  if (summary.unfitted > 0) {
    observer.warn(print(
        "%zu stretches of detectors have too few good samples for the polynomial: they are left "
        "out",
        summary.unfitted));
  }
  if (plan.parts() > 0) out->part_of = parts_of_baselines(source, job, parts);
  summary.set_up = clock.lap();
  if (job.binned_only) return out;
  if (job.method == MapMethod::kGls) {
    const std::size_t gaps = job.memory > 0 ? planned_gaps(source) : 0;
    GlsMap found = solve_gls(source, job, out->sums.whole, *out->system, gaps, executor, observer);
    out->gls = std::move(found.map);
    out->solution = std::move(found.solution);
    summary.recalled = found.recalled;
    summary.system_bytes = found.bytes;
    summary.gaps = found.gaps;
    summary.gls = true;
  } else {
    solve_offsets(source, job, *out, executor, observer, company);
  }
  tell_solution(*out, observer);
  summary.solve = clock.lap();
  return out;
}

}  // namespace skyloom
