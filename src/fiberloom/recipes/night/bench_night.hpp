// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom bench night`: an exposure of its own making, run and reckoned up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/night.hpp"
#include "loom/base/log.hpp"

namespace fiberloom::night {

/// Frames of a camera are one simulated file under several names (hard links), or copies of it.
enum class Replicas { kLinks, kCopies };
/// Whether to run it again on one thread and one processor, which reading and writing share: with
/// a second one for these the computing would look faster than one processor can.
enum class Baseline { kNone, kOneProcessor };

struct BenchJob {
  std::string folder;  ///< to work in; must not exist
  int frames = 30;     ///< of b, r and z in turn
  int nspec = 500;
  std::uint64_t seed = 1;
  Compress input = Compress::kNo, output = Compress::kNo;
  Replicas replicas = Replicas::kLinks;
  Baseline baseline = Baseline::kOneProcessor;
  PipelineOptions pipeline;
};

/// Means over the frames of a band.
struct BenchKind {
  int frames = 0, bundles = 0;
  double read_core_s = 0, compute_core_s = 0, write_core_s = 0;
  double bytes_in = 0, bytes_out = 0;
};

struct BenchReport {
  NightReport night;
  std::map<std::string, BenchKind> kinds;  ///< by band
  double frames_per_node_hour = 0;
  double core_s_per_frame = 0;  ///< of the whole process, everything included
  /// Wall time over the longest of: processor seconds of all stages / threads, busy reading /
  /// readers, computing / threads, writing / writers. 1 is perfect.
  double overlap = 0;
  double baseline_wall_s = 0;      ///< on one processor; 0: not run
  double parallel_efficiency = 0;  ///< baseline wall / (threads x wall)
  /// Wall time of the compute stage on one processor over that on all, with reading and writing on
  /// the same processors in both.
  double compute_speedup = 0;
};

/// Throws what simulating and running throw, and kNumerical when a frame fails.
[[nodiscard]] BenchReport bench_night(const BenchJob& job, const Engine& engine,
                                      const Observer& observer, Tracer* tracer);

}  // namespace fiberloom::night
