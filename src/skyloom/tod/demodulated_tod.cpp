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
constexpr double kApart =
    kTurn / DemodulatedTod::kStreams;  // of streams, in angles of polarisation

std::size_t kept(std::size_t samples, std::size_t skip) { return (samples + skip - 1) / skip; }

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
  std::size_t turn;  ///< samples of one
};

DemodulatedTod::DemodulatedTod(const TodSource& source, const DemodulationOptions& options,
                               const Observer& observer)
    : source_(source), options_(options) {
  std::size_t too_short = 0;
  std::string shortest;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& at = source.observation(i);
    const Boresight boresight = source.boresight(i);
    if (!has_plate(boresight)) {
      throw Error(Status::kMissingHdu,
                  at.name + ": no angles of a half-wave plate, which " + kWish + " asks for");
    }
    const double turns = plate_turns({boresight.row(kPlateAngle), at.samples}, at.name, kWish);
    check_plate_rate(turns, 4 + options.cut, at.plane.rate_hz, at.name, kWish);
    if (options.cut * turns * static_cast<double>(options.skip) >= 0.5) {
      throw Error(Status::kUsage,
                  print("%s: --demod-skip %zu: streams of %g Hz would be kept at %g Hz: expected "
                        "more than twice as often",
                        at.name.c_str(), options.skip, options.cut * turns * at.plane.rate_hz,
                        at.plane.rate_hz / static_cast<double>(options.skip)));
    }
    turns_.push_back(turns);
    observations_.push_back(streams_of(i, turns));
    const std::size_t ends = 2 * filter_length(options.cut * turns);
    if (at.samples > ends) continue;
    ++too_short;
    shortest = print("%s: %zu samples, the ends of its filters for %s are %zu", at.name.c_str(),
                     at.samples, kWish, ends);
  }
  if (too_short == 0) return;
  if (too_short == observations_.size()) throw Error(kNoGoodData, shortest);
  observer.warn(print("%zu observations are left out: %s", too_short, shortest.c_str()));
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
    const double psd = psd_at(source_.noise(number, d), 4 * turns * rate);
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
  std::vector<Stretch> stretches;
  for (const Stretch& stretch : out.stretches) {
    const Stretch one{kept(stretch.first, options_.skip), kept(stretch.end, options_.skip)};
    if (one.first < one.end) stretches.push_back(one);
  }
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
  const std::span<const double> angles(all.row(kPlateAngle), source_.observation(number).samples);
  HarmonicFilter around_gaps(gap_template(), angles, {});
  prepared_ = std::make_unique<const Prepared>(
      Prepared{.boresight = std::move(all),
               .demodulator = Demodulator(options_, turns_[number]),
               .around_gaps = std::move(around_gaps),
               .turn = static_cast<std::size_t>(std::ceil(1 / turns_[number]))});
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
  std::size_t longest = 0;
  for (std::size_t i = 0; i < observations(); ++i) {
    longest = std::max(longest, source_.observation(i).samples);
  }
  // samples with flags; carriers; band, product and what passed; gaps, streams and flags
  const std::size_t sample = source_.group() * 9 + 16 + 24 + 1 + (24 + 1 + 8) / options_.skip;
  double slowest = 1;
  for (const double turns : turns_) slowest = std::min(slowest, turns);
  const std::size_t taps = filter_length(options_.cut * slowest);
  return source_.work_bytes() + sample * longest + fft::ToeplitzFilter::work_bytes(taps / 2 + 1);
}

std::size_t DemodulatedTod::shared_bytes() const {
  std::size_t longest = 0;
  for (std::size_t i = 0; i < observations(); ++i) {
    longest = std::max(longest, source_.observation(i).samples);
  }
  return source_.shared_bytes() + sizeof(double) * longest * (kPlateRows + 2);
}

void DemodulatedTod::rest() const {
  source_.rest();
  works_.clear();
  prepared_.reset();
}

}  // namespace skyloom
