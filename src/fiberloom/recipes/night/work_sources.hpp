// SPDX-License-Identifier: BSD-3-Clause
// Where a single process gets its frames: a list, or a folder that fills.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/discover.hpp"
#include "fiberloom/recipes/night/inspect.hpp"
#include "fiberloom/recipes/night/task_list.hpp"
#include "loom/base/log.hpp"

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
/// network file systems, so it looks. One that failed is a new frame when its files have changed;
/// one that the machine failed is tried again, ever more rarely.
class WatchSource final : public WorkSource {
 public:
  using Admit = std::function<void(const std::vector<FrameTask>&)>;

  /// Frames found are added to `tasks`, once `admit` has seen them; what that throws ends the
  /// watch.
  WatchSource(FrameRequest request, TaskList& tasks, const WatchOptions& options,
              const Observer& observer, Admit admit = {});
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
  /// A frame that was given out, and its inputs as they were then.
  struct Taken {
    std::size_t frame = 0;
    InputStamps stamps;
  };
  /// A frame that failed.
  struct Failed {
    std::optional<Clock::time_point> again;  ///< when the machine's fault is tried again
    int times = 0;                           ///< that it was
  };
  void look();
  void take(std::vector<FrameTask> found);
  void take_again(std::size_t frame);
  [[nodiscard]] bool settled(const FrameTask& task);
  [[nodiscard]] std::optional<WorkUnit> newest();

  // Of who asks, one thread at a time:
  FrameRequest request_;
  TaskList& tasks_;
  WatchOptions options_;
  Observer observer_;
  std::vector<std::size_t> ready_;
  std::map<std::string, Seen> seen_;  ///< not yet complete
  std::map<std::string, Taken> taken_;
  Admit admit_;
  Clock::time_point last_look_{};
  std::string last_warning_;

  mutable std::mutex mutex_;  ///< of what follows; never held while files are looked at
  std::condition_variable changed_;
  bool ended_ = false;
  std::vector<std::size_t> later_;
  std::map<std::size_t, Failed> failed_;
  std::size_t in_work_ = 0;
  Clock::time_point last_work_ = Clock::now();
};

}  // namespace fiberloom::night
