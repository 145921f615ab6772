// SPDX-License-Identifier: BSD-3-Clause
// Who gets which task, or which parts of a task, next. Pure bookkeeping: knows no MPI and no
// file, is told the time, and is called from one thread. What it hands out never changes a byte of
// the output, only when it is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "loom/batch/task.hpp"

namespace loom::batch {

struct TaskCost {
  double core_s = 1;  ///< expected; only ratios matter, but for DispatchOptions::part_overhead_s
  int parts = 1;
  long priority = 0;      ///< higher ones first, whatever they cost
  bool on_first = false;  ///< rank 0 alone gets it
};

struct DispatchOptions {
  /// What a part costs whoever takes it beyond its share: the file is read again. No part is made
  /// that takes its rank less wall time than this.
  double part_overhead_s = 0.1;
};

/// A unit in a rank's hands. Parts of a task are joined by its owner, the rank that got the first.
struct Assignment {
  WorkUnit unit;
  int owner = 0;
  std::uint32_t round =
      0;  ///< counts how often the task was begun; parts of an older round are void
};

enum class Offer {
  kUnit,
  kWait,  ///< nothing now; ask again when something was finished, added or lost
  kDone,  ///< every task is settled, and there will be no more
};

/// Longest tasks first. A rank's room is its fair share of all that is left and in work, less what
/// it has in hand: one that asks ahead does not empty the queue before the others have begun, and
/// gets only what fits whole. A task that is more than an idle rank's room is cut between parts,
/// which happens at the end of a run, or at once when few tasks meet many ranks.
/// Expected costs are scaled by what finished units really took.
class Dispatcher {
 public:
  explicit Dispatcher(const DispatchOptions& options = {});

  /// A task under the caller's number, which no other has. One that is settled is begun again, as
  /// when a watched file was not complete after all; its cost is the new one.
  void add(std::size_t task, const TaskCost& cost);
  /// No add() will follow.
  void close();
  /// A rank that will ask; `cores` weighs its share.
  void join(int rank, double cores = 1);

  /// `now`: seconds, of any steady clock. A rank without work in hand is given some whenever there
  /// is any. O(log(ranks) + log(tasks) + tasks begun).
  Offer next(int rank, double now, Assignment& assignment);
  void finished(int rank, double now, const Assignment& assignment);
  /// The same for a task that the rank had whole; nothing where it had not.
  void finished_whole(int rank, double now, std::size_t task);
  /// The task's outcome is known, good or bad: what of it is not yet handed out will not be.
  void settled(std::size_t task);
  [[nodiscard]] bool is_settled(std::size_t task) const;
  /// What of it is not yet handed out will not be, until begin_again().
  void withdraw(std::size_t task);
  /// What was done of the task is void: a rank that had a part of it leaves, or lost it.
  void begin_again(std::size_t task);
  /// The rank is gone: what it had in hand goes back, and a task that it owned is begun again.
  void lost(int rank);

  [[nodiscard]] bool done() const { return closed_ && in_hand_ == 0 && unsettled_ == 0; }
  [[nodiscard]] bool current(const Assignment& assignment) const;

 private:
  using Nanoseconds = std::int64_t;
  struct Range {
    int first, last;
  };
  struct Entry {
    Nanoseconds cost;
    int parts;
    long priority;
    bool on_first = false;
    std::vector<Range> left;  ///< not handed out, ascending
    int owner = -1;           ///< -1: not begun
    std::uint32_t round = 0;
    bool settled = false;
  };
  struct Rank {
    double cores = 1;
    std::vector<Assignment> held;
    double since = 0;    ///< began its first unit in hand
    double free_at = 0;  ///< expected end of the last one
  };

  [[nodiscard]] Nanoseconds cost_of(const Entry& task, int first, int last) const;
  [[nodiscard]] double scale() const;
  [[nodiscard]] double seconds_of(const Assignment& assignment) const;
  [[nodiscard]] double room_of(const Rank& rank, double now);
  void set_free_at(int number, Rank& rank, double when);
  [[nodiscard]] int parts_for(const Entry& task, const Rank& rank, double room) const;
  void give_back(std::size_t index, Range range);
  void enqueue(std::size_t index);
  void dequeue(std::size_t index);

  DispatchOptions options_;
  std::map<std::size_t, Entry> tasks_;
  std::map<int, Rank> ranks_;
  /// Tasks with something left: begun ones first, then by priority, by cost, by number.
  using Place = std::tuple<int, long, Nanoseconds, std::size_t>;
  [[nodiscard]] Place place_of(std::size_t index) const;
  std::set<Place> queue_;
  /// Ranks that are expected to be busy, by when they are free; sums over them, so that 1,000 ranks
  /// cost no more than one.
  std::set<std::pair<double, int>> busy_;
  double busy_cores_ = 0, busy_until_ = 0;  ///< sum of cores; sum of cores x free_at
  Nanoseconds left_ = 0;
  double cores_ = 0;
  double expected_s_ = 0, took_s_ = 0;  ///< core-seconds of what was finished
  std::size_t in_hand_ = 0, unsettled_ = 0;
  bool closed_ = false;
};

}  // namespace loom::batch
