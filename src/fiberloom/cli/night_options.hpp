// SPDX-License-Identifier: BSD-3-Clause
// The options of `fiberloom night` and `fiberloom expose`, for one process and for MPI alike.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/device_options.hpp"
#include "fiberloom/recipes/chain/chain.hpp"
#include "fiberloom/recipes/night/night.hpp"
#include "loom/program/rank_options.hpp"

namespace fiberloom::cli {

enum class NightKind { kExposure, kNight };

struct NightCommand {
  NightKind kind = NightKind::kNight;
  night::NightJob job;
  std::string wavelength, memory, json, trace;
  night::WatchOptions watch;
  bool watching = false, verify = false, compress = false, dry_run = false, rebuild = false;
  bool redo = false, reports = false;
  std::vector<std::string> limits;  ///< texts of --limit
  chain::ChainRequest chain;
  std::string until = "extract", only;  ///< names of steps
  std::vector<std::string> settings;    ///< texts of --set
  bool submit = false;
  std::string sbatch;  ///< further options of the job arrays
  int array_size = 1000;
  DeviceChoice device;

  /// Is there more to make than frames?
  [[nodiscard]] bool is_chain() const { return until != "extract" || !only.empty(); }
  LogOptions log;
  double part_overhead_s = 0.1;
  RankOptions ranks;
};

/// Declares all options; values land in `command`.
void add_night_options(Options& options, NightCommand& command);

/// After parsing: reads the job file, turns text into numbers. Throws kUsage and what reading does.
void finish_night_options(const Given& given, NightCommand& command);

using loom::parse_bytes;

}  // namespace fiberloom::cli
