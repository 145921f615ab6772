// SPDX-License-Identifier: BSD-3-Clause
// What arrives in a folder that is watched: tasks whose inputs are complete. It looks, since there
// is no notification on network file systems. Knows nothing of what is done with them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loom/base/log.hpp"
#include "loom/batch/receipt.hpp"
#include "loom/batch/task.hpp"

namespace loom::batch {

struct WatchOptions {
  double poll_s = 5;    ///< between looks at the folder
  double settle_s = 5;  ///< a file is complete when size and time have not changed for so long
  double idle_s = -1;   ///< end when there was nothing to do for so long; < 0: never
};

/// Of one thread at a time.
class Intake {
 public:
  /// Tasks whose names are not to be skipped.
  using Find = std::function<std::vector<Task>(const std::set<std::string>& skip)>;

  Intake(Find find, const WatchOptions& options, Observer observer)
      : find_(std::move(find)), options_(options), observer_(std::move(observer)) {}

  struct News {
    std::vector<Task> fresh;           ///< complete, and not told of before
    std::vector<std::string> changed;  ///< told of before, complete once more with other inputs
  };
  /// `again`: names of those told of whose files may have changed since: they failed.
  [[nodiscard]] News look(const std::set<std::string>& again);
  /// Is it time for the next look? Says so once.
  [[nodiscard]] bool is_due();
  /// Are there some that are not complete?
  [[nodiscard]] bool waits() const noexcept { return !seen_.empty(); }
  /// Those whose inputs are all there, but not yet for long enough.
  [[nodiscard]] std::vector<Task> arriving() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    Task task;
    InputStamps stamps;
    Clock::time_point since;
  };
  [[nodiscard]] std::vector<Task> found(const std::set<std::string>& skip);
  [[nodiscard]] bool settled(const Task& task, InputStamps stamps);

  Find find_;
  WatchOptions options_;
  Observer observer_;
  std::set<std::string> skip_;               ///< told of
  std::map<std::string, Seen> seen_;         ///< not yet complete
  std::map<std::string, InputStamps> told_;  ///< inputs as they were then
  Clock::time_point last_look_{};
  std::string last_warning_;
};

}  // namespace loom::batch
