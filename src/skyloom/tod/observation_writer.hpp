// SPDX-License-Identifier: BSD-3-Clause
// Writes an observation as TOAST's HDF5 format 2, detector by detector.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "loom/files/atomic_file.hpp"
#include "skyloom/tod/observation.hpp"

namespace loom::hdf5 {
class Writer;
}

namespace skyloom {

/// The file appears when it is whole; its bytes depend on the observation alone. Detectors need
/// noise of NET above 0. Throws kOutputExists, kUnwritable, kDiskFull, kNoiseModel.
class ObservationWriter {
 public:
  /// `motion`: of an observation from the ground.
  ObservationWriter(const std::string& path, Overwrite overwrite, const Observation& observation,
                    const Boresight& boresight, const GroundMotion* motion = nullptr);
  ~ObservationWriter();
  ObservationWriter(const ObservationWriter&) = delete;
  ObservationWriter& operator=(const ObservationWriter&) = delete;

  void signal(std::size_t detector, std::span<const double> values,
              std::span<const std::uint8_t> flags);
  /// After signal() of the same detector. The first one tells which truths there are.
  void truth(std::size_t detector, const Truth& truth);
  void commit();

 private:
  void write_header(const Observation& observation);
  void write_site(const Observation& observation);
  void write_intervals(const Observation& observation, const GroundMotion* motion);
  void write_motion(const Observation& observation, const GroundMotion& motion);
  void write_instrument(const Observation& observation);
  void write_noise(const Observation& observation);
  void write_shared(const Observation& observation, const Boresight& boresight,
                    const GroundMotion* motion);
  std::unique_ptr<hdf5::Writer> writer_;
  std::size_t detectors_ = 0;
};

}  // namespace skyloom
