// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/simulated_tod.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "loom/base/print.hpp"
#include "skyloom/ground/direction_table.hpp"
#include "skyloom/ground/earth_orbit.hpp"
#include "skyloom/pointing/angle.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/random/name_uid.hpp"
#include "skyloom/sky/dipole.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kChunk = 4096;  // samples whose pointing is at hand
constexpr double kMostSamples = 1e9;

FocalPlane plane_of(const SimulationOptions& options) {
  const FocalPlane* const given = options.given.get();
  const std::vector<std::string> here =
      given ? given->groups : std::vector<std::string>{kPixelGroups};
  for (const std::string& by : common_columns(commons_of(options))) {
    if (std::find(here.begin(), here.end(), by) != here.end()) continue;
    const bool first = options.common.any() && by == options.common.by;
    throw Error(Status::kUsage, (first ? "--common-by " : "--common-also: ") + by +
                                    ": the focal plane has no such column" +
                                    (given ? "" : ": expected " + std::string(kPixelGroups)));
  }
  if (given == nullptr) return hexagon(options.plane);
  FocalPlane plane = *given;
  plane.rate_hz = options.plane.rate_hz;
  return plane;
}

/// What an observation of a scan has in time.
struct ScanSpan {
  std::size_t samples = 0;
  double start_s = 0;
};

ScanSpan span_of(const GroundScan& scan, const MountOptions& mount, double rate_hz) {
  ScanSpan out{scan_samples(scan, rate_hz), scan.start_s};
  if (out.samples < 2 || static_cast<double>(out.samples) >= kMostSamples) {
    throw Error(Status::kUsage, print("%s: %zu samples an observation: expected 2 to %g",
                                      scan.session().c_str(), out.samples, kMostSamples));
  }
  if (mount.nods.steps_deg.empty()) return out;
  const GroundMotion moved = sweep_mount(scan, mount, rate_hz);
  return {moved.azimuth.size(), moved.start_s(scan, rate_hz)};
}

}  // namespace

std::vector<CommonOptions> commons_of(const SimulationOptions& options) {
  std::vector<CommonOptions> out;
  if (options.common.any()) out.push_back(options.common);
  for (std::size_t i = 0; i < options.more_commons.size(); ++i) {
    try {
      out.push_back(common_of(options.more_commons[i], i + 1));
    } catch (const Error& error) {
      throw Error(error.status(), std::string("--common-also ") + error.what());
    }
  }
  return out;
}

struct SimulatedTod::Work {
  std::vector<Pixel> pixels = std::vector<Pixel>(kChunk);
  std::vector<double> q = std::vector<double>(kChunk), u = std::vector<double>(kChunk);
  std::vector<double> seen, gain;
};

SimulatedTod::SimulatedTod(const SimulationOptions& options, std::shared_ptr<const SkyMap> sky)
    : options_(options), sky_(std::move(sky)), noise_(options.realization, commons_of(options)) {
  if ((options.common.any() || !options.more_commons.empty()) && !options.noise) {
    throw Error(Status::kUsage,
                "--common-net or --common-also with --no-noise: expected one of them");
  }
  if (options.plate.any() && options.scan.plate_rpm == 0) {
    throw Error(Status::kUsage, "--hwpss: expected --hwp-rpm, a half-wave plate that turns");
  }
  if (options.schedule) {
    add_ground();
  } else {
    add_satellite();
  }
}

SimulatedTod::~SimulatedTod() = default;

void SimulatedTod::add_satellite() {
  const SimulationOptions& options = options_;
  const double samples = std::floor(options.observation_minutes * 60 * options.plane.rate_hz + 0.5);
  if (!(samples >= 2 && samples < kMostSamples)) {
    throw Error(Status::kUsage,
                print("%g samples an observation: expected 2 to %g", samples, kMostSamples));
  }
  const FocalPlane plane = plane_of(options);
  for (std::size_t i = 0; i < options.observations; ++i) {
    Observation observation{.name = print("satellite_%06zu", i),
                            .session = print("satellite_%06zu", i),
                            .plane = plane,
                            .samples = static_cast<std::size_t>(samples)};
    observation.first = static_cast<std::int64_t>(i * observation.samples);
    observation.start_s = options.start_s + static_cast<double>(observation.first) / plane.rate_hz;
    add_observation(std::move(observation));
  }
}

