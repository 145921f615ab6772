// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/filtered_tod.hpp"

#include <algorithm>
#include <cstdint>

#include "loom/base/error.hpp"
#include "loom/base/stop.hpp"
#include "skyloom/filters/plate.hpp"
#include "skyloom/filters/polynomial.hpp"
#include "skyloom/good_sample.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/tod/detector_group.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kBlock = 1 << 16;  // samples of a task that sums
constexpr std::size_t kAtHand = 4096;    // samples whose pixels are at hand

bool all_flagged(std::span<const std::uint8_t> flags) {
  return std::find(flags.begin(), flags.end(), std::uint8_t{0}) == flags.end();
}

std::vector<Stretch> stretches_of(const Observation& at) {
  return at.stretches.empty() ? std::vector<Stretch>{{0, at.samples}} : at.stretches;
}

/// What fitting together takes in a thread: at most.
double joint_bytes(const Observation& at, const FilterOptions& options, const GroundMotion* moved) {
  const JointWishes wishes = options.together(at.plane.rate_hz);
  const std::size_t given = options.own_templates();
  const std::size_t shared =
      given + most_shared(wishes, moved != nullptr ? moved->azimuth : std::span<const double>());
  const double own = wishes.polynomial ? static_cast<double>(*wishes.polynomial) + 1 : 0;
  return JointFilter::work_bytes(static_cast<double>(at.samples), own, static_cast<double>(shared),
                                 static_cast<double>(stretches_of(at).size()),
                                 static_cast<double>(given));
}

/// A stretch that a filter could not be fitted to.
std::size_t leave_out(std::span<std::uint8_t> flags) {
  const std::size_t counts = all_flagged(flags) ? 0 : 1;
  std::fill(flags.begin(), flags.end(), std::uint8_t{1});
  return counts;
}

}  // namespace

FilteredTod::FilteredTod(const TodSource& source, const FilterOptions& options)
    : source_(source), options_(options) {}

FilteredTod::Counts FilteredTod::read_own(std::size_t number, const Boresight& boresight,
                                          std::size_t first,
                                          std::span<const Signal> signals) const {
  source_.read(number, boresight, first, signals);
  Counts counts;
  if (joint_) return read_together(number, boresight, first, signals);
  const std::vector<Stretch> stretches = stretches_of(observation(number));
  for (const Signal& signal : signals) take_plate(stretches, signal, counts);
  for (const Signal& signal : signals) {
    if (!ground_ || ground_->subtract(signal.values, signal.flags)) continue;
    counts.failed += leave_out(signal.flags);
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
      counts.failed += leave_out(flags);
    }
  }
  return counts;
}

std::vector<std::vector<double>> FilteredTod::own_templates(std::size_t number,
                                                            const Boresight& boresight,
                                                            std::size_t detector) const {
  std::vector<std::vector<double>> out(options_.own_templates());
  if (out.empty()) return out;
  const Observation& at = observation(number);
  for (std::vector<double>& one : out) one.resize(at.samples);
  std::vector<Pixel> pixels(kAtHand);
  std::vector<double> q(kAtHand), u(kAtHand);
  for (std::size_t first = 0; first < at.samples; first += kAtHand) {
    const std::size_t n = std::min(kAtHand, at.samples - first);
    expand_pointing(boresight, first, at.plane.detectors[detector], options_.deproject->pixels,
                    {{pixels.data(), n}, {q.data(), n}, {u.data(), n}});
    for (std::size_t k = 0; k < out.size(); ++k) {
      const std::vector<float>& from = options_.deproject->columns[k];
      for (std::size_t i = 0; i < n; ++i) {
        out[k][first + i] = double{from[static_cast<std::size_t>(pixels[i])]};
      }
    }
  }
  return out;
}

FilteredTod::Counts FilteredTod::read_together(std::size_t number, const Boresight& boresight,
                                               std::size_t first,
                                               std::span<const Signal> signals) const {
  const Observation& at = observation(number);
  Counts counts;
  std::vector<double> without_plate;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const Signal& signal = signals[i];
    if (options_.deglitch.any()) {
      // the harmonics of each stretch would not be those of the fit: glitches are looked for in a
      // copy
      without_plate.assign(signal.values.begin(), signal.values.end());
      Counts of_glitches;
      take_plate(stretches_of(at), {without_plate, signal.flags}, of_glitches);
      counts.glitches += of_glitches.glitches;
    }
    counts.failed +=
        joint_->subtract(signal.values, signal.flags, own_templates(number, boresight, first + i));
  }
  return counts;
}

