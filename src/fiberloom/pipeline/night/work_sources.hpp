// SPDX-License-Identifier: BSD-3-Clause
// Where a single process gets its frames: a list, or a folder that fills.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "fiberloom/base/log.hpp"
#include "fiberloom/pipeline/night/discover.hpp"
#include "fiberloom/pipeline/night/inspect.hpp"
#include "fiberloom/pipeline/night/task_list.hpp"

namespace fiberloom::night {

/// Frames in a fixed order, each whole. One that another run has claimed is offered again, after
/// all others, until it is done (or that run is dead, and its claim can be taken over).
class ListSource final : public WorkSource {
 public:
  ListSource(std::vector<std::size_t> frames, std::function<bool()> stop_requested);
  std::optional<WorkUnit> next() override;
  void finished(const FrameOutcome& outcome) override;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::size_t> waiting_, elsewhere_;
  std::function<bool()> stop_;
};

struct WatchOptions {
  double poll_s = 5;    ///< between looks at the folder
  double settle_s = 5;  ///< a file is complete when size and time have not changed for so long
  double idle_s = -1;   ///< end when there was nothing to do for so long; < 0: never
};

/// New frames as they are completed on disk, the newest exposure first. There is no notification on
/// network file systems, so it looks.
class WatchSource final : public WorkSource {
 public:
  /// Frames found are added to `tasks`.
  WatchSource(FrameRequest request, TaskList& tasks, const WatchOptions& options,
              const Observer& observer);
  /// Says after a moment that there is none for now: who asks may have a frame to try again, or a
  /// reason to end.
  std::optional<WorkUnit> next() override;
  [[nodiscard]] bool more_later() const override;
  void finished(const FrameOutcome& outcome) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    InputStamps stamps;
    Clock::time_point since;
  };
  void look();
  [[nodiscard]] bool settled(const FrameTask& task);
  [[nodiscard]] std::optional<WorkUnit> newest();

  // Of who asks, one thread at a time:
  FrameRequest request_;
  TaskList& tasks_;
  WatchOptions options_;
  Observer observer_;
  std::vector<std::size_t> ready_;
  std::map<std::string, Seen> seen_;  ///< not yet complete
  Clock::time_point last_look_{};
  std::string last_warning_;

  mutable std::mutex mutex_;  ///< of what follows; never held while files are looked at
  std::condition_variable changed_;
  bool ended_ = false;
  std::vector<std::size_t> later_;
  std::size_t in_work_ = 0;
  Clock::time_point last_work_ = Clock::now();
};

}  // namespace fiberloom::night
