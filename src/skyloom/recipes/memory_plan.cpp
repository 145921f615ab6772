// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/memory_plan.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/runtime/usage.hpp"
#include "skyloom/gpu/device_compression.hpp"
#include "skyloom/recipes/sample_pointing.hpp"

namespace skyloom {
namespace {

constexpr double kMargin = 1.25;  // of other detectors' runs over the first one's
constexpr double kAlways = 12e6;  // code that is still to be loaded, stacks, small blocks
// Bytes. Vectors that grow have up to twice what they hold.
constexpr double kKeptRun = 24 + 8 + 12;               // run, signal, its segment
constexpr double kFreshRun = 2 * (24 + 48 + 12) + 48;  // with products, and visits to be sorted
constexpr double kSortedRun = 24 + 2 * 24 + 2 * 16 + 4 + 8;  // of the system, with visits and parts
constexpr double kPixelSums = 2 * sizeof(PixelSums), kPixelSystem = 48 + 2 * 24;
constexpr double kTile = 64, kHitTile = 512;
constexpr double kBaseline = 200, kPriorBaseline = 1000;
constexpr double kStream = 400;
constexpr double kSharedPixel = 24;  // of ranks: on its way to another one

/// What the data ask for, whatever the threads.
struct Amounts {
  double samples = 0, runs = 0, runs_of_stream = 0, baselines = 0, streams = 0, longest = 0;
  double most_rate = 0;
  double work_bytes = 0, shared_bytes = 0;  // of a thread that reads, and of all of them together
  double group = 2, group_bytes = 18;       ///< detectors that are read together; samples and flags
  bool plate = false;
};

/// Runs of a detector: its changes of pixel and of baseline.
std::size_t count_runs(const Observation& observation, const Detector& detector,
                       const Boresight& boresight, const SkyGrid& sky, std::size_t step) {
  SamplePointing pointing;
  std::size_t runs = 0;
  Pixel before = -1;
  pointing.over(boresight, detector, sky, 0, observation.samples,
                [&](std::size_t first, const Pointing& at) {
                  for (std::size_t i = 0; i < at.pixels.size(); ++i) {
                    const bool begins = step > 0 && (first + i) % step == 0;
                    runs += begins || at.pixels[i] != before ? 1 : 0;
                    before = at.pixels[i];
                  }
                });
  return runs;
}

Amounts amounts_of(const TodSource& source, const MapJob& job) {
  const SkyGrid sky = grid_of(job);
  Amounts sum;
  sum.work_bytes = static_cast<double>(source.work_bytes());
  sum.shared_bytes = static_cast<double>(source.shared_bytes());
  sum.group = static_cast<double>(source.group());
  sum.group_bytes = 9 * sum.group;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& observation = source.observation(i);
    const auto detectors = static_cast<double>(observation.plane.detectors.size());
    const auto samples = static_cast<double>(observation.samples);
    sum.longest = std::max(sum.longest, samples);
    sum.most_rate = std::max(sum.most_rate, observation.plane.rate_hz);
    sum.streams += detectors;
    if (detectors == 0) continue;
    const Boresight boresight = source.boresight(i);
    sum.plate = sum.plate || has_plate(boresight);
    const std::size_t step = baseline_samples(observation, job.step_s);
    const std::size_t first =
        count_runs(observation, observation.plane.detectors[0], boresight, sky, step);
    const double runs = std::min(samples, std::ceil(kMargin * static_cast<double>(first)));
    sum.runs += detectors * runs;
    sum.runs_of_stream = std::max(sum.runs_of_stream, runs);
    sum.baselines += detectors * (step > 0 ? std::ceil(samples / static_cast<double>(step)) : 1);
  }
  return sum;
}

/// Of --method gls beside the offset system that tells of its pixels, and reading once more. Parts
/// are solved one after the other.
double gls_bytes(const Amounts& data, double pixels, const TodSource& source, const MapJob& job,
                 std::size_t parts, double threads) {
  const double gaps = static_cast<double>(planned_gaps(source)), samples = 4 * gaps + 4;
  const double reach = std::min(data.longest, job.correlation_s * data.most_rate);
  const double piece = 16 * 8 * 5 * std::max(64.0, 8 * (reach + 1));  // of transforms
  const double maps = 24 * static_cast<double>(parts + 1) + (parts > 0 ? 48 : 0);
  return 2 * 12 * samples + 5 * 8 * (gaps + 3 * pixels) + (maps + kSharedPixel) * pixels +
         threads * (piece + 4 * 8 * data.longest + 2 * 12 * data.longest);
}

/// Of a device's system, as it is made ready on the host; emulated it is there itself.
double device_bytes(const Amounts& data, double pixels, Backend backend) {
  if (backend == Backend::kCpu) return 0;
  const double made = 12 * data.runs + 64 * pixels;
  return backend == Backend::kEmulate ? made + 64 * data.runs + 80 * pixels + 72 * data.baselines
                                      : made;
}

/// Of pointing and compression on a device with so many threads, on the host; emulated it is there
/// itself.
double device_reading_bytes(const Amounts& data, Backend backend, double threads) {
  if (backend == Backend::kCpu) return 0;
  constexpr double kStaging = 1 << 22, kOfPiece = 40.0 / 64;  // facts and plans of so many samples
  const double host = threads * (kStaging + kOfPiece * data.longest + 4 * data.runs_of_stream);
  if (backend != Backend::kEmulate) return host;
  return host + DeviceCompression::shared_bytes(data.longest, data.plate) +
         threads * DeviceCompression::work_bytes(data.longest, 1.25 * data.runs_of_stream);
}

/// At most, with so many threads.
double bytes_of(const Amounts& data, const TodSource& source, const MapJob& job, std::size_t parts,
                double threads) {
  const SkyGrid grid = grid_of(job);
  const auto tiles = static_cast<double>(grid.tiles());
  const double all = std::ldexp(tiles, grid.tile_shift());
  const double pixels = std::min(all, data.runs);
  const double sums = tiles * kTile + std::min(tiles, data.runs) * kHitTile + pixels * kPixelSums;
  const double kept = static_cast<double>(parts + 1) * sums + data.runs * kKeptRun +
                      data.streams * kStream + 4 * data.baselines;
  const double rows = static_cast<double>(data.plate ? kPlateRows : kBoresightRows);
  const double common = (job.filters.common_mode ? 12 + data.group_bytes * threads : 0) +
                        (job.filters.ground.any() ? 12 + 24 : 0);  // templates, and the motion
  const double shared = data.longest * (8 * rows + 40 + common);   // 40: as it is read from a file
  const double of_source =
      shared + data.shared_bytes + threads * (data.longest * data.group_bytes + data.work_bytes);
  const double reading = of_source + device_reading_bytes(data, job.backend, threads) +
                         threads * data.group * kGroupsAtOnce * data.runs_of_stream * kFreshRun;
  const double gls = job.method == MapMethod::kGls
                         ? of_source + gls_bytes(data, pixels, source, job, parts, threads)
                         : 0;
  const double solving = gls + device_bytes(data, pixels, job.backend) + data.runs * kSortedRun +
                         pixels * kPixelSystem +
                         data.baselines * (job.prior ? kPriorBaseline : kBaseline);
  return static_cast<double>(peak_memory_bytes()) + kAlways + kept + std::max(reading, solving);
}

}  // namespace

