// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/solve_maps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/base/work_pool.hpp"
#include "loom/files/output_files.hpp"
#include "loom/runtime/capped_executor.hpp"
#include "skyloom/gpu/device_offsets.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/noise/offset_filter.hpp"
#include "skyloom/recipes/checkpoint.hpp"
#include "skyloom/recipes/compressor.hpp"
#include "skyloom/recipes/gls_maps.hpp"
#include "skyloom/recipes/left_out.hpp"
#include "skyloom/recipes/map_counts.hpp"
#include "skyloom/recipes/map_data.hpp"
#include "skyloom/recipes/map_wishes.hpp"
#include "skyloom/recipes/memory_plan.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/shared_tod.hpp"

namespace skyloom {
namespace {

/// Reads and compresses all of an observation, some groups of detectors at a time.
void add_observation(const TodSource& source, std::size_t number, const MapJob& job,
                     const Parts& parts, SolvedMaps& to, std::vector<Stream>& streams,
                     Compressor& compressor, WorkPool<PointedGroup>& works, Executor& executor,
                     const Observer& observer) {
  AllSums& sums = to.sums;
  const SkyGrid grid = grid_of(job);
  const Observation& observation = source.observation(number);
  const Boresight boresight = source.boresight(number);
  source.prepare(number, boresight, executor, observer);
  compressor.begin(observation, boresight);
  const std::size_t detectors = observation.plane.detectors.size();
  const std::size_t one = source.group(), at_once = one * kGroupsAtOnce * executor.concurrency();
  const std::size_t step = baseline_samples(observation, job.step_s);
  for (std::size_t first = 0; first < detectors; first += at_once) {
    stop_if_asked(observer);
    const std::size_t n = std::min(at_once, detectors - first), before = streams.size();
    streams.resize(before + n);
    if (!job.obs_matrix.empty()) to.matrix.resize(before + n);
    executor.run((n + one - 1) / one, [&](std::size_t group) {
      auto work = works.borrow();
      const std::size_t at = one * group;
      const auto signals = work->room(observation.samples, n - at, one);
      source.read(number, boresight, first + at, signals);
      for (std::size_t i = 0; i < signals.size(); ++i) {
        const Detector& detector = observation.plane.detectors[first + at + i];
        if (!to.matrix.empty()) {
          to.matrix[before + at + i] = stream_matrix(source, number, boresight, first + at + i,
                                                     signals[i], grid, work->pointing);
        }
        streams[before + at + i] = compressor.compress(detector, signals[i], work->pointing);
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
                                 const MemoryPlan& memory, Device* device, SolvedMaps& to,
                                 Executor& readers, const Observer& observer) {
  std::vector<Stream> streams;
  {
    WorkPool<PointedGroup> works;
    Compressor compressor(job, device, observer);
    for (std::size_t i = 0; i < source.observations(); ++i) {
      add_observation(source, i, job, plan, to, streams, compressor, works, readers, observer);
      check_runs(streams, memory, job);
    }
  }
  source.rest();
  count_streams(streams, to.summary);
  return streams;
}

/// What points, compresses and takes the steps; null: the CPU. Of several processes each takes
/// another card, as far as there are some.
std::unique_ptr<Device> open_device(const MapJob& job, const Observer& observer,
                                    const RankCompany* company) {
  if (job.method == MapMethod::kGls) return nullptr;
  auto devices = open_devices(job.backend, observer);
  if (devices.empty()) return nullptr;
  return std::move(devices[company == nullptr ? 0 : company->rank() % devices.size()]);
}

/// The system on a device; null: on the CPU, also where `auto` finds too little memory.
std::unique_ptr<DeviceOffsets> on_device(const OffsetSystem& system, Backend backend,
                                         std::unique_ptr<Device> device, const Observer& observer) {
  const std::string name = device->info().name;
  try {
    auto out = std::make_unique<DeviceOffsets>(system, std::move(device));
    observer.info("steps are taken on " + name);
    return out;
  } catch (const Error& error) {
    if (backend != Backend::kAuto) throw;
    observer.warn(std::string(error.what()) + ": steps are taken on the CPU");
    return nullptr;
  }
}

void solve_offsets(const TodSource& source, const MapJob& job, SolvedMaps& to,
                   std::unique_ptr<Device> device, Executor& executor, const Observer& observer,
                   RankCompany* company) {
  const OffsetPrior prior = priors(source, job);
  int kind = 0;
  std::unique_ptr<DeviceOffsets> steps;
  Elsewhere elsewhere;
  if (device) {
    const DeviceInfo info = device->info();
    steps = on_device(*to.system, job.backend, std::move(device), observer);
    if (steps) {
      kind = device_kind(&info);
      elsewhere = {
          .apply = [&](std::span<const double> a, std::span<double> out) { steps->apply(a, out); },
          .vectors = steps.get()};
    }
  }
  std::optional<Checkpoint> checkpoint;
  if (!job.checkpoint.empty()) {
    checkpoint.emplace(job.checkpoint, system_key(*to.system, prior, job.preconditioner, kind),
                       to.system->size(), job.checkpoint_seconds, observer, company);
  }
  to.solution = destripe(*to.system, prior, job.limits, executor, observer,
                         checkpoint ? &*checkpoint : nullptr, job.preconditioner, elsewhere);
  if (checkpoint) to.summary.recalled = checkpoint->recalled();
}

/// The map of all data, then one of each part's own.
void solve_likelihood(const TodSource& source, const MapJob& job, const Parts& parts,
                      SolvedMaps& to, Executor& executor, const Observer& observer,
                      RankCompany* company) {
  const GlsData data{.source = source,
                     .job = job,
                     .sums = to.sums.whole,
                     .pixels = *to.system,
                     .parts = parts,
                     .gaps = job.memory > 0 ? planned_gaps(source) : 0,
                     .company = company};
  GlsMap whole = solve_gls(data, executor, observer);
  to.gls = std::move(whole.map);
  to.solution = {.x = {}, .residuals = std::move(whole.residuals), .converged = whole.converged};
  to.summary.gls = true;
  to.summary.recalled = whole.recalled;
  to.summary.gaps = whole.gaps;
  std::size_t most = whole.bytes;  // one system at a time
  for (std::size_t part = 0; part < to.sums.parts.size(); ++part) {
    GlsMap found = solve_gls_part(data, part, to.sums.parts[part], executor, observer);
    if (!found.converged) {
      observer.warn(print("the map of part %zu has not converged after %zu iterations: residual %g",
                          part + 1, found.residuals.size(),
                          found.residuals.empty() ? 1.0 : found.residuals.back()));
    }
    to.gls_parts.push_back(std::move(found.map));
    to.summary.gls_parts.push_back(
        {.iterations = found.residuals.size(), .converged = found.converged, .gaps = found.gaps});
    to.summary.recalled += found.recalled;
    most = std::max(most, found.bytes);
  }
  to.summary.system_bytes += most;
}

void tell_solution(SolvedMaps& of, const Observer& observer) {
  MapSummary& summary = of.summary;
  summary.residuals = of.solution.residuals;
  summary.converged = of.solution.converged;
  if (summary.converged) return;
  observer.warn(print("the %s not converged after %zu iterations: residual %g",
                      summary.gls ? "map has" : "offsets have", summary.residuals.size(),
                      summary.residuals.empty() ? 1.0 : summary.residuals.back()));
}

/// Where no offsets are asked for no baseline is too short of samples for one.
SolveOptions solve_options(const MapJob& job) {
  SolveOptions out = job.solve;
  if (job.binned_only || job.method == MapMethod::kGls) out.good_fraction = 0;
  out.may_be_empty = job.obs_matrix_weighted;
  return out;
}

/// Where all pixels are cut no map has a value, but a weighted matrix has rows of pixels that are
/// cut: the sum of such matrices of several runs is that of all their data.
void check_any_pixel(const MapSummary& summary, const MapJob& job, const Observer& observer) {
  if (summary.cut_pixels < summary.hit_pixels) return;
  const std::string cut =
      print("no pixel is seen at enough angles: all %zu that were hit are cut", summary.hit_pixels);
  if (!job.binned_only) {
    throw Error(kNoGoodData, cut + "; with --binned-only the weighted matrix is written without");
  }
  observer.warn(cut + "; maps have no values, the weighted matrix has rows of all of them");
}

void check_job(const TodSource& source, const MapJob& job, const RankCompany* company) {
  check_map_wishes(source, job);
  if (company != nullptr && !company->first()) return;
  check_output(job.obs_matrix, job.overwrite);
  if (job.checkpoint.empty()) return;
  check_file_name(job.checkpoint);
  check_place(job.checkpoint);
}

}  // namespace

std::unique_ptr<SolvedMaps> solve_maps(const TodSource& unfiltered, const MapJob& job,
                                       Executor& executor, const Observer& observer,
                                       RankCompany* company) {
  check_job(unfiltered, job, company);
  std::unique_ptr<Device> device = open_device(job, observer, company);
  const MapData data(unfiltered, job, observer);
  const TodSource& all = data.get();
  std::optional<SharedTod> share;
  if (company != nullptr) share.emplace(all, share_of(all, company->rank(), company->size()));
  const TodSource& source = share ? static_cast<const TodSource&>(*share) : all;
  StageClock clock;
  const SplitPlan plan(all, job.split);
  const Parts parts{plan, share ? &*share : nullptr};
  auto out = std::make_unique<SolvedMaps>(tiles_of(grid_of(job)), plan.parts());
  MapSummary& summary = out->summary;
  MemoryPlan memory{.threads = executor.concurrency()};
  const MatrixPlan matrix = plan_matrix(all, job);
  if (job.memory > 0) memory = plan_memory(source, job, plan.parts(), memory.threads, matrix);
  if (job.memory == 0) check_matrix_fits(matrix, memory.threads);
  summary.planned_bytes = memory.bytes;
  CappedExecutor readers(executor, memory.threads);
  std::vector<Stream> streams =
      read_streams(source, job, parts, memory, device.get(), *out, readers, observer);
  summary.unfitted = data.unfitted();
  summary.glitches = data.glitches();
  if (company != nullptr) {
    std::vector<SkySums*> sums{&out->sums.whole};
    for (SkySums& part : out->sums.parts) sums.push_back(&part);
    company->merge(sums);
  }
  check_good(job, company, summary);
  summary.compress = clock.lap();
  out->system.emplace(out->sums.whole, streams, solve_options(job), executor, company);
  std::vector<Stream>().swap(streams);
  count_system(out->sums, *out->system, summary);
  count_all(company, summary);
  check_any_pixel(summary, job, observer);
  summary.observations = all.observations();
  summary.detectors = most_detectors(unfiltered);
  summary.read_samples = samples_of_detectors(unfiltered);
  tell_of_left_out(summary, observer);
  if (plan.parts() > 0) out->part_of = parts_of_baselines(source, job, parts);
  summary.set_up = clock.lap();
  if (job.binned_only) return out;
  const std::uint64_t sent_before = company != nullptr ? company->sent() : 0;
  if (job.method == MapMethod::kGls) {
    solve_likelihood(source, job, parts, *out, readers, observer, company);
  } else {
    solve_offsets(source, job, *out, std::move(device), executor, observer, company);
  }
  if (company != nullptr) {
    double sent = static_cast<double>(company->sent() - sent_before);
    company->sum({&sent, 1});
    summary.solve_sent_bytes = static_cast<std::size_t>(sent);
  }
  tell_solution(*out, observer);
  summary.solve = clock.lap();
  return out;
}

void remove_checkpoints(const SolvedMaps& maps, const MapJob& job, RankCompany* company) {
  if (job.checkpoint.empty()) return;
  Checkpoint::remove(job.checkpoint, company);
  for (std::size_t part = 0; part < maps.gls_parts.size(); ++part) {
    Checkpoint::remove(gls_checkpoint(job, part), company);
  }
}

TileMaps part_map(SolvedMaps& maps, std::size_t part, const MapJob& job, Executor& executor) {
  if (job.method == MapMethod::kGls) return std::move(maps.gls_parts[part]);
  std::vector<double> own = maps.solution.x;
  for (std::size_t b = 0; b < own.size(); ++b) {
    if (maps.part_of[b] != part) own[b] = 0;
  }
  return maps.system->part_maps(maps.sums.parts[part], &own, job.solve.least_reciprocal, executor);
}

}  // namespace skyloom
