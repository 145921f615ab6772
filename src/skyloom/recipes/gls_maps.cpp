// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/gls_maps.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/base/work_pool.hpp"
#include "skyloom/noise/inverse_covariance.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/recipes/checkpoint.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kAtHand = 4096;  // samples whose pointing is
constexpr double kMostValue = 1e30;    // of a signal, as RunBuilder has it

/// What a task needs for the pointing of a detector.
struct PointingWork {
  std::vector<Pixel> pixels = std::vector<Pixel>(kAtHand);
  std::vector<double> q = std::vector<double>(kAtHand), u = std::vector<double>(kAtHand);
};

GlsStream stream_of(const GlsSystem& system, const SkyGrid& grid, const Boresight& boresight,
                    const Detector& detector, const Signal& signal, PointingWork& work) {
  GlsStream out{.unknowns = {}, .q = {}, .u = {}};
  const std::size_t samples = signal.values.size();
  out.unknowns.reserve(samples);
  out.q.reserve(samples);
  out.u.reserve(samples);
  for (std::size_t first = 0; first < samples; first += kAtHand) {
    const std::size_t n = std::min(kAtHand, samples - first);
    const Pointing pointing{{work.pixels.data(), n}, {work.q.data(), n}, {work.u.data(), n}};
    expand_pointing(boresight, first, detector, grid, pointing);
    flag_outside(grid, pointing.pixels, signal.flags.subspan(first, n));
    for (std::size_t i = 0; i < n; ++i) {
      const bool good =
          signal.flags[first + i] == 0 && std::fabs(signal.values[first + i]) <= kMostValue;
      const std::uint32_t number = good ? system.number_of(work.pixels[i]) : kGap;
      out.gaps += number == kGap ? 1 : 0;
      out.unknowns.push_back(number);
      out.q.push_back(static_cast<float>(work.q[i]));
      out.u.push_back(static_cast<float>(work.u[i]));
    }
  }
  return out;
}

/// The filters of an observation's detectors: neighbours with the same noise share one.
std::vector<std::size_t> filters_of(const TodSource& source, std::size_t number, const MapJob& job,
                                    GlsSystem& system) {
  const Observation& observation = source.observation(number);
  const double rate = observation.plane.rate_hz;
  const double reach =
      std::min(std::ceil(job.correlation_s * rate), static_cast<double>(observation.samples - 1));
  std::vector<std::size_t> out;
  NoisePsd before;
  for (std::size_t d = 0; d < observation.plane.detectors.size(); ++d) {
    NoisePsd noise = source.noise(number, d);
    if (d > 0 && noise == before) {
      out.push_back(out.back());
      continue;
    }
    out.push_back(system.add_filter(inverse_covariance(noise, rate, static_cast<std::size_t>(reach),
                                                       observation.plane.detectors[d].name)));
    before = std::move(noise);
  }
  return out;
}

void add_observation(const TodSource& source, std::size_t number, const MapJob& job,
                     const SkyGrid& grid, GlsSystem& system, WorkPool<PointingWork>& works,
                     Executor& executor, const Observer& observer) {
  const Observation& observation = source.observation(number);
  const Boresight boresight = source.boresight(number);
  source.prepare(number, boresight, executor, observer);
  const std::vector<std::size_t> filters = filters_of(source, number, job, system);
  const std::size_t detectors = observation.plane.detectors.size();
  const std::size_t at_once = 2 * executor.concurrency();
  for (std::size_t first = 0; first < detectors; first += at_once) {
    stop_if_asked(observer);
    const std::size_t n = std::min(at_once, detectors - first);
    std::vector<GlsStream> streams(n);
    std::vector<std::vector<double>> values(n);
    executor.run((n + 1) / 2, [&](std::size_t pair) {
      auto work = works.borrow();
      const std::size_t count = std::min<std::size_t>(2, n - 2 * pair);
      std::vector<std::uint8_t> flags[2];
      Signal signals[2];
      for (std::size_t i = 0; i < count; ++i) {
        values[2 * pair + i].resize(observation.samples);
        flags[i].resize(observation.samples);
        signals[i] = {values[2 * pair + i], flags[i]};
      }
      source.read(number, boresight, first + 2 * pair, {signals, count});
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t d = first + 2 * pair + i;
        GlsStream& stream = streams[2 * pair + i];
        stream =
            stream_of(system, grid, boresight, observation.plane.detectors[d], signals[i], *work);
        stream.filter = filters[d];
      }
    });
    system.add(std::move(streams), std::move(values), executor);
    if (observer.progress) {
      observer.progress("detectors", number * detectors + first + n,
                        source.observations() * detectors);
    }
  }
}

}  // namespace

void flag_outside(const SkyGrid& grid, std::span<Pixel> pixels, std::span<std::uint8_t> flags) {
  if (grid.wcs() == nullptr) return;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    if (pixels[i] >= 0) continue;
    pixels[i] = 0;
    flags[i] |= 1;
  }
}

void check_gls(const MapJob& job) {
  if (job.method != MapMethod::kGls) return;
  const struct {
    bool asked;
    const char* name;
  } others[] = {{job.binned_only, "--binned-only"},
                {job.prior, "--prior"},
                {job.split.by != SplitBy::kNothing, "--split"}};
  for (const auto& other : others) {
    if (!other.asked) continue;
    throw Error(Status::kUsage,
                std::string("--method gls with ") + other.name + ": expected one of them");
  }
}

GlsMap solve_gls(const TodSource& source, const MapJob& job, const SkySums& sums,
                 const OffsetSystem& pixels, std::size_t gaps, Executor& executor,
                 const Observer& observer) {
  GlsSystem system(pixels, sums);
  {
    WorkPool<PointingWork> works;
    for (std::size_t i = 0; i < source.observations(); ++i) {
      add_observation(source, i, job, grid_of(job), system, works, executor, observer);
      if (gaps == 0 || system.gaps() <= gaps) continue;
      throw Error(Status::kMemory, print("more samples are left out than the plan (--memory) is "
                                         "for: %zu of %zu",
                                         system.gaps(), gaps));
    }
  }
  source.rest();
  std::optional<Checkpoint> checkpoint;
  if (!job.checkpoint.empty()) {
    checkpoint.emplace(job.checkpoint, system_key(system), system.size(), job.checkpoint_seconds,
                       observer, nullptr);
  }
  GlsMap out;
  out.solution = system.solve(job.limits, executor, observer, checkpoint ? &*checkpoint : nullptr);
  if (checkpoint) out.recalled = checkpoint->recalled();
  out.map = system.maps(out.solution.x);
  out.bytes = system.bytes();
  out.gaps = system.gaps();
  return out;
}

}  // namespace skyloom
