// SPDX-License-Identifier: BSD-3-Clause
// Benchmark of the scan for redshifts on a device, beside the CPU's scan of the same targets, with
// which its result is compared every time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/executor.hpp"
#include "loom/device/device.hpp"

namespace fiberloom {

/// One stage of a device by its own clock, with what it had to do, counted.
struct GpuBenchStage {
  std::string name;
  double seconds = 0;  ///< of one frame, or of one scan
  long launches = 0;
  double flops = 0, bytes = 0;  ///< least necessary; 0: not counted
  double begin = 0, end = 0;    ///< of a frame's: after the first stage began
};

/// 0 and empty: not measured.
struct ScanBenchResult {
  int targets = 0, templates = 0;
  std::size_t redshifts = 0, pixels = 0;
  std::vector<GpuBenchStage> stages;  ///< of the repeat with the least compute
  double compute_s = 0, copies_s = 0;
  double first_s = 0;     ///< wall of the first scan, in which the templates go to the card
  double scan_s = 0;      ///< best of those after it, host memory to host memory, wall
  double cpu_s = 0;       ///< the CPU's fast scan, one thread
  double difference = 0;  ///< largest of chi2, as a share of chi2 without any model
  std::size_t memory_bytes = 0;
};

struct ScanBenchOptions {
  int targets = 64, redshifts = 4088;  ///< no targets: no benchmark
  int repeats = 5;
  std::size_t memory_bytes = 0;
};

/// Takes the device over. Fills `out` as it goes. Throws kDevice, and kInternal when the result is
/// not the CPU's.
void run_scan_bench(std::unique_ptr<Device> device, const ScanBenchOptions& options,
                    Executor& executor, ScanBenchResult& out);

}  // namespace fiberloom
