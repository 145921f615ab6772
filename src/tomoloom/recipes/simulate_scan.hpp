// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `tomoloom simulate`: a phantom -> a scan, and the volume that it is of.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/files/atomic_file.hpp"
#include "tomoloom/simulate/detector.hpp"

namespace tomoloom {

struct SimulateJob {
  std::string output;  ///< Data Exchange
  std::string truth;   ///< the volume; empty: not written
  std::string phantom = "shepp-logan";
  std::size_t columns = 256, rows = 256, angles = 402, flats = 10, darks = 10;
  double arc_deg = 180;               ///< the last angle is a step before it
  std::optional<double> centre = {};  ///< column of the axis; none: the middle
  double tilt_deg = 0;                ///< of the axis, along the beam
  double absorption = 2;              ///< of a body of value 1 as wide as the detector
  DetectorOptions detector = {};
  Overwrite overwrite = Overwrite::kYes;
};

/// Files depend on the job alone. Throws kUsage, kCentreRange, and what writing throws.
void simulate_scan(const SimulateJob& job, Executor& executor, const Observer& observer = {});

}  // namespace tomoloom
