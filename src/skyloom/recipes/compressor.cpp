// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/compressor.hpp"

#include <string>

#include "loom/base/error.hpp"
#include "skyloom/recipes/memory_plan.hpp"

namespace skyloom {

Compressor::Compressor(const MapJob& job, Device* device, const Observer& observer)
    : job_(job), grid_(grid_of(job)), observer_(observer) {
  if (device == nullptr) return;
  device_.emplace(*device, grid_);
  observer.info("samples are pointed and compressed on " + device->info().name);
}

void Compressor::failed(const Error& error) {
  if (job_.backend != Backend::kAuto || error.status() != Status::kDevice) throw;
  if (device_fails_.exchange(true)) return;
  observer_.warn(std::string(error.what()) + ": samples are compressed on the CPU");
}

void Compressor::begin(const Observation& observation, const Boresight& boresight) {
  observation_ = &observation;
  boresight_ = &boresight;
  step_ = baseline_samples(observation, job_.step_s);
  on_device_ = device_ && DeviceCompression::takes(step_, observation.samples);
  if (!on_device_ || device_fails_) return;
  try {
    device_->begin(boresight, step_);
  } catch (const Error& error) {
    failed(error);
  }
}

Stream Compressor::compress(const Detector& detector, const Signal& signal,
                            SamplePointing& pointing) {
  if (on_device_ && !device_fails_) {
    try {
      return device_->compress(detector, sample_weight(detector, observation_->plane.rate_hz),
                               signal.values, signal.flags);
    } catch (const Error& error) {
      failed(error);
    }
  }
  return on_cpu(detector, signal, pointing);
}

Stream Compressor::on_cpu(const Detector& detector, const Signal& signal,
                          SamplePointing& pointing) const {
  RunBuilder builder(tiles_of(grid_), step_, sample_weight(detector, observation_->plane.rate_hz));
  pointing.over(*boresight_, detector, grid_, 0, observation_->samples,
                [&](std::size_t first, const Pointing& at) {
                  const std::size_t n = at.pixels.size();
                  const auto flags = signal.flags.subspan(first, n);
                  flag_outside(grid_, at.pixels, flags);
                  builder.add({at.pixels, at.q, at.u, signal.values.subspan(first, n), flags});
                });
  return builder.finish();
}

}  // namespace skyloom
