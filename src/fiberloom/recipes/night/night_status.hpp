// SPDX-License-Identifier: BSD-3-Clause
// A run as an observer sees it at one moment: plain data, from which status.json and status.html
// are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/frame_task.hpp"

namespace fiberloom::night {

/// One cell of the grid exposures x cameras.
struct StatusFrame {
  std::string name, night, camera;
  long expid = 0;
  FrameState state = FrameState::kWaiting;
  double seconds = 0;   ///< wall time from its start to its end, or until now
  std::string message;  ///< of a failure
  int exit_code = 0;
  int attempts = 0;
  int rank = 0;
  std::optional<FrameQuality> quality;
  std::string report;  ///< link to its page, from where the status page lies; empty: none
};

/// How busy the stages were in one interval of time.
struct StatusSample {
  double t_s = 0;            ///< end of the interval, seconds since the start of the run
  int done = 0, failed = 0;  ///< since the start
  double read = 0, compute = 0, write = 0;  ///< fraction of the stage's threads that were busy
  double queue = 0;                         ///< frames read and waiting for the cores
};

struct NightStatus {
  std::string title;    ///< "night 20261121", "exposure 12"
  std::string program;  ///< "fiberloom 0.1.0"
  std::string host;
  std::int64_t started_unix_s = 0, updated_unix_s = 0;
  bool finished = false;
  bool watching = false;  ///< waits for new exposures
  int ranks = 1, threads = 1;
  double elapsed_s = 0;
  double left_s = -1;                                      ///< expected; < 0: not known yet
  double frames_per_node_hour = 0, frames_per_minute = 0;  ///< the latter of all nodes
  std::uint64_t bytes_in = 0, bytes_out = 0, memory_bytes = 0, memory_budget_bytes = 0;
  std::vector<StatusFrame> frames;    ///< in the order of exposure, camera
  std::vector<StatusSample> samples;  ///< oldest first, at most some hundreds (thinned)
  std::vector<std::string> warnings;
  QualityLimits limits;
};

/// "done", "failed", ...: the words used in the ledger, status.json and the page.
[[nodiscard]] std::string state_name(FrameState state);

/// status.json: every member under its own name, schema "fiberloom-status-1".
[[nodiscard]] std::string status_json(const NightStatus& status);

/// status.html: self-contained, refreshes itself, light and dark.
[[nodiscard]] std::string status_html(const NightStatus& status);

}  // namespace fiberloom::night
