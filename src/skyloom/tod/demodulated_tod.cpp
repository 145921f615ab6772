// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/demodulated_tod.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/filters/plate.hpp"
#include "skyloom/good_sample.hpp"
#include "skyloom/pointing/angle.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/detector_group.hpp"

namespace skyloom {
namespace {

constexpr const char* kWish = "--demodulate";
constexpr double kModulation = 4;    // turns of polarisation in a turn of the plate
constexpr double kPartOfBand = 0.5;  // by which what the plate modulates may be off its middle
constexpr double kApart =
    kTurn / DemodulatedTod::kStreams;  // of streams, in angles of polarisation

std::size_t kept(std::size_t samples, std::size_t skip) { return (samples + skip - 1) / skip; }

/// Stretches of what is kept; some may have none of it.
std::vector<Stretch> thinned(std::span<const Stretch> stretches, std::size_t skip) {
  std::vector<Stretch> out;
  for (const Stretch& stretch : stretches) {
    const Stretch one{kept(stretch.first, skip), kept(stretch.end, skip)};
    if (one.first < one.end) out.push_back(one);
  }
  return out;
}

/// Longer by `more` at either end; what touches then is one.
std::vector<Stretch> widened(std::span<const Stretch> stretches, std::size_t more,
                             std::size_t samples) {
  std::vector<Stretch> out;
  for (const Stretch& stretch : stretches) {
    const Stretch one{stretch.first - std::min(stretch.first, more),
                      std::min(samples, stretch.end + more)};
    if (!out.empty() && one.first <= out.back().end) {
      out.back().end = one.end;
    } else {
      out.push_back(one);
    }
  }
  return out;
}

/// Of a spectrum, on straight lines between its frequencies.
double psd_at(const NoisePsd& noise, double frequency_hz) {
  const auto& f = noise.frequency_hz;
  const auto above = std::upper_bound(f.begin(), f.end(), frequency_hz);
  if (above == f.begin()) return noise.psd.front();
  if (above == f.end()) return noise.psd.back();
  const auto i = static_cast<std::size_t>(above - f.begin());
  const double part = (frequency_hz - f[i - 1]) / (f[i] - f[i - 1]);
  return noise.psd[i - 1] + part * (noise.psd[i] - noise.psd[i - 1]);
}

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

struct DemodulatedTod::Work {
  DetectorGroup from;
  std::vector<double> cosine, sine;  ///< of four times the plate's angle from the detector's
  std::vector<double> slow, of_cosine, of_sine;
  std::vector<std::uint8_t> flags;
  DemodulationWork demodulation;
};

/// Of the observation that was prepared.
struct DemodulatedTod::Prepared {
  Boresight boresight;  ///< of all samples
  Demodulator demodulator;
  HarmonicFilter around_gaps;
  std::size_t turn;               ///< samples of one
  std::vector<Stretch> left_out;  ///< of what is kept: where the plate does not turn evenly
};

DemodulatedTod::DemodulatedTod(const TodSource& source, const DemodulationOptions& options,
                               const Observer& observer)
    : source_(source), options_(options) {
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& at = source.observation(i);
    const Boresight boresight = source.boresight(i);
    plates_.push_back(even_turns(plate_angles(boresight, at.samples, at.name, kWish),
                                 kPartOfBand * options.cut / kModulation, at.name, kWish));
    check(i, plates_[i].turns);
    // there streams end, and the filters have ends
    plates_[i].uneven =
        widened(plates_[i].uneven, filter_length(options.cut * plates_[i].turns), at.samples);
    observations_.push_back(streams_of(i, plates_[i].turns));
  }
  tell_of_left_out(observer);
}

void DemodulatedTod::check(std::size_t number, double turns) const {
  const Observation& at = source_.observation(number);
  check_plate_rate(turns, kModulation + options_.cut, at.plane.rate_hz, at.name, kWish);
  if (options_.cut * turns * static_cast<double>(options_.skip) < 0.5) return;
  throw Error(Status::kUsage,
              print("%s: --demod-skip %zu: streams of %g Hz would be kept at %g Hz: expected "
                    "more than twice as often",
                    at.name.c_str(), options_.skip, options_.cut * turns * at.plane.rate_hz,
                    at.plane.rate_hz / static_cast<double>(options_.skip)));
}

bool DemodulatedTod::too_short(std::size_t number) const {
  const std::size_t ends = 2 * filter_length(options_.cut * plates_[number].turns);
  return source_.observation(number).samples <= ends;
}

void DemodulatedTod::tell_of_left_out(const Observer& observer) const {
  std::size_t short_ones = 0, uneven = 0, samples = 0;
  std::string shortest, where;
  for (std::size_t i = 0; i < observations_.size(); ++i) {
    const Observation& at = source_.observation(i);
    if (too_short(i)) {
      ++short_ones;
      shortest = print("%s: %zu samples, the ends of its filters for %s are %zu", at.name.c_str(),
                       at.samples, kWish, 2 * filter_length(options_.cut * plates_[i].turns));
      continue;
    }
    samples += at.samples;
    if (!plates_[i].uneven.empty() && where.empty()) where = at.name;
    for (const Stretch& stretch : plates_[i].uneven) uneven += stretch.end - stretch.first;
  }
  if (short_ones > 0 && short_ones == observations_.size()) throw Error(kNoGoodData, shortest);
  if (short_ones > 0) {
    observer.warn(print("%zu observations are left out: %s", short_ones, shortest.c_str()));
  }
  if (uneven > 0) {
    observer.warn(
        print("%zu of %zu samples of the half-wave plate are left out: it does not turn "
              "evenly there (%s)",
              uneven, samples, where.c_str()));
  }
}

DemodulatedTod::~DemodulatedTod() = default;

Observation DemodulatedTod::streams_of(std::size_t number, double turns) const {
  Observation out = source_.observation(number);
  const double rate = out.plane.rate_hz;
  std::vector<Detector> streams;
  for (std::size_t d = 0; d < out.plane.detectors.size(); ++d) {
    Detector of = out.plane.detectors[d];
    const Quaternion place = of.place;
    // I has the spectrum P, R and S have 2 P each: so each stream has 3 P (algorithm.md)
    const double psd = psd_at(source_.noise(number, d), kModulation * turns * rate);
    of.noise = {.net = std::sqrt(kStreams * psd)};
    of.common_psd = 0;
    for (std::size_t k = 0; k < kStreams; ++k) {
      of.place = place * about_z(static_cast<double>(k) * kApart / 2);
      streams.push_back(of);
    }
  }
  out.plane.detectors = std::move(streams);
  out.plane.rate_hz = rate / static_cast<double>(options_.skip);
  out.samples = kept(out.samples, options_.skip);
  out.commons = nullptr;
  std::vector<Stretch> stretches = thinned(out.stretches, options_.skip);
  // none is left: everything is left out, and one stretch of it is as good as none
  if (stretches.empty() && !out.stretches.empty()) stretches.push_back({0, 1});
  out.stretches = std::move(stretches);
  return out;
}

Boresight DemodulatedTod::boresight(std::size_t number) const {
  const Boresight all = source_.boresight(number);
  const std::size_t n = observations_[number].samples;
  Boresight out(kBoresightRows, n);
  for (std::size_t j = 0; j < n; ++j) set_quaternion(out, j, quaternion_at(all, j * options_.skip));
  return out;
}

std::shared_ptr<const GroundMotion> DemodulatedTod::motion(std::size_t number) const {
  const auto all = source_.motion(number);
  if (!all) return nullptr;
  auto out = std::make_shared<GroundMotion>();
  for (std::size_t i = 0; i < all->azimuth.size(); i += options_.skip) {
    out->azimuth.push_back(all->azimuth[i]);
  }
  return out;
}

void DemodulatedTod::prepare(std::size_t number, const Boresight& /*boresight*/, Executor& executor,
                             const Observer& observer) const {
  prepared_.reset();
  Boresight all = source_.boresight(number);
  source_.prepare(number, all, executor, observer);
  if (too_short(number)) return;  // filters might be of any length
  const std::span<const double> angles(all.row(kPlateAngle), source_.observation(number).samples);
  HarmonicFilter around_gaps(gap_template(), angles, {});
  prepared_ = std::make_unique<const Prepared>(
      Prepared{.boresight = std::move(all),
               .demodulator = Demodulator(options_, plates_[number].turns),
               .around_gaps = std::move(around_gaps),
               .turn = static_cast<std::size_t>(std::ceil(1 / plates_[number].turns)),
               .left_out = thinned(plates_[number].uneven, options_.skip)});
}

void DemodulatedTod::demodulate(const Detector& detector, const Signal& from,
                                std::span<const Signal> to, Work& work) const {
  const std::size_t n = from.values.size(), m = to[0].values.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (!is_signal(from.values[i])) from.flags[i] = 1;
  }
  const double* const h_cos = prepared_->boresight.row(kPlateAngle + 1);
  const double* const h_sin = prepared_->boresight.row(kPlateAngle + 2);
  const double c = std::cos(4 * detector.gamma), s = std::sin(4 * detector.gamma);
  work.cosine.resize(n);
  work.sine.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    work.cosine[i] = h_cos[i] * c + h_sin[i] * s;
    work.sine[i] = h_sin[i] * c - h_cos[i] * s;
  }
  fill_gaps(prepared_->around_gaps, prepared_->turn, from.values, from.flags);
  // an offset is no signal, but the filters' stop band lets a thousandth of it through
  const double mean = mean_of(from.values);
  for (double& value : from.values) value -= mean;
  work.slow.resize(m);
  work.of_cosine.resize(m);
  work.of_sine.resize(m);
  prepared_->demodulator.apply(from.values, {work.cosine, work.sine}, work.demodulation,
                               {work.slow, work.of_cosine, work.of_sine});
  work.flags.resize(m);
  prepared_->demodulator.flag(from.flags, work.flags);
  for (const Stretch& out : prepared_->left_out) {
    std::fill_n(work.flags.data() + out.first, out.end - out.first, std::uint8_t{1});
  }
  for (std::size_t k = 0; k < to.size(); ++k) {
    const double a = std::cos(static_cast<double>(k) * kApart);
    const double b = std::sin(static_cast<double>(k) * kApart);
    for (std::size_t j = 0; j < m; ++j) {
      to[k].values[j] = mean + work.slow[j] + a * work.of_cosine[j] + b * work.of_sine[j];
    }
    std::copy(work.flags.begin(), work.flags.end(), to[k].flags.begin());
  }
}

