// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/simulated_tod.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loom/base/print.hpp"
#include "skyloom/pointing/expand.hpp"
#include "skyloom/random/name_uid.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kChunk = 4096;  // samples whose pointing is at hand

}  // namespace

struct SimulatedTod::Work {
  NoiseWork noise;
  std::vector<Pixel> pixels = std::vector<Pixel>(kChunk);
  std::vector<double> q = std::vector<double>(kChunk), u = std::vector<double>(kChunk);
};

SimulatedTod::SimulatedTod(const SimulationOptions& options, std::shared_ptr<const SkyMap> sky)
    : options_(options), sky_(std::move(sky)) {
  const double samples = std::floor(options.observation_minutes * 60 * options.plane.rate_hz + 0.5);
  if (!(samples >= 2 && samples < 1e9)) {
    throw Error(Status::kUsage, print("%g samples an observation: expected 2 to 1e9", samples));
  }
  const FocalPlane plane = hexagon(options.plane);
  for (std::size_t i = 0; i < options.observations; ++i) {
    Observation observation{.name = print("satellite_%06zu", i),
                            .session = print("satellite_%06zu", i),
                            .plane = plane,
                            .samples = static_cast<std::size_t>(samples)};
    observation.first = static_cast<std::int64_t>(i * observation.samples);
    observation.start_s = options.start_s + static_cast<double>(observation.first) / plane.rate_hz;
    observation.uid = name_uid(observation.name);
    observation.session_uid = name_uid(observation.session);
    observation.telescope_uid = name_uid(observation.telescope);
    observations_.push_back(std::move(observation));
  }
  if (!options.noise) return;
  maker_.emplace(observations_.front().samples, 0);
  amplitudes_ = stream_amplitudes(analytic_psd(options.plane.noise, plane.rate_hz, "all detectors"),
                                  plane.rate_hz, maker_->length(), "all detectors");
}

SimulatedTod::~SimulatedTod() = default;

Boresight SimulatedTod::boresight(std::size_t number) const {
  const Observation& observation = observations_[number];
  return satellite_boresight(options_.scan, observation.plane.rate_hz, observation.first,
                             observation.samples);
}

void SimulatedTod::rest() const { works_.clear(); }

void SimulatedTod::add_sky(const Detector& detector, const Boresight& boresight, Work& work,
                           std::span<double> signal) const {
  for (std::size_t first = 0; first < signal.size(); first += kChunk) {
    const std::size_t n = std::min(kChunk, signal.size() - first);
    const Pointing pointing{{work.pixels.data(), n}, {work.q.data(), n}, {work.u.data(), n}};
    expand_pointing(boresight, first, detector, sky_->pixels, pointing);
    scan_sky(*sky_, pointing.pixels, pointing.q, pointing.u, signal.subspan(first, n));
  }
}

void SimulatedTod::read(std::size_t number, const Boresight& boresight, std::size_t first,
                        std::span<const Signal> signals) const {
  const Observation& observation = observations_[number];
  auto work = works_.borrow();
  for (const Signal& signal : signals) {
    std::fill(signal.flags.begin(), signal.flags.end(), std::uint8_t{0});
    std::fill(signal.values.begin(), signal.values.end(), 0.0);
  }
  if (maker_) {
    std::vector<NoiseStream> streams;
    for (std::size_t i = 0; i < signals.size(); ++i) {
      streams.push_back({{.realization = options_.realization,
                          .telescope = observation.telescope_uid,
                          .component = 0,
                          .observation = observation.session_uid,
                          .detector = observation.plane.detectors[first + i].uid},
                         amplitudes_,
                         signals[i].values});
    }
    maker_->make(streams, work->noise);
  }
  if (!sky_) return;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    add_sky(observation.plane.detectors[first + i], boresight, *work, signals[i].values);
  }
}

}  // namespace skyloom