void SimulatedTod::add_ground() {
  const GroundSchedule& schedule = *options_.schedule;
  const FocalPlane plane = plane_of(options_);
  Site site = schedule.site;
  site.ut1_minus_utc_s = options_.ut1_minus_utc_s;
  std::set<std::string> names;
  double free = -INFINITY;  // Unix time at which the last observation has ended
  if (options_.ground.any()) {
    const std::uint32_t uid = name_uid(schedule.telescope_name);
    ground_.emplace(options_.ground,
                    StreamName{.realization = options_.realization, .telescope = uid});
  }
  for (const GroundScan& scan : schedule.scans) {
    const ScanSpan span = span_of(scan, options_.mount, plane.rate_hz);
    if (span.start_s < scan.start_s && span.start_s < free) {
      throw Error(Status::kUsage, "--elnod: " + scan.session() +
                                      " would begin before the one before it has ended: expected "
                                      "more time between scans");
    }
    free = span.start_s + static_cast<double>(span.samples) / plane.rate_hz;
    Observation observation{.name = scan.session(),
                            .session = scan.session(),
                            .telescope = schedule.telescope_name,
                            .plane = plane,
                            .samples = span.samples,
                            .start_s = span.start_s,
                            .ground = GroundPlan{schedule.site_name, site, scan}};
    if (!names.insert(observation.name).second) {
      throw Error(Status::kUsage, "two scans called " + observation.name +
                                      ": expected one of each patch, pass and sub");
    }
    add_observation(std::move(observation));
    if (options_.stretches.empty()) continue;
    // the Sun is looked for where its intervals are asked for alone: that takes longer
    const GroundMotion sweeps = sweep_mount(scan, options_.mount, plane.rate_hz);
    const std::vector<Stretch>* found = sweeps.interval(options_.stretches);
    const auto moved = found == nullptr ? motion(observations_.size() - 1) : nullptr;
    if (moved) found = moved->interval(options_.stretches);
    if (found == nullptr) {
      throw Error(Status::kUsage, "--intervals " + options_.stretches +
                                      ": expected scanning, throw or another one of the peer's");
    }
    // none at all: everything is left out, and one stretch of it is as good as none
    observations_.back().stretches = found->empty() ? std::vector<Stretch>{{0, 1}} : *found;
  }
}

void SimulatedTod::add_observation(Observation observation) {
  observation.uid = name_uid(observation.name);
  observation.session_uid = name_uid(observation.session);
  observation.telescope_uid = name_uid(observation.telescope);
  observation.frame = frame_letter(options_);
  if (options_.noise) noise_.expect(observation);
  observations_.push_back(std::move(observation));
}

std::size_t SimulatedTod::work_bytes() const {
  return noise_.work_bytes() +
         (options_.gain.any() ? 2 * sizeof(double) * longest_observation(*this) : 0);
}

std::size_t SimulatedTod::shared_bytes() const {
  std::size_t of_atmosphere = 0, of_ground = 0;
  for (const Observation& observation : observations_) {
    if (ground_) of_ground = std::max(of_ground, kPlateRows * sizeof(double) * observation.samples);
    if (!options_.atmosphere.any() || !observation.ground) continue;
    const GroundScan& scan = observation.ground->scan;
    const GroundMotion sweeps = sweep_mount(scan, options_.mount, observation.plane.rate_hz);
    of_atmosphere =
        std::max(of_atmosphere, Atmosphere::bytes(options_.atmosphere, scan, sweeps,
                                                  observation.plane.rate_hz, observation.plane));
  }
  return of_atmosphere + of_ground + noise_.shared_bytes();
}

