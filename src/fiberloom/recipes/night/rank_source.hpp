// SPDX-License-Identifier: BSD-3-Clause
// The pipeline's side of a job over several ranks: units come from rank 0, outcomes go there, parts
// of a frame go to its owner. Knows no MPI: it posts letters, and the loop that speaks MPI fills
// it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "fiberloom/recipes/night/part_collector.hpp"
#include "fiberloom/recipes/night/rank_mail.hpp"
#include "fiberloom/recipes/night/task_list.hpp"
#include "fiberloom/recipes/night/wire.hpp"

namespace fiberloom::night {

/// What ranks tell each other.
enum RankTag : int {
  kTagHello,
  kTagClock,  ///< steady clock, there and back
  kTagReady,  ///< the ranks know each other's clocks
  kTagAsk,    ///< a unit is wanted
  kTagUnit,   ///< Assignment and FrameTask
  kTagNoMore,
  kTagPart,     ///< PartialFrame, to its owner
  kTagPartEnd,  ///< Assignment of a part that is computed, to rank 0
  kTagState,    ///< FrameOutcome of a frame in work, to rank 0
  kTagOutcome,  ///< FrameOutcome, to rank 0
  kTagAdd,      ///< NumberedTasks, from rank 0's own threads
  kTagClose,    ///< no more frames will be added
  kTagStop,     ///< finish what is in flight
  kTagBye,      ///< RankReport
  kTagAlive,
  kTagEnd,
};

/// next() and finished() as WorkSource says. One unit is always asked for ahead, so that the answer
/// is there when the pipeline has room for it.
class RankSource final : public WorkSource {
 public:
  using Joined = std::function<void(std::size_t frame, std::vector<PartialFrame> parts)>;

  /// Tasks that come with the units are put into `tasks`, which the pipeline reads.
  RankSource(RankMail& mail, TaskList& tasks, int rank);

  [[nodiscard]] std::optional<WorkUnit> next() override;
  [[nodiscard]] bool more_later() const override;
  /// The outcome of a unit. Of a part only those that are not kDone say anything new: part_done()
  /// came before.
  void finished(const FrameOutcome& outcome) override;
  /// A part is computed: it goes to the frame's owner. From any thread.
  void part_done(PartialFrame part);
  /// A frame is read, computed, written: for rank 0's status. Other states are left out.
  void changed(const FrameOutcome& outcome);
  /// The outcome of a frame whose parts were joined here.
  void frame_done(const FrameOutcome& outcome);
  /// Who takes the parts of a frame that this rank owns once they are all here; may be called from
  /// any thread, the one that speaks MPI among them, and must not wait. Before the first next().
  /// With nobody, when that one ends: parts that come later are dropped.
  void set_joined(Joined joined);
  /// Frames owned here whose parts are not all here.
  [[nodiscard]] std::vector<std::size_t> open() const { return collector_.open(); }

  // The other side.
  void deliver(const Assignment& assignment, FrameTask task);
  void receive_part(PartialFrame part);
  void no_more();  ///< next() says so when what was delivered is taken
  void stop();     ///< next() says so at once

  struct Counters {
    double wait_s = 0;
    int frames = 0, parts = 0;
  };
  [[nodiscard]] Counters counters() const;

 private:
  void collect(PartialFrame part);
  void pass_on(PartialFrame part, const Assignment& assignment);

  RankMail& mail_;
  TaskList& tasks_;
  const int rank_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Assignment> inbox_;
  std::map<std::pair<std::size_t, int>, Assignment> in_work_;  ///< by frame and first bundle
  bool no_more_ = false, stopped_ = false;
  bool asked_ = false;
  Counters counters_;
  std::mutex joined_mutex_;
  Joined joined_;
  PartCollector collector_;
};

}  // namespace fiberloom::night
