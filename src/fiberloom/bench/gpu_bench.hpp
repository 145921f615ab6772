// SPDX-License-Identifier: BSD-3-Clause
// Benchmark of the device engine on a simulated camera, beside the card's own measured limits and
// beside the peers' method with the vendor's solvers on the same card.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/bench/scan_bench.hpp"
#include "fiberloom/extract/exact/gpu/device_engine.hpp"

namespace fiberloom {

struct GpuBenchResult;

struct GpuBenchOptions {
  Backend backend = Backend::kCuda;
  int fibers = 500, frames = 30, frames_in_flight = 4;
  std::size_t bins = 2326;
  bool awake = false;    ///< the host asks for the card's end without a pause
  bool defects = false;  ///< dead columns and blocks, saturated rows, a bad amplifier
  std::size_t memory_bytes = 0;
  std::size_t threads = 0;      ///< of the CPU side
  int baseline_patches = 5000;  ///< 0: none
  int cpu_frames = 1;           ///< 0: the CPU engine is not timed
  int repeats = 5;              ///< of one frame alone, after the one that warms up
  int scan_targets = 64;        ///< of the scan for redshifts; 0: none
  int scan_redshifts = 4088;
  /// Called with what is known after each part; may be empty.
  std::function<void(const GpuBenchResult&)> done;
};

/// The peers' method: one dense Cholesky factor, inverse block and eigen-decomposition a patch.
struct GpuBaseline {
  int patches = 0, unknowns = 0;
  double cholesky_s = 0, inverse_s = 0, eigen_s = 0;  ///< of all patches
  std::string note;                                   ///< why not, or how
  [[nodiscard]] double seconds() const { return cholesky_s + inverse_s + eigen_s; }
};

/// 0 and empty: not measured.
struct GpuBenchResult {
  DeviceInfo device;
  DeviceRates rates;
  int fibers = 0;
  std::size_t bins = 0;
  int repeats = 0;
  /// Of the repeat with the least compute, as compute_s and copies_s are; some go beside others.
  std::vector<GpuBenchStage> stages;
  double compute_s = 0, median_compute_s = 0;  ///< from the first stage to the last, without copies
  double copies_s = 0;                         ///< copy in and out
  double spots_again_s = 0;                    ///< compute_s with spots made twice, not kept
  /// One frame alone, host memory to host memory, geometry and masks too: best and median.
  double frame_s = 0, median_frame_s = 0;
  /// What the host does for it, by the wall, means of all repeats: geometry, staging, everything on
  /// the device, results, the finish.
  std::vector<std::pair<std::string, double>> host;
  int frames = 0, frames_in_flight = 0;
  double overlapped_s = 0;      ///< all frames, wall, every place on the card in use before
  double overlapped_cpu_s = 0;  ///< of all processors of the host, meanwhile
  double cpu_frame_s = 0;       ///< CPU engine, one thread, best
  std::size_t cpu_bundles = 0;
  GpuBaseline baseline;
  ScanBenchResult scan;
  std::vector<std::string> failures;  ///< parts that could not be measured, and why

  /// Of the overlapped run, wall.
  [[nodiscard]] double overlapped_frame_s() const { return frames > 0 ? overlapped_s / frames : 0; }
  /// The longer of a frame's copies and compute, of the time that a frame took in the overlapped
  /// run: 1 is all that overlapping can give.
  [[nodiscard]] double overlap() const;
  /// What the figures asked for were asked of: a whole frame on a card.
  [[nodiscard]] bool comparable() const;
};

/// One of the figures that were asked for, beside what was measured.
struct GpuGoal {
  const char* key;         ///< in the JSON
  const char* what;        ///< in the table
  double asked, moonshot;  ///< 0: none; only to be reported
  bool at_most;            ///< else at least
  double measured;         ///< 0: was not
};
[[nodiscard]] std::vector<GpuGoal> gpu_bench_goals(const GpuBenchResult& result);

/// On one card, the first. Throws kDevice when the backend cannot be had.
[[nodiscard]] GpuBenchResult run_gpu_bench(const GpuBenchOptions& options);

/// Times the peers' dense algebra on the current card; a note instead where there is none.
[[nodiscard]] GpuBaseline time_dense_baseline(int patches);

/// As a table for people, and as one JSON object.
[[nodiscard]] std::string gpu_bench_table(const GpuBenchResult& result);
[[nodiscard]] std::string gpu_bench_json(const GpuBenchResult& result);

}  // namespace fiberloom