std::shared_ptr<const GroundMotion> SimulatedTod::motion(std::size_t number) const {
  const auto& ground = observations_[number].ground;
  if (!ground) return nullptr;
  return motion_.of(number, [&] {
    return std::make_shared<const GroundMotion>(
        move_mount(ground->scan, ground->site, options_.mount, options_.plane.rate_hz));
  });
}

Boresight SimulatedTod::boresight(std::size_t number) const {
  const Observation& observation = observations_[number];
  const double rate = observation.plane.rate_hz;
  if (!observation.ground) {
    std::vector<Quaternion> axes;
    if (options_.scan.follows_earth) {
      axes = earth_axes(observation.start_s, rate, observation.samples);
    }
    return satellite_boresight(options_.scan, rate, observation.first, observation.samples, axes);
  }
  return ground_boresight(observation.ground->scan, observation.ground->site, *motion(number), rate,
                          options_.scan.plate_rpm);
}

void SimulatedTod::rest() const {
  works_.clear();
  noise_.rest();
  atmosphere_.forget();
  horizon_.forget();
  motion_.forget();
}

void SimulatedTod::add_sky(const Detector& detector, const Boresight& boresight, Work& work,
                           std::span<double> signal) const {
  for (std::size_t first = 0; first < signal.size(); first += kChunk) {
    const std::size_t n = std::min(kChunk, signal.size() - first);
    const Pointing pointing{{work.pixels.data(), n}, {work.q.data(), n}, {work.u.data(), n}};
    expand_pointing(boresight, first, detector, sky_->pixels, pointing);
    scan_sky(*sky_, pointing.pixels, pointing.q, pointing.u, signal.subspan(first, n));
  }
}

void SimulatedTod::add_dipole(const Observation& observation, const Detector& detector,
                              const Boresight& boresight, std::span<double> signal) const {
  // the peer's: 370.08 km/s toward (263.99, 48.25) degrees, galactic
  constexpr double kSpeed = 370.08, kLon = 263.99, kLat = 48.25, kVelocityStep = 600;
  const Quaternion frame = observation.frame == "E" ? about_x(-kObliquity) : Quaternion{};
  const Direction to = rotated(frame, from_galactic(kLon, kLat));
  const Direction solar{kSpeed * to.x, kSpeed * to.y, kSpeed * to.z};
  const double rate = observation.plane.rate_hz;
  const double last = static_cast<double>(signal.size() - 1) / rate;
  const auto steps = static_cast<std::size_t>(std::ceil(last / kVelocityStep));
  const DirectionTable velocity(last, steps, [&](double seconds) {
    if (options_.dipole == Dipole::kSolar) return solar;
    const Direction orbital =
        rotated(frame, earth_state(observation.start_s + seconds).velocity_km_s);
    return options_.dipole == Dipole::kOrbital ? orbital : added_velocity(solar, orbital);
  });
  for (std::size_t i = 0; i < signal.size(); ++i) {
    const Direction look = rotated(quaternion_at(boresight, i) * detector.place, {0, 0, 1});
    signal[i] += dipole_kelvin(look, velocity.at(static_cast<double>(i) / rate));
  }
}

StreamName SimulatedTod::name_of(std::size_t number, std::size_t detector) const {
  const Observation& of = observations_[number];
  return stream_name(of, options_.realization, of.plane.detectors[detector].uid);
}

std::shared_ptr<const Atmosphere> SimulatedTod::atmosphere(std::size_t number,
                                                           Executor& executor) const {
  const auto moved = motion(number);
  return atmosphere_.of(number, [&] {
    const Observation& of = observations_[number];
    StreamName name = stream_name(of, options_.realization, 0);
    name.component = kAtmosphereComponent;
    return std::make_shared<const Atmosphere>(options_.atmosphere, of.ground->scan, *moved,
                                              of.plane.rate_hz, of.plane, name, executor);
  });
}

