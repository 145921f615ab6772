// SPDX-License-Identifier: BSD-3-Clause
// Plays whole jobs against the dispatcher with ranks that are made of nothing but a clock.
#include "loom/batch/dispatcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace loom::batch {
namespace {

/// Ranks that work through what they are given in order, asking `ahead` units before they need
/// them.
class Job {
 public:
  Job(Dispatcher& dispatcher, const std::vector<TaskCost>& costs, int ranks, int ahead)
      : dispatcher_(dispatcher), costs_(costs), ahead_(ahead), covered_(costs.size()) {
    for (std::size_t f = 0; f < costs.size(); ++f) {
      dispatcher.add(f, costs[f]);
      covered_[f].assign(static_cast<std::size_t>(costs[f].parts), 0);
    }
    owner_.assign(costs.size(), -1);
    round_.assign(costs.size(), 0);
    dispatcher.close();
    for (int r = 0; r < ranks; ++r) {
      dispatcher.join(r);
      workers_.push_back({});
    }
  }

  /// Until the work is done or `until`; the time of the last end.
  double play(double until = 1e9) {
    while (true) {
      for (std::size_t r = 0; r < workers_.size(); ++r) ask(r);
      std::size_t first = workers_.size();
      for (std::size_t r = 0; r < workers_.size(); ++r) {
        if (!workers_[r].alive || workers_[r].held.empty()) continue;
        if (first == workers_.size() || workers_[r].busy_until < workers_[first].busy_until)
          first = r;
      }
      if (first == workers_.size()) return now_;
      if (workers_[first].busy_until > until) return now_;
      finish(first);
    }
  }

  void kill(std::size_t rank) {
    workers_[rank].alive = false;
    workers_[rank].held.clear();
    dispatcher_.lost(static_cast<int>(rank));
    for (std::size_t f = 0; f < costs_.size(); ++f) {
      if (owner_[f] != static_cast<int>(rank) || complete(f)) continue;
      std::fill(covered_[f].begin(), covered_[f].end(), 0);
      owner_[f] = -1;
      ++round_[f];
    }
  }

  /// Every part of every task exactly once in the task's last round.
  [[nodiscard]] bool covered_once() const {
    for (std::size_t f = 0; f < costs_.size(); ++f) {
      if (!complete(f)) return false;
    }
    return true;
  }
  [[nodiscard]] int units() const { return units_; }
  [[nodiscard]] double busy() const { return busy_; }

 private:
  struct Worker {
    std::vector<Assignment> held;
    double busy_until = 0;
    bool alive = true;
  };

  [[nodiscard]] bool complete(std::size_t f) const {
    return std::all_of(covered_[f].begin(), covered_[f].end(), [](int n) { return n == 1; });
  }
  [[nodiscard]] double seconds(const Assignment& a) const {
    const TaskCost& cost = costs_[a.unit.task];
    const int last = a.unit.last_part < 0 ? cost.parts : a.unit.last_part;
    return cost.core_s * (last - a.unit.first_part) / cost.parts;
  }

  void ask(std::size_t r) {
    Worker& w = workers_[r];
    while (w.alive && static_cast<int>(w.held.size()) <= ahead_) {
      Assignment a;
      if (dispatcher_.next(static_cast<int>(r), now_, a) != Offer::kUnit) return;
      const std::size_t f = a.unit.task;
      EXPECT_EQ(a.round, round_[f]);
      if (owner_[f] < 0) owner_[f] = a.owner;
      EXPECT_EQ(a.owner, owner_[f]) << "a task has one owner";
      if (w.held.empty()) w.busy_until = now_ + seconds(a);
      w.held.push_back(a);
      ++units_;
    }
  }

