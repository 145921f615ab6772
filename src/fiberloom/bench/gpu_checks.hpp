// SPDX-License-Identifier: BSD-3-Clause
// What must hold of a device engine, run on frames simulated in memory: for a short stay on a GPU
// machine, and in emulation for the tests. No test framework: outcomes come back as data.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fiberloom/extract/exact/gpu/device_engine.hpp"

namespace fiberloom {

struct GpuCheck {
  std::string name;
  bool passed = false;
  std::string detail;
  double seconds = 0;
};

enum class GpuCheckScale {
  kTiny,   ///< seconds under compute-sanitizer
  kSmall,  ///< also what takes some seconds of CPU
  kFull,   ///< also a whole simulated r camera with defects against the CPU engine
  kCamera  ///< that alone
};

struct GpuCheckOptions {
  /// Makes the device that is checked; called anew for each check. 0, and for a check of several
  /// also 1, 2 ...: cards in turn, the same one again where there are fewer.
  std::function<std::unique_ptr<Device>(int)> open;
  GpuCheckScale scale = GpuCheckScale::kSmall;
  std::size_t threads = 0;                    ///< of the CPU side
  std::function<void(const GpuCheck&)> done;  ///< after each check; may be empty
};

[[nodiscard]] std::vector<GpuCheck> run_gpu_checks(const GpuCheckOptions& options);

}  // namespace fiberloom