void SimulatedTod::prepare(std::size_t number, const Boresight& /*boresight*/, Executor& executor,
                           const Observer& /*observer*/) const {
  const bool seen = options_.atmosphere.any() && observations_[number].ground;
  if (seen) (void)atmosphere(number, executor);
  noise_.prepare(observations_[number], number, executor);
}

Truth SimulatedTod::truth(std::size_t number, std::size_t detector) const {
  const Observation& observation = observations_[number];
  const StreamName name = name_of(number, detector);
  Truth out;
  if (options_.gain.any()) {
    out.gain.resize(observation.samples);
    make_gain(options_.gain, name, observation.plane.rate_hz, out.gain);
  }
  if (options_.glitches.any()) {
    out.glitch.assign(observation.samples, 0.0);
    add_glitches(options_.glitches, name, observation.plane.rate_hz, out.glitch);
  }
  return out;
}

void SimulatedTod::add_seen(std::size_t number, std::size_t detector, const Boresight& boresight,
                            Work& work, std::span<double> signal) const {
  const Observation& observation = observations_[number];
  const Detector& at = observation.plane.detectors[detector];
  const bool varies = options_.gain.any();
  if (varies) work.seen.assign(signal.size(), 0.0);
  const std::span<double> to = varies ? std::span(work.seen) : signal;
  if (options_.dipole != Dipole::kNone) add_dipole(observation, at, boresight, to);
  if (sky_) add_sky(at, boresight, work, to);
  if (options_.atmosphere.any() && observation.ground) {
    atmosphere(number, serial_executor())->add(at, to);
  }
  if (ground_ && observation.ground) {
    const auto horizon = horizon_.of(number, [&] {
      return std::make_shared<const Boresight>(
          horizon_boresight(observation.ground->scan, *motion(number), boresight));
    });
    ground_->add(at, *horizon, to);
  }
  if (options_.plate.any()) {
    add_plate_signal(options_.plate, name_of(number, detector),
                     {boresight.row(kPlateAngle), signal.size()}, to);
  }
  if (!varies) return;
  work.gain.resize(signal.size());
  make_gain(options_.gain, name_of(number, detector), observation.plane.rate_hz, work.gain);
  for (std::size_t i = 0; i < signal.size(); ++i) signal[i] += work.gain[i] * work.seen[i];
}

NoisePsd SimulatedTod::noise(std::size_t number, std::size_t detector) const {
  NoisePsd out = TodSource::noise(number, detector);
  const Observation& of = observations_[number];
  if (of.commons) add_common_psd(*of.commons, detector, of.plane.rate_hz, out);
  return out;
}

void SimulatedTod::read(std::size_t number, const Boresight& boresight, std::size_t first,
                        std::span<const Signal> signals) const {
  const Observation& observation = observations_[number];
  auto work = works_.borrow();
  for (const Signal& signal : signals) {
    std::fill(signal.flags.begin(), signal.flags.end(), std::uint8_t{0});
    std::fill(signal.values.begin(), signal.values.end(), 0.0);
  }
  if (const auto moved = motion(number)) {
    for (const Signal& signal : signals) {
      for (std::size_t i = 0; i < signal.flags.size(); ++i) {
        signal.flags[i] = (moved->flags[i] & kSharedMask) != 0 ? 1 : 0;
      }
    }
  }
  if (!observation.stretches.empty()) {
    for (const Signal& signal : signals) flag_between(observation.stretches, signal.flags);
  }
  if (options_.noise) noise_.make(observation, number, first, signals);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    add_seen(number, first + i, boresight, *work, signals[i].values);
    add_glitches(options_.glitches, name_of(number, first + i), observation.plane.rate_hz,
                 signals[i].values);
  }
}

}  // namespace skyloom