  void finish(std::size_t r) {
    Worker& w = workers_[r];
    const Assignment a = w.held.front();
    now_ = w.busy_until;
    busy_ += seconds(a);
    w.held.erase(w.held.begin());
    const std::size_t f = a.unit.task;
    if (a.round == round_[f]) {
      const int last = a.unit.last_part < 0 ? costs_[f].parts : a.unit.last_part;
      for (int b = a.unit.first_part; b < last; ++b) ++covered_[f][static_cast<std::size_t>(b)];
      if (complete(f)) dispatcher_.settled(f);
    }
    dispatcher_.finished(static_cast<int>(r), now_, a);
    if (!w.held.empty()) w.busy_until = now_ + seconds(w.held.front());
  }

  Dispatcher& dispatcher_;
  std::vector<TaskCost> costs_;
  int ahead_;
  std::vector<Worker> workers_;
  std::vector<std::vector<int>> covered_;
  std::vector<int> owner_;
  std::vector<std::uint32_t> round_;
  double now_ = 0, busy_ = 0;
  int units_ = 0;
};

std::vector<TaskCost> mixed(int tasks, int parts = 20) {
  std::vector<TaskCost> costs;
  for (int i = 0; i < tasks; ++i) {
    costs.push_back({i % 3 == 0 ? 1.3 : i % 3 == 1 ? 1.0 : 0.8, parts});
  }
  return costs;
}

TEST(Dispatcher, AFrameThatIsAddedAgainOnceItIsSettledIsHandedOutAgain) {
  Dispatcher dispatcher;
  dispatcher.join(0);
  dispatcher.add(7, {1.0, 20});
  Assignment first, second;
  ASSERT_EQ(dispatcher.next(0, 0, first), Offer::kUnit);
  dispatcher.add(7, {1.0, 20});  // in work: not twice
  EXPECT_EQ(dispatcher.next(0, 0, second), Offer::kWait);
  dispatcher.finished_whole(0, 1, 7);
  dispatcher.settled(7);

  dispatcher.add(7, {1.0, 20});

  ASSERT_EQ(dispatcher.next(0, 1, second), Offer::kUnit);
  EXPECT_EQ(second.unit.task, 7U);
  EXPECT_GT(second.round, first.round);
  dispatcher.close();
  dispatcher.finished_whole(0, 2, 7);
  EXPECT_FALSE(dispatcher.done());
  dispatcher.settled(7);
  EXPECT_TRUE(dispatcher.done());
}

TEST(Dispatcher, HandsOutEveryBundleOnceForAnyNumberOfRanksAndFrames) {
  for (const int tasks : {0, 1, 2, 3, 7, 30}) {
    for (const int ranks : {1, 2, 3, 7, 64, 200}) {
      for (const int parts : {1, 2, 20}) {
        for (const int ahead : {0, 1, 3}) {
          for (const double overhead : {0.0, 0.1, 100.0}) {
            Dispatcher dispatcher({overhead});
            Job job(dispatcher, mixed(tasks, parts), ranks, ahead);

            job.play();

            EXPECT_TRUE(job.covered_once()) << tasks << " tasks, " << ranks << " ranks";
            EXPECT_TRUE(dispatcher.done());
            Assignment none;
            EXPECT_EQ(dispatcher.next(0, 0, none), Offer::kDone);
          }
        }
      }
    }
  }
}

TEST(Dispatcher, LeavesNoRankIdleForLongerThanAPartIsWorth) {
  for (const int tasks : {1, 2, 5, 29, 30, 31, 100}) {
    for (const int ranks : {1, 2, 3, 7, 16}) {
      Dispatcher dispatcher({0.1});
      const auto costs = mixed(tasks);
      double work = 0;
      for (const TaskCost& cost : costs) work += cost.core_s;
      Job job(dispatcher, costs, ranks, 1);

      const double took = job.play();

      // At most two parts' rounding and one part too small to be cut off.
      EXPECT_LE(took, work / ranks + 0.1 + 2 * 1.3 / 20)
          << tasks << " tasks, " << ranks << " ranks";
    }
  }
}

TEST(Dispatcher, CutsNoFrameWhileThereIsWorkForAll) {
  Dispatcher dispatcher({0.1});
  dispatcher.join(0);
  dispatcher.join(1);
  const auto costs = mixed(30);
  for (std::size_t f = 0; f < costs.size(); ++f) dispatcher.add(f, costs[f]);
  Assignment a;
  double last = 2;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(dispatcher.next(i % 2, 0, a), Offer::kUnit);
    EXPECT_EQ(a.unit.last_part, -1);
    EXPECT_LE(costs[a.unit.task].core_s, last) << "longest first";
    last = costs[a.unit.task].core_s;
    dispatcher.finished(i % 2, 0, a);
  }
}