std::size_t baseline_samples(const Observation& observation, double step_s) {
  const double samples = std::round(step_s * observation.plane.rate_hz);
  if (step_s > 0 && samples < 1) {
    throw Error(Status::kUsage, print("--step %g: shorter than a sample of %s, %g s", step_s,
                                      observation.name.c_str(), 1 / observation.plane.rate_hz));
  }
  return samples < static_cast<double>(observation.samples) ? static_cast<std::size_t>(samples) : 0;
}

std::size_t planned_gaps(const TodSource& source) {
  std::size_t samples = 0;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    samples += source.observation(i).samples * source.observation(i).plane.detectors.size();
  }
  return samples / 4;
}

MemoryPlan plan_memory(const TodSource& source, const MapJob& job, std::size_t parts,
                       std::size_t threads, const MatrixPlan& matrix) {
  const Amounts data = amounts_of(source, job);
  MemoryPlan plan{.threads = threads, .runs = static_cast<std::size_t>(data.runs)};
  for (;; --plan.threads) {
    const auto at_once = static_cast<double>(plan.threads);
    const double bytes = bytes_of(data, source, job, parts, at_once) + matrix.streams +
                         matrix.matrix + at_once * matrix.work;
    plan.bytes = static_cast<std::uint64_t>(bytes);
    if (plan.bytes <= job.memory) return plan;
    if (plan.threads == 1) break;
  }
  throw Error(Status::kMemory, print("these maps take up to %s, %s are granted (--memory)",
                                     gigabytes(plan.bytes).c_str(), gigabytes(job.memory).c_str()));
}

}  // namespace skyloom
