// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/tod/simulated_noise.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace skyloom {
namespace {

bool has_one_noise(const FocalPlane& plane) {
  return std::all_of(plane.detectors.begin(), plane.detectors.end(), [&](const Detector& each) {
    return each.noise == plane.detectors.front().noise;
  });
}

std::vector<double> amplitudes_of(const DetectorNoise& noise, double rate_hz, std::size_t length,
                                  const std::string& name) {
  return stream_amplitudes(analytic_psd(noise, rate_hz, name), rate_hz, length, name);
}

}  // namespace

StreamName stream_name(const Observation& observation, std::uint64_t realization,
                       std::uint32_t uid) noexcept {
  return {.realization = realization,
          .telescope = observation.telescope_uid,
          .component = 0,
          .observation = observation.session_uid,
          .detector = uid};
}

struct SimulatedNoise::Work {
  NoiseWork noise;
  std::vector<double> amplitudes[2];  ///< of detectors that have each their own
  std::vector<double> common;
};

SimulatedNoise::SimulatedNoise(std::uint64_t realization, std::vector<CommonOptions> commons)
    : realization_(realization), commons_(std::move(commons)) {}

SimulatedNoise::~SimulatedNoise() = default;

void SimulatedNoise::expect(Observation& observation) {
  FocalPlane& plane = observation.plane;
  const std::size_t samples = observation.samples;
  if (!commons_.empty()) {
    auto modes = std::make_shared<const CommonModes>(
        common_modes(commons_, plane, {realization_, observation.telescope_uid, observation.uid}));
    for (std::size_t d = 0; d < plane.detectors.size(); ++d) {
      plane.detectors[d].common_psd = modes->white_psd(d);
    }
    const auto pairs = static_cast<std::size_t>(
        std::count_if(modes->streams.begin(), modes->streams.end(),
                      [](const CommonStream& stream) { return stream.of_one_pair; }));
    const std::size_t bytes = sizeof(double) * samples;
    if (pairs > 0) pair_bytes_ = std::max(pair_bytes_, bytes);
    shared_bytes_ = std::max(shared_bytes_, bytes * (modes->streams.size() - pairs));
    observation.commons = std::move(modes);
  }
  if (makers_.contains(samples)) return;
  Maker to{NoiseMaker(samples, 0), {}, {}};
  if (has_one_noise(plane)) {
    const Detector& one = plane.detectors.front();
    to.amplitudes = amplitudes_of(one.noise, plane.rate_hz, to.maker.length(), one.name);
  } else {  // a model that is not good is told of now
    for (const Detector& each : plane.detectors) {
      (void)analytic_psd(each.noise, plane.rate_hz, each.name);
    }
  }
  for (const CommonOptions& mode : commons_) {
    to.commons.push_back(
        amplitudes_of(mode.noise, plane.rate_hz, to.maker.length(), mode.stream_name()));
  }
  makers_.emplace(samples, std::move(to));
}

std::size_t SimulatedNoise::work_bytes() const noexcept {
  if (makers_.empty()) return 0;
  const Maker& most = makers_.rbegin()->second;
  const std::size_t own = most.amplitudes.empty() ? sizeof(double) * (most.maker.length() + 2) : 0;
  return most.maker.work_bytes() + own + pair_bytes_;
}

void SimulatedNoise::rest() const {
  works_.clear();
  common_samples_.forget();
}

// Always alone: what a stream of a transform is to the last bit depends on the other one.
void SimulatedNoise::make_common(const Observation& observation, std::size_t stream, Work& work,
                                 std::vector<double>& out) const {
  out.resize(observation.samples);
  const Maker& from = makers_.at(observation.samples);
  const CommonStream& about = observation.commons->streams[stream];
  const NoiseStream one{stream_name(observation, realization_, about.uid), from.commons[about.mode],
                        out};
  from.maker.make({&one, 1}, work.noise);
}

std::shared_ptr<const SimulatedNoise::CommonSamples> SimulatedNoise::common_samples(
    const Observation& observation, std::size_t number, Executor& executor) const {
  return common_samples_.of(number, [&] {
    const auto& streams = observation.commons->streams;
    auto out = std::make_shared<CommonSamples>(streams.size());
    executor.run(streams.size(), [&](std::size_t s) {
      if (streams[s].of_one_pair) return;
      auto work = works_.borrow();
      make_common(observation, s, *work, (*out)[s]);
    });
    return out;
  });
}

void SimulatedNoise::prepare(const Observation& observation, std::size_t number,
                             Executor& executor) const {
  if (observation.commons) (void)common_samples(observation, number, executor);
}

void SimulatedNoise::add_common(const Observation& observation, std::size_t number,
                                std::size_t first, Work& work,
                                std::span<const Signal> signals) const {
  const CommonModes& modes = *observation.commons;
  const auto kept = common_samples(observation, number, serial_executor());
  std::set<std::size_t> streams;  // growing, as those of a detector: sums have one order
  for (std::size_t i = 0; i < signals.size(); ++i) {
    for (const CommonModes::Part& part : modes.parts[first + i]) streams.insert(part.stream);
  }
  for (const std::size_t stream : streams) {
    const bool own = modes.streams[stream].of_one_pair;
    if (own) make_common(observation, stream, work, work.common);
    const std::vector<double>& from = own ? work.common : (*kept)[stream];
    for (std::size_t i = 0; i < signals.size(); ++i) {
      for (const auto& [its, coupling] : modes.parts[first + i]) {
        if (its != stream) continue;
        for (std::size_t k = 0; k < from.size(); ++k) signals[i].values[k] += coupling * from[k];
      }
    }
  }
}

void SimulatedNoise::make(const Observation& observation, std::size_t number, std::size_t first,
                          std::span<const Signal> signals) const {
  const FocalPlane& plane = observation.plane;
  const Maker& from = makers_.at(observation.samples);
  auto work = works_.borrow();
  std::vector<NoiseStream> streams;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const Detector& own = plane.detectors[first + i];
    std::span<const double> amplitudes = from.amplitudes;
    if (amplitudes.empty()) {
      work->amplitudes[i] = amplitudes_of(own.noise, plane.rate_hz, from.maker.length(), own.name);
      amplitudes = work->amplitudes[i];
    }
    streams.push_back(
        {stream_name(observation, realization_, own.uid), amplitudes, signals[i].values});
  }
  from.maker.make(streams, work->noise);
  if (observation.commons) add_common(observation, number, first, *work, signals);
}

}  // namespace skyloom