TEST(Dispatcher, ARankThatAsksAheadLeavesTheOthersTheirShare) {
  Dispatcher dispatcher({0.1});
  for (int r = 0; r < 4; ++r) dispatcher.join(r);
  for (std::size_t i = 0; i < 4; ++i) dispatcher.add(i, {1.0, 20});
  Assignment a;
  ASSERT_EQ(dispatcher.next(0, 0, a), Offer::kUnit);
  EXPECT_EQ(dispatcher.next(0, 0, a), Offer::kWait);
  for (int r = 1; r < 4; ++r) {
    ASSERT_EQ(dispatcher.next(r, 0, a), Offer::kUnit);
    EXPECT_EQ(a.unit.last_part, -1);
  }
}

TEST(Dispatcher, WhatIsForTheFirstRankNoOtherGets) {
  Dispatcher dispatcher;
  for (int r = 0; r < 3; ++r) dispatcher.join(r);
  dispatcher.add(0, {.core_s = 5.0, .priority = 9, .on_first = true});
  dispatcher.add(1, {.core_s = 1.0});
  dispatcher.close();
  Assignment a;
  ASSERT_EQ(dispatcher.next(2, 0, a), Offer::kUnit) << "what is behind it is not held up";
  EXPECT_EQ(a.unit.task, 1U);
  EXPECT_EQ(dispatcher.next(1, 0, a), Offer::kWait);
  ASSERT_EQ(dispatcher.next(0, 0, a), Offer::kUnit);
  EXPECT_EQ(a.unit.task, 0U);
}

TEST(Dispatcher, NeverCutsAFrameThatMustStayWhole) {
  Dispatcher dispatcher({0.0});
  Job job(dispatcher, std::vector<TaskCost>(3, {1.0, 1}), 8, 1);
  job.play();
  EXPECT_TRUE(job.covered_once());
  EXPECT_EQ(job.units(), 3);
}

TEST(Dispatcher, MakesNoPartThatCostsMoreThanItIsWorth) {
  Dispatcher dispatcher({0.3});
  Job job(dispatcher, {{1.0, 20}}, 64, 0);
  job.play();
  EXPECT_LE(job.units(), 3);
}

TEST(Dispatcher, ARankWithMoreCoresGetsMore) {
  Dispatcher dispatcher({0.0});
  dispatcher.join(0, 3);
  dispatcher.join(1, 1);
  dispatcher.add(0, {1.0, 20});
  Assignment a, b;
  ASSERT_EQ(dispatcher.next(1, 0, b), Offer::kUnit);
  ASSERT_EQ(dispatcher.next(0, 0, a), Offer::kUnit);
  EXPECT_EQ(b.unit.last_part - b.unit.first_part, 5);
  EXPECT_EQ(a.unit.last_part - a.unit.first_part, 15);
}

TEST(Dispatcher, WorkOfALostRankIsDoneByTheOthers) {
  for (const int tasks : {1, 2, 5}) {
    for (const int ranks : {2, 3, 7}) {
      for (const double when : {0.0, 0.05, 0.3, 0.9, 1.5}) {
        for (std::size_t victim = 0; victim < 2; ++victim) {
          Dispatcher dispatcher({0.0});
          Job job(dispatcher, mixed(tasks), ranks, 1);
          job.play(when);

          job.kill(victim);
          job.play();

          EXPECT_TRUE(job.covered_once())
              << tasks << " tasks, " << ranks << " ranks, rank " << victim << " lost at " << when;
          EXPECT_TRUE(dispatcher.done());
        }
      }
    }
  }
}

