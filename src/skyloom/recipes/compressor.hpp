// SPDX-License-Identifier: BSD-3-Clause
// Detectors' samples to runs of the maps' pixels, on the device where a job has one.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

#include "loom/base/log.hpp"
#include "loom/device/device.hpp"
#include "skyloom/gpu/device_compression.hpp"
#include "skyloom/mapping/runs.hpp"
#include "skyloom/recipes/map_job.hpp"
#include "skyloom/recipes/sample_pointing.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

class Compressor {
 public:
  /// `device`: null, or it outlives this. Where the job's backend is `auto` the CPU takes over what
  /// a device fails at.
  Compressor(const MapJob& job, Device* device, const Observer& observer);

  /// Both stay where they are while detectors of theirs are compressed. Throws kDevice, kUsage.
  void begin(const Observation& observation, const Boresight& boresight);
  /// All samples of a detector; those outside the maps may be flagged. From any thread.
  [[nodiscard]] Stream compress(const Detector& detector, const Signal& signal,
                                SamplePointing& pointing);

 private:
  [[nodiscard]] Stream on_cpu(const Detector& detector, const Signal& signal,
                              SamplePointing& pointing) const;
  /// Of what is being caught: throws it on where the CPU may not take over.
  void failed(const Error& error);

  const MapJob& job_;
  SkyGrid grid_;
  std::optional<DeviceCompression> device_;
  std::atomic<bool> device_fails_{false};
  const Observer& observer_;
  const Observation* observation_ = nullptr;
  const Boresight* boresight_ = nullptr;
  std::size_t step_ = 0;
  bool on_device_ = false;  ///< this observation
};

}  // namespace skyloom
