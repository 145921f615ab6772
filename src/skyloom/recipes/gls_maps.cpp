// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/gls_maps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/base/work_pool.hpp"
#include "skyloom/good_sample.hpp"
#include "skyloom/noise/inverse_covariance.hpp"
#include "skyloom/recipes/checkpoint.hpp"
#include "skyloom/recipes/memory_plan.hpp"
#include "skyloom/recipes/sample_pointing.hpp"

namespace skyloom {
namespace {

/// The data that become one map: of all of them, or of a part.
class GlsReader {
 public:
  GlsReader(const GlsData& data, std::optional<std::size_t> part, GlsSystem& system,
            Executor& executor, const Observer& observer)
      : data_(data),
        part_(part),
        grid_(grid_of(data.job)),
        system_(system),
        executor_(executor),
        observer_(observer) {}

  void add_observation(std::size_t number);

 private:
  /// A detector's samples that belong to this map.
  [[nodiscard]] Stretch wanted(std::size_t number, std::size_t detector) const {
    const Observation& observation = data_.source.observation(number);
    if (!part_) return {0, observation.samples};
    return data_.parts.samples(*part_, number, detector, observation.samples,
                               baseline_samples(observation, data_.job.step_s));
  }
  [[nodiscard]] std::vector<std::size_t> filters_of(std::size_t number);
  [[nodiscard]] GlsStream stream_of(const Boresight& boresight, const Detector& detector,
                                    const Signal& signal, const Stretch& wanted,
                                    SamplePointing& pointing) const;