TEST(Dispatcher, PartsOfAFrameWhoseOwnerIsLostAreVoid) {
  Dispatcher dispatcher({0.0});
  dispatcher.join(0);
  dispatcher.join(1);
  dispatcher.add(0, {1.0, 2});
  Assignment first, second, again;
  ASSERT_EQ(dispatcher.next(0, 0, first), Offer::kUnit);
  ASSERT_EQ(dispatcher.next(1, 0, second), Offer::kUnit);
  EXPECT_EQ(second.owner, 0);

  dispatcher.lost(0);

  EXPECT_FALSE(dispatcher.current(second));
  dispatcher.finished(1, 0, second);
  ASSERT_EQ(dispatcher.next(1, 0, again), Offer::kUnit);
  EXPECT_EQ(again.owner, 1);
  EXPECT_EQ(again.unit.last_part, -1);
  EXPECT_TRUE(dispatcher.current(again));
}

TEST(Dispatcher, TheRestOfAFailedFrameIsNotHandedOut) {
  Dispatcher dispatcher({0.0});
  dispatcher.join(0);
  dispatcher.join(1);
  dispatcher.add(0, {1.0, 20});
  dispatcher.close();
  Assignment a;
  ASSERT_EQ(dispatcher.next(0, 0, a), Offer::kUnit);

  dispatcher.settled(0);

  EXPECT_EQ(dispatcher.next(1, 0, a), Offer::kWait);
  dispatcher.finished(0, 0, a);
  EXPECT_EQ(dispatcher.next(1, 0, a), Offer::kDone);
}

TEST(Dispatcher, WaitsForFramesThatMayStillCome) {
  Dispatcher dispatcher;
  dispatcher.join(0);
  Assignment a;
  EXPECT_EQ(dispatcher.next(0, 0, a), Offer::kWait);
  dispatcher.add(0, {1.0, 20});
  EXPECT_EQ(dispatcher.next(0, 0, a), Offer::kUnit);
  dispatcher.settled(0);
  dispatcher.finished(0, 0, a);
  EXPECT_EQ(dispatcher.next(0, 0, a), Offer::kWait);
  dispatcher.close();
  EXPECT_EQ(dispatcher.next(0, 0, a), Offer::kDone);
}

TEST(Dispatcher, TheNewestExposureComesFirstWhateverItCosts) {
  Dispatcher dispatcher({0.1});
  dispatcher.join(0);
  for (std::size_t f = 0; f < 9; ++f) {
    dispatcher.add(100 + f, {1.0 + 0.1 * static_cast<double>(f % 3), 20, static_cast<long>(f / 3)});
  }
  std::vector<std::size_t> order;
  for (Assignment a; dispatcher.next(0, 0, a) == Offer::kUnit;) {
    order.push_back(a.unit.task);
    dispatcher.settled(a.unit.task);
    dispatcher.finished(0, 0, a);
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{108, 107, 106, 105, 104, 103, 102, 101, 100}));
}

TEST(Dispatcher, AFrameBegunAgainIsHandedOutWhole) {
  Dispatcher dispatcher({0.0});
  dispatcher.join(0);
  dispatcher.join(1);
  dispatcher.add(0, {1.0, 2});
  dispatcher.close();
  Assignment a, b;
  ASSERT_EQ(dispatcher.next(0, 0, a), Offer::kUnit);
  ASSERT_EQ(dispatcher.next(1, 0, b), Offer::kUnit);
  dispatcher.finished(1, 0, b);

  dispatcher.begin_again(0);
  dispatcher.lost(1);

  dispatcher.finished(0, 0, a);
  ASSERT_EQ(dispatcher.next(0, 0, a), Offer::kUnit);
  EXPECT_EQ(a.unit.last_part, -1);
}

}  // namespace
}  // namespace loom::batch