void DemodulatedTod::read(std::size_t number, const Boresight& /*boresight*/, std::size_t first,
                          std::span<const Signal> signals) const {
  const Observation& from = source_.observation(number);
  if (too_short(number)) {
    for (const Signal& signal : signals) {
      std::fill(signal.values.begin(), signal.values.end(), 0.0);
      std::fill(signal.flags.begin(), signal.flags.end(), std::uint8_t{1});
    }
    return;
  }
  auto work = works_.borrow();
  const std::size_t begin = first / kStreams;
  const auto raw = work->from.room(from.samples, signals.size() / kStreams, source_.group());
  source_.read(number, prepared_->boresight, begin, raw);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    demodulate(from.plane.detectors[begin + i], raw[i], signals.subspan(i * kStreams, kStreams),
               *work);
  }
}

std::size_t DemodulatedTod::work_bytes() const {
  const std::size_t longest = longest_observation(source_);
  // samples with flags; carriers; band, product and what passed; gaps, streams and flags
  const std::size_t sample = source_.group() * 9 + 16 + 24 + 1 + (24 + 1 + 8) / options_.skip;
  double slowest = 1;
  for (std::size_t i = 0; i < observations(); ++i) {
    if (!too_short(i)) slowest = std::min(slowest, plates_[i].turns);
  }
  const std::size_t taps = filter_length(options_.cut * slowest);
  return source_.work_bytes() + sample * longest + fft::ToeplitzFilter::work_bytes(taps / 2 + 1);
}

std::size_t DemodulatedTod::shared_bytes() const {
  return source_.shared_bytes() + sizeof(double) * longest_observation(source_) * (kPlateRows + 2);
}

void DemodulatedTod::rest() const {
  source_.rest();
  works_.clear();
  prepared_.reset();
}

}  // namespace skyloom
