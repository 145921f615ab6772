// SPDX-License-Identifier: BSD-3-Clause
// A run as an observer sees it at one moment: plain data, from which status files and pages are
// made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "loom/batch/task.hpp"

namespace loom::batch {

struct StatusTask {
  std::string name;
  std::vector<Label> labels;
  TaskState state = TaskState::kWaiting;
  double seconds = 0;   ///< wall time from its start to its end, or until now
  std::string message;  ///< of a failure
  int exit_code = 0;
  int attempts = 0;
  int rank = 0;
  std::vector<Measure> measures;
  std::string page;  ///< link to its page, from where the status page lies; empty: none
};

/// How busy the stages were in one interval of time.
struct StatusSample {
  double t_s = 0;            ///< end of the interval, seconds since the start of the run
  int done = 0, failed = 0;  ///< since the start
  double read = 0, compute = 0, write = 0;  ///< fraction of the stage's threads that were busy
  double queue = 0;                         ///< tasks read and waiting for the cores
};

struct RunStatus {
  std::string title;    ///< "night 20261121", "exposure 12"
  std::string program;  ///< "fiberloom 0.1.0"
  std::string host;
  std::int64_t started_unix_s = 0, updated_unix_s = 0;
  bool finished = false;
  bool watching = false;  ///< waits for new tasks
  int ranks = 1, threads = 1;
  double elapsed_s = 0;
  double left_s = -1;                                    ///< expected; < 0: not known yet
  double tasks_per_node_hour = 0, tasks_per_minute = 0;  ///< the latter of all nodes
  std::uint64_t bytes_in = 0, bytes_out = 0, memory_bytes = 0, memory_budget_bytes = 0;
  std::vector<StatusTask> tasks;      ///< in the order that the run asked for
  std::vector<StatusSample> samples;  ///< oldest first, at most some hundreds (thinned)
  std::vector<std::string> warnings;
};

/// A file that tells of a run, below OUT.
struct StatusFile {
  std::string name;
  std::string text;
};

}  // namespace loom::batch
