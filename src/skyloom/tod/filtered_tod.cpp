// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/filtered_tod.hpp"

#include <algorithm>
#include <cstdint>

#include "loom/base/error.hpp"
#include "loom/base/stop.hpp"
#include "skyloom/filters/polynomial.hpp"
#include "skyloom/good_sample.hpp"
#include "skyloom/tod/detector_pair.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kBlock = 1 << 16;  // samples of a task that sums

bool all_flagged(std::span<const std::uint8_t> flags) {
  return std::find(flags.begin(), flags.end(), std::uint8_t{0}) == flags.end();
}

}  // namespace

FilteredTod::FilteredTod(const TodSource& source, const FilterOptions& options)
    : source_(source), options_(options) {}

FilteredTod::Counts FilteredTod::read_own(std::size_t number, const Boresight& boresight,
                                          std::size_t first,
                                          std::span<const Signal> signals) const {
  source_.read(number, boresight, first, signals);
  Counts counts;
  const Observation& at = observation(number);
  const Stretch all[] = {{0, at.samples}};
  const std::span<const Stretch> stretches =
      at.stretches.empty() ? std::span<const Stretch>(all) : at.stretches;
  for (const Signal& signal : signals) {
    if (!options_.deglitch.any()) break;
    for (const Stretch& stretch : stretches) {
      const std::size_t n = stretch.end - stretch.first;
      counts.glitches += flag_glitches(options_.deglitch, signal.values.subspan(stretch.first, n),
                                       signal.flags.subspan(stretch.first, n));
    }
  }
  for (const Signal& signal : signals) {
    if (!ground_ || ground_->subtract(signal.values, signal.flags)) continue;
    counts.failed += all_flagged(signal.flags) ? 0 : 1;
    std::fill(signal.flags.begin(), signal.flags.end(), std::uint8_t{1});
  }
  if (!options_.polynomial) return counts;
  for (const Signal& signal : signals) {
    for (const Stretch& stretch : stretches) {
      const std::size_t n = stretch.end - stretch.first;
      const std::span<std::uint8_t> flags = signal.flags.subspan(stretch.first, n);
      if (subtract_polynomial(*options_.polynomial, signal.values.subspan(stretch.first, n),
                              flags)) {
        continue;
      }
      counts.failed += all_flagged(flags) ? 0 : 1;
      std::fill(flags.begin(), flags.end(), std::uint8_t{1});
    }
  }
  return counts;
}

void FilteredTod::prepare(std::size_t number, const Boresight& boresight, Executor& executor,
                          const Observer& observer) const {
  source_.prepare(number, boresight, executor, observer);
  if (options_.ground.any()) {
    const auto moved = motion(number);
    if (!moved || moved->azimuth.size() != observation(number).samples) {
      throw Error(Status::kMissingHdu, observation(number).name +
                                           ": no azimuths, which a filter of the ground asks for");
    }
    ground_ = std::make_unique<const GroundFilter>(options_.ground, moved->azimuth);
  }
  if (!options_.common_mode) return;
  const std::size_t samples = observation(number).samples;
  const std::size_t detectors = observation(number).plane.detectors.size();
  common_.assign(samples, 0);
  std::vector<std::uint32_t> hits(samples, 0);
  const std::size_t pairs_at_once = executor.concurrency();
  std::vector<DetectorPair> pairs(pairs_at_once);
  for (std::size_t first = 0; first < detectors; first += 2 * pairs_at_once) {
    stop_if_asked(observer);
    const std::size_t n = std::min(2 * pairs_at_once, detectors - first);
    executor.run((n + 1) / 2, [&](std::size_t p) {
      (void)read_own(number, boresight, first + 2 * p, pairs[p].room(samples, n - 2 * p));
    });
    // detector after detector at each sample: the same sums for any number of threads
    executor.run((samples + kBlock - 1) / kBlock, [&](std::size_t block) {
      const std::size_t end = std::min(samples, (block + 1) * kBlock);
      for (std::size_t d = 0; d < n; ++d) {
        const std::vector<double>& values = pairs[d / 2].values[d % 2];
        const std::vector<std::uint8_t>& flags = pairs[d / 2].flags[d % 2];
        for (std::size_t i = block * kBlock; i < end; ++i) {
          const bool good = takes_part(values[i], flags[i]);
          common_[i] += good ? values[i] : 0;
          hits[i] += good ? 1 : 0;
        }
      }
    });
  }
  for (std::size_t i = 0; i < samples; ++i) common_[i] /= std::max<std::uint32_t>(hits[i], 1);
}

void FilteredTod::read(std::size_t number, const Boresight& boresight, std::size_t first,
                       std::span<const Signal> signals) const {
  const Counts counts = read_own(number, boresight, first, signals);
  failed_ += counts.failed;
  glitches_ += counts.glitches;
  if (!options_.common_mode) return;
  for (const Signal& signal : signals) {
    for (std::size_t i = 0; i < signal.values.size(); ++i) signal.values[i] -= common_[i];
  }
}

void FilteredTod::rest() const {
  source_.rest();
  ground_.reset();
  std::vector<double>().swap(common_);
}

}  // namespace skyloom
