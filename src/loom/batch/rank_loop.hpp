// SPDX-License-Identifier: BSD-3-Clause
// One process of a job over several ranks: its main thread speaks MPI and nothing else, its
// pipeline runs on threads beside it. Rank 0 works like the others and also hands out the units and
// hears the outcomes.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loom/batch/dispatcher.hpp"
#include "loom/batch/rank_source.hpp"
#include "loom/batch/stage_load.hpp"
#include "loom/runtime/ranks.hpp"

namespace loom::batch {

/// What the ranks know of each other before work begins.
struct RankAgreement {
  std::vector<RankHello> ranks;  ///< rank 0 only
  int isa = 0;                   ///< lowest of all
  int device = 0;                ///< of all, if all have the same
  double cores = 1;              ///< for this rank
  std::string run_id;            ///< rank 0's
  double clock_offset_s = 0;     ///< rank 0's steady clock minus this one's
  double clock_error_s = 0;      ///< half of the shortest round trip
  double origin_s = 0;           ///< start of the run by rank 0's steady clock
};

/// Cores for each rank whose `cores` is 0: of every processor in its mask the part that falls to it
/// when all ranks of its host that have it share it. So ranks that the launcher bound apart keep
/// what they have, and unbound ones divide the machine.
void share_processors(std::vector<RankHello>& ranks);

/// Every rank calls it once, first. Takes a few messages a rank. `run_id` and `origin_s` are rank
/// 0's.
[[nodiscard]] RankAgreement meet_ranks(Ranks& ranks, const RankHello& hello,
                                       const std::string& run_id = {}, double origin_s = 0);

/// Tasks for rank 0 to hand out; safe from any thread of rank 0.
class TaskFeed {
 public:
  TaskFeed(RankMail& mail, const WorkKinds& kinds) : mail_(mail), kinds_(kinds) {}
  /// Those of one call are shared out together: given one by one, the first would be cut up for
  /// the ranks that wait.
  void add(const std::vector<QueuedTask>& tasks) {
    mail_.post(0, kTagAdd, to_bytes(tasks, kinds_));
  }
  void close() { mail_.post(0, kTagClose, {}); }

 private:
  RankMail& mail_;
  const WorkKinds& kinds_;
};

struct RankJob {
  RankAgreement agreement;
  RankHello hello;
  DispatchOptions dispatch;
  TaskList* tasks = nullptr;  ///< those of this rank's units; on rank 0 the run's list
  const WorkKinds* kinds = nullptr;
  /// The pipeline: returns when next() says that there is no more and everything is written. Runs
  /// on a thread of its own. An exception of it ends the job.
  std::function<void(RankSource&)> work;
  /// Rank 0: gives the tasks; on a thread of its own too, so that a watched folder may take for
  /// ever. Must return soon after `stop`.
  std::function<void(TaskFeed&)> feed;
  /// Rank 0: each outcome of any rank, from the main thread.
  std::function<void(const Outcome&)> outcome;
  /// Rank 0: see RankServer::Claim.
  std::function<std::optional<Outcome>(std::size_t)> claim;
  /// How busy this rank's stages are: rank 0 hears it once a second, and at the end.
  std::function<StageLoad()> load;
  /// Rank 0: the same of another rank, from the main thread.
  std::function<void(int rank, const StageLoad&)> heard_load;
  std::function<bool()> stop;
  /// The job cannot go on; called before anything waits for anything. A real job prints and calls
  /// Ranks::abort() here. Without it, or if it returns, run_ranks() throws.
  std::function<void(const std::exception_ptr&)> fatal;
  /// This rank's timeline events, when asked at the end.
  std::function<std::string()> trace;
  double launch_s = 0, open_s = 0;  ///< for the report
  /// A rank that is silent for so long is taken for dead. Time during which this process itself was
  /// suspended does not count.
  double silence_s = 20;
};

/// Runs the job; rank 0 returns every rank's report, the others their own. Fails with what the
/// pipeline threw, and with kInternal when a rank is lost.
[[nodiscard]] std::vector<RankReport> run_ranks(Ranks& ranks, const RankJob& job);

}  // namespace loom::batch