void FilteredTod::take_plate(std::span<const Stretch> stretches, const Signal& signal,
                             Counts& counts) const {
  for (std::size_t s = 0; s < stretches.size(); ++s) {
    const std::size_t first = stretches[s].first, n = stretches[s].end - first;
    const std::span<std::uint8_t> flags = signal.flags.subspan(first, n);
    if (options_.deglitch.any()) {
      if (plate_) (void)plate_->subtract(s, signal.values, signal.flags);  // said below
      counts.glitches += flag_glitches(options_.deglitch, signal.values.subspan(first, n), flags);
    }
    if (plate_ && !joint_ && !plate_->subtract(s, signal.values, signal.flags)) {
      counts.failed += leave_out(flags);
    }
  }
}

std::span<const double> FilteredTod::turning_angles(const Observation& at,
                                                    const Boresight& boresight) const {
  const std::string wish = "--hwp-harmonics";
  const std::span<const double> angles = plate_angles(boresight, at.samples, at.name, wish);
  check_plate_rate(plate_turns(angles, at.name, wish),
                   static_cast<double>(options_.plate.harmonics), at.plane.rate_hz, at.name, wish);
  return angles;
}

void FilteredTod::set_filters(std::size_t number, const Boresight& boresight) const {
  const Observation& at = observation(number);
  const std::vector<Stretch> stretches = stretches_of(at);
  std::span<const double> angles, azimuth;
  if (options_.plate.any()) angles = turning_angles(at, boresight);
  const auto moved = motion(number);
  if (options_.ground.any()) {
    if (!moved || moved->azimuth.size() != at.samples) {
      throw Error(Status::kMissingHdu,
                  at.name + ": no azimuths, which a filter of the ground asks for");
    }
    azimuth = moved->azimuth;
  }
  const bool together = options_.joint.on;
  if (options_.plate.any() && (!together || options_.deglitch.any())) {
    plate_ = std::make_unique<const HarmonicFilter>(options_.plate, angles, stretches);
  }
  if (options_.ground.any() && !together) {
    ground_ = std::make_unique<const GroundFilter>(options_.ground, azimuth);
  }
  const JointWishes wishes = options_.together(at.plane.rate_hz);
  if (together && (wishes.any() || options_.own_templates() > 0)) {
    joint_ =
        std::make_unique<const JointFilter>(options_.joint, wishes, azimuth, angles, stretches);
  }
}

std::size_t FilteredTod::work_bytes() const {
  std::size_t of_sample = options_.deglitch.any() ? 4 * sizeof(double) : 0;
  if (options_.joint.on && options_.deglitch.any()) of_sample += sizeof(double);  // a copy
  double fits = 0;
  for (std::size_t i = 0; i < observations() && options_.joint.on; ++i) {
    fits = std::max(fits, joint_bytes(observation(i), options_, motion(i).get()));
  }
  return source_.work_bytes() + of_sample * longest_observation(*this) +
         static_cast<std::size_t>(fits);
}

std::size_t FilteredTod::shared_bytes() const {
  return source_.shared_bytes() +
         (options_.plate.any() ? 2 * sizeof(double) * longest_observation(*this) : 0) +
         (options_.deproject ? options_.own_templates() * sizeof(float) *
                                   static_cast<std::size_t>(options_.deproject->pixels.pixels())
                             : 0);
}

void FilteredTod::prepare(std::size_t number, const Boresight& boresight, Executor& executor,
                          const Observer& observer) const {
  source_.prepare(number, boresight, executor, observer);
  set_filters(number, boresight);
  if (!options_.common_mode) return;
  const std::size_t samples = observation(number).samples;
  const std::size_t detectors = observation(number).plane.detectors.size();
  common_.assign(samples, 0);
  std::vector<std::uint32_t> hits(samples, 0);
  const std::size_t one = group(), at_once = one * executor.concurrency();
  std::vector<DetectorGroup> groups(executor.concurrency());
  for (std::size_t first = 0; first < detectors; first += at_once) {
    stop_if_asked(observer);
    const std::size_t n = std::min(at_once, detectors - first);
    executor.run((n + one - 1) / one, [&](std::size_t g) {
      (void)read_own(number, boresight, first + one * g, groups[g].room(samples, n - one * g, one));
    });
    // detector after detector at each sample: the same sums for any number of threads
    executor.run((samples + kBlock - 1) / kBlock, [&](std::size_t block) {
      const std::size_t end = std::min(samples, (block + 1) * kBlock);
      for (std::size_t d = 0; d < n; ++d) {
        const std::vector<double>& values = groups[d / one].values[d % one];
        const std::vector<std::uint8_t>& flags = groups[d / one].flags[d % one];
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
  plate_.reset();
  joint_.reset();
  ground_.reset();
  std::vector<double>().swap(common_);
}

}  // namespace skyloom