  const GlsData& data_;
  std::optional<std::size_t> part_;
  SkyGrid grid_;
  GlsSystem& system_;
  Executor& executor_;
  const Observer& observer_;
  WorkPool<PointedGroup> works_;
};

GlsStream GlsReader::stream_of(const Boresight& boresight, const Detector& detector,
                               const Signal& signal, const Stretch& wanted,
                               SamplePointing& pointing) const {
  GlsStream out{.unknowns = {}, .q = {}, .u = {}};
  const std::size_t samples = wanted.end - wanted.first;
  out.unknowns.reserve(samples);
  out.q.reserve(samples);
  out.u.reserve(samples);
  const auto add = [&](std::size_t first, const Pointing& at) {
    flag_outside(grid_, at.pixels, signal.flags.subspan(first, at.pixels.size()));
    for (std::size_t i = 0; i < at.pixels.size(); ++i) {
      const bool good = takes_part(signal.values[first + i], signal.flags[first + i]);
      const std::uint32_t number = good ? system_.number_of(at.pixels[i]) : kGap;
      out.gaps += number == kGap ? 1 : 0;
      out.unknowns.push_back(number);
      out.q.push_back(static_cast<float>(at.q[i]));
      out.u.push_back(static_cast<float>(at.u[i]));
    }
  };
  pointing.over(boresight, detector, grid_, wanted.first, wanted.end, add);
  return out;
}

/// The filters of an observation's detectors: neighbours with the same noise share one.
std::vector<std::size_t> GlsReader::filters_of(std::size_t number) {
  const Observation& observation = data_.source.observation(number);
  const double rate = observation.plane.rate_hz;
  const double reach = std::min(std::ceil(data_.job.correlation_s * rate),
                                static_cast<double>(observation.samples - 1));
  std::vector<std::size_t> out;
  NoisePsd before;
  for (std::size_t d = 0; d < observation.plane.detectors.size(); ++d) {
    NoisePsd noise = data_.source.noise(number, d);
    if (d > 0 && noise == before) {
      out.push_back(out.back());
      continue;
    }
    out.push_back(system_.add_filter(inverse_covariance(
        noise, rate, static_cast<std::size_t>(reach), observation.plane.detectors[d].name)));
    before = std::move(noise);
  }
  return out;
}

void GlsReader::add_observation(std::size_t number) {
  const TodSource& source = data_.source;
  const Observation& observation = source.observation(number);
  const std::size_t detectors = observation.plane.detectors.size();
  std::vector<Stretch> stretches;
  for (std::size_t d = 0; d < detectors; ++d) stretches.push_back(wanted(number, d));
  const auto empty = [](const Stretch& stretch) { return stretch.end == stretch.first; };
  if (std::all_of(stretches.begin(), stretches.end(), empty)) return;
  const Boresight boresight = source.boresight(number);
  source.prepare(number, boresight, executor_, observer_);
  const std::vector<std::size_t> filters = filters_of(number);
  const std::size_t at_once = 2 * executor_.concurrency();
  for (std::size_t first = 0; first < detectors; first += at_once) {
    stop_if_asked(observer_);
    const std::size_t n = std::min(at_once, detectors - first);
    std::vector<GlsStream> streams(n);
    std::vector<std::vector<double>> values(n);
    executor_.run((n + 1) / 2, [&](std::size_t pair) {
      const std::span<const Stretch> own(&stretches[first + 2 * pair],
                                         std::min<std::size_t>(2, n - 2 * pair));
      if (std::all_of(own.begin(), own.end(), empty)) return;
      auto work = works_.borrow();
      const auto signals = work->room(observation.samples, n - 2 * pair);
      source.read(number, boresight, first + 2 * pair, signals);
      for (std::size_t i = 0; i < signals.size(); ++i) {
        if (empty(own[i])) continue;
        const std::size_t d = first + 2 * pair + i;
        GlsStream& stream = streams[2 * pair + i];
        stream = stream_of(boresight, observation.plane.detectors[d], signals[i], own[i],
                           work->pointing);
        stream.filter = filters[d];
        const auto part = signals[i].values.subspan(own[i].first, own[i].end - own[i].first);
        values[2 * pair + i].assign(part.begin(), part.end());
      }
    });
    std::erase_if(streams, [](const GlsStream& stream) { return stream.unknowns.empty(); });
    std::erase_if(values, [](const std::vector<double>& one) { return one.empty(); });
    system_.add(std::move(streams), std::move(values), executor_);
    if (observer_.progress) {
      observer_.progress("detectors", number * detectors + first + n,
                         source.observations() * detectors);
    }
  }
}

GlsMap solve(const GlsData& data, std::optional<std::size_t> part, const TileMatrices& inverses,
             Executor& executor, const Observer& observer) {
  GlsSystem system(data.pixels, data.sums, inverses);
  {
    GlsReader reader(data, part, system, executor, observer);
    for (std::size_t i = 0; i < data.source.observations(); ++i) {
      reader.add_observation(i);
      if (data.gaps == 0 || system.gaps() <= data.gaps) continue;
      throw Error(Status::kMemory, print("more samples are left out than the plan (--memory) is "
                                         "for: %zu of %zu",
                                         system.gaps(), data.gaps));
    }
  }
  data.source.rest();
  system.finish();
  std::optional<Checkpoint> checkpoint;
  if (!data.job.checkpoint.empty()) {
    checkpoint.emplace(gls_checkpoint(data.job, part), system_key(system), system.size(),
                       data.job.checkpoint_seconds, observer, data.company);
  }
  Solution found =
      system.solve(data.job.limits, executor, observer, checkpoint ? &*checkpoint : nullptr);
  return {
      .map = system.maps(found.x),
      .residuals = std::move(found.residuals),
      .converged = found.converged,
      .recalled = checkpoint ? checkpoint->recalled() : 0,
      .bytes = system.bytes(),
      .gaps = static_cast<std::size_t>(sum_of(data.company, static_cast<double>(system.gaps())))};
}

}  // namespace

void check_gls(const MapJob& job) {
  if (job.method != MapMethod::kGls) return;
  const struct {
    bool asked;
    const char* name;
  } others[] = {{job.binned_only, "--binned-only"},
                {job.prior, "--prior"},
                {job.backend == Backend::kCuda || job.backend == Backend::kEmulate, "--backend"}};
  for (const auto& other : others) {
    if (!other.asked) continue;
    throw Error(Status::kUsage,
                std::string("--method gls with ") + other.name + ": expected one of them");
  }
}

std::string gls_checkpoint(const MapJob& job, std::optional<std::size_t> part) {
  return part ? print("%s.part%zu", job.checkpoint.c_str(), *part + 1) : job.checkpoint;
}

GlsMap solve_gls(const GlsData& data, Executor& executor, const Observer& observer) {
  return solve(data, {}, data.pixels.inverses(), executor, observer);
}

GlsMap solve_gls_part(const GlsData& data, std::size_t part, const SkySums& sums,
                      Executor& executor, const Observer& observer) {
  return solve(data, part,
               data.pixels.part_inverses(sums, data.job.solve.least_reciprocal, executor), executor,
               observer);
}

}  // namespace skyloom
