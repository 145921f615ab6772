// SPDX-License-Identifier: BSD-3-Clause
// Whole jobs of ranks that are threads: units, parts, stops, ranks that fall silent.
#include "loom/batch/rank_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "loom/batch/test_text_kind.hpp"
#include "loom/testing/thread_ranks.hpp"

namespace loom::batch {
namespace {

using Clock = std::chrono::steady_clock;

Task make_task(int number, int parts = 20) {
  const std::string name = "r" + std::to_string(number % 10) + "-" + std::to_string(number);
  Task task = test::text_task(name, {"image " + name}, "/out/" + name, parts);
  task.cost_s = 1.0 + 0.1 * (number % 3);
  return task;
}

/// A pipeline that computes nothing: it joins and counts parts.
class EmptyPipeline {
 public:
  EmptyPipeline(RankSource& source, const TaskList& tasks) : source_(source), tasks_(tasks) {
    source.set_joiner([this](PartialTask part) {
      const std::size_t task = part.unit.task;
      const auto parts = collector_.add(std::move(part));
      if (!parts) return;
      int covered = 0;
      bool failed = false;
      for (const PartialTask& p : *parts) {
        covered += p.unit.last_part - p.unit.first_part;
        failed = failed || p.outcome.state != TaskState::kDone;
      }
      EXPECT_TRUE(failed || covered == tasks_.at(task).parts);
      source_.task_done(outcome_of(task, failed ? TaskState::kFailed : TaskState::kDone));
    });
  }
  EmptyPipeline(const EmptyPipeline&) = delete;
  EmptyPipeline& operator=(const EmptyPipeline&) = delete;
  ~EmptyPipeline() { source_.set_joiner({}); }

  /// `each` may stop the task: its exit code.
  void run(const std::function<int(const WorkUnit&)>& each) {
    while (const auto unit = source_.next()) {
      EXPECT_EQ(tasks_.at(unit->task).inputs.front(), "image " + tasks_.at(unit->task).name);
      const int code = each(*unit);
      if (unit->last_part >= 0 && code == 0) {
        PartialTask part;
        part.unit = *unit;
        part.outcome.state = TaskState::kDone;
        source_.part_done(std::move(part));
      }
      const auto state = code == 0 ? TaskState::kDone : TaskState::kFailed;
      Outcome outcome = outcome_of(unit->task, state);
      outcome.first_part = unit->first_part;
      source_.finished(outcome);
    }
  }

 private:
  static Outcome outcome_of(std::size_t task, TaskState state) {
    Outcome outcome;
    outcome.task = task;
    outcome.state = state;
    return outcome;
  }

  RankSource& source_;
  const TaskList& tasks_;
  PartCollector collector_;
};

struct Result {
  std::map<std::size_t, std::vector<TaskState>> heard;
  std::vector<RankReport> reports;
  std::map<int, StageLoad> loads;
};

struct Plan {
  int ranks = 2;
  int frames = 5;
  double overhead_s = 0;
  std::function<int(int rank, const WorkUnit&)> each = [](int, const WorkUnit&) { return 0; };
  std::function<bool(int rank)> stop = [](int) { return false; };
  double silence_s = 20;
  int silent_rank = -1;  ///< says hello, then nothing
  std::function<int(int rank)> device = [](int) { return 0; };
  int agreed = 0;
  std::function<std::vector<std::size_t>(int task)> after = [](int) {
    return std::vector<std::size_t>();
  };
};

void run_rank(ThreadRanks::World& world, int rank, const Plan& plan, Result& result) {
  ThreadRanks ranks(world, rank);
  const RankHello hello{"host" + std::to_string(rank), 1.0, 3 - rank % 2, {}, plan.device(rank)};
  TaskList tasks;
  const WorkKinds kinds({std::make_shared<test::TextKind>()});
  RankJob job;
  job.tasks = &tasks;
  job.kinds = &kinds;
  job.agreement = meet_ranks(ranks, hello, "run");
  EXPECT_EQ(job.agreement.run_id, "run");
  EXPECT_EQ(job.agreement.isa, plan.ranks > 1 ? 2 : 3);
  EXPECT_EQ(job.agreement.device, plan.agreed);
  if (rank == plan.silent_rank) {
    while (world.aborted == 0) std::this_thread::yield();
    return;
  }
  job.hello = hello;
  job.dispatch.part_overhead_s = plan.overhead_s;
  job.silence_s = plan.silence_s;
  job.stop = [&plan, rank] { return plan.stop(rank); };
  job.work = [&plan, &tasks, rank](RankSource& source) {
    EmptyPipeline(source, tasks).run([&](const WorkUnit& unit) { return plan.each(rank, unit); });
  };
  job.feed = [&plan](TaskFeed& feed) {
    std::vector<QueuedTask> found;
    for (int i = 0; i < plan.frames; ++i) {
      found.push_back({static_cast<std::size_t>(i), plan.after(i), make_task(i)});
    }
    feed.add(found);
  };
  job.outcome = [&result](const Outcome& o) { result.heard[o.task].push_back(o.state); };
  job.load = [rank] {
    StageLoad load;
    load.compute_s = 1 + rank;
    load.threads = 2;
    return load;
  };
  job.heard_load = [&result](int from, const StageLoad& load) { result.loads[from] = load; };
  job.fatal = [&ranks](const std::exception_ptr&) { ranks.abort(70); };
  job.trace = [rank] { return "trace of " + std::to_string(rank); };
  auto reports = run_ranks(ranks, job);
  if (rank == 0) result.reports = std::move(reports);
  ranks.finish();
}

Result play(const Plan& plan) {
  ThreadRanks::World world(plan.ranks);
  Result result;
  std::vector<std::thread> threads;
  for (int r = 0; r < plan.ranks; ++r) {
    threads.emplace_back([&, r] {
      try {
        run_rank(world, r, plan, result);
      } catch (const Error&) {
        EXPECT_NE(world.aborted, 0);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  if (world.aborted != 0) result.heard.clear();
  return result;
}

TEST(RankLoop, EveryFrameHasOneOutcomeForAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 7}) {
    for (const int frames : {0, 1, 2, 5, 20}) {
      Plan plan;
      plan.ranks = ranks;
      plan.frames = frames;

      const Result result = play(plan);

      EXPECT_EQ(result.heard.size(), static_cast<std::size_t>(frames));
      for (const auto& [frame, states] : result.heard) {
        EXPECT_EQ(states, std::vector<TaskState>{TaskState::kDone}) << frame;
      }
      EXPECT_EQ(result.reports.size(), static_cast<std::size_t>(ranks));
    }
  }
}

TEST(RankLoop, TheRanksUseTheirDevicesOnlyIfAllHaveTheSameKind) {
  constexpr int kCpu = 0, kCard = 90, kOlder = 80;
  Plan plan;
  plan.ranks = 3;
  plan.device = [=](int) { return kCard; };
  plan.agreed = kCard;
  (void)play(plan);
  for (int other = 0; other < 3; ++other) {
    for (const int kind : {kCpu, kOlder}) {
      plan.device = [=](int rank) { return rank == other ? kind : kCard; };
      plan.agreed = kCpu;
      (void)play(plan);
    }
  }
}

TEST(RankLoop, RankZeroHearsHowBusyTheOthersWere) {
  Plan plan;
  plan.ranks = 3;

  const Result result = play(plan);

  ASSERT_EQ(result.loads.size(), 2U);
  for (const auto& [rank, load] : result.loads) {
    EXPECT_EQ(load.compute_s, 1 + rank);
    EXPECT_EQ(load.threads, 2U);
  }
}

TEST(RankLoop, OneFrameIsSharedByAllRanks) {
  Plan plan;
  plan.ranks = 4;
  plan.frames = 1;
  std::mutex mutex;
  std::map<int, int> parts;
  plan.each = [&](int rank, const WorkUnit&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::lock_guard lock(mutex);
    ++parts[rank];
    return 0;
  };
  const Result result = play(plan);
  EXPECT_EQ(parts.size(), 4U);
  EXPECT_EQ(result.heard.size(), 1U);
}

TEST(RankLoop, APartThatFailsFailsItsFrameAndNothingElse) {
  Plan plan;
  plan.ranks = 3;
  plan.frames = 2;
  plan.each = [](int, const WorkUnit& unit) {
    return unit.task == 1 && (unit.last_part < 0 || unit.last_part == 20) ? 14 : 0;
  };
  const Result result = play(plan);
  ASSERT_EQ(result.heard.size(), 2U);
  EXPECT_EQ(result.heard.at(0), std::vector<TaskState>{TaskState::kDone});
  EXPECT_EQ(result.heard.at(1), std::vector<TaskState>{TaskState::kFailed});
}

TEST(RankLoop, AStoppedJobEndsWithWhatWasInFlight) {
  Plan plan;
  plan.ranks = 3;
  plan.frames = 500;
  std::atomic<int> done{0};
  plan.each = [&](int, const WorkUnit&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++done;
    return 0;
  };
  plan.stop = [&](int rank) { return rank == 0 && done > 5; };
  const Result result = play(plan);
  EXPECT_EQ(result.heard.size(), static_cast<std::size_t>(done)) << "whole frames, and all heard";
  EXPECT_LT(done, 500);
}

TEST(RankLoop, TheOthersTakeOverFromARankThatIsToldToLeave) {
  Plan plan;
  plan.ranks = 3;
  plan.frames = 30;
  plan.each = [&](int, const WorkUnit&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return 0;
  };
  plan.stop = [&](int rank) { return rank == 2; };
  const Result result = play(plan);
  EXPECT_EQ(result.heard.size(), 30U);
}

TEST(RankLoop, ARankThatHasLeftWaitsForTheOthersAsLongAsTheyWork) {
  Plan plan;
  plan.ranks = 3;
  plan.frames = 3;
  plan.silence_s = 1.8;
  plan.each = [](int rank, const WorkUnit&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(rank == 2 ? 10 : 4500));
    return 0;
  };
  plan.overhead_s = 1e6;                                               // whole frames
  const auto leaves = Clock::now() + std::chrono::milliseconds(1500);  // having heard of rank 0
  plan.stop = [&](int rank) { return rank == 2 && Clock::now() > leaves; };
  const Result result = play(plan);
  EXPECT_EQ(result.heard.size(), 3U) << "none when the job was aborted";
}

TEST(RankLoop, ASilentRankEndsTheJob) {
  Plan plan;
  plan.ranks = 3;
  plan.silent_rank = 2;
  plan.silence_s = 1.2;
  const auto start = Clock::now();
  const Result result = play(plan);
  EXPECT_TRUE(result.heard.empty());
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
}

TEST(RankLoop, WhatAPipelineThrowsEndsTheJob) {
  Plan plan;
  plan.ranks = 2;
  plan.each = [](int rank, const WorkUnit&) -> int {
    if (rank == 1) throw Error(Status::kDiskFull, "no space");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return 0;
  };
  EXPECT_TRUE(play(plan).heard.empty());
}

TEST(RankAgreement, RanksThatShareProcessorsDivideThemAndBoundOnesKeepTheirs) {
  std::vector<RankHello> ranks{{"a", 0, 0, {0, 1, 2, 3}}, {"a", 0, 0, {0, 1, 2, 3}},
                               {"b", 0, 0, {0, 1}},       {"b", 0, 0, {2, 3}},
                               {"c", 0, 0, {0}},          {"c", 0, 0, {0}},
                               {"d", 7, 0, {0, 1}}};
  share_processors(ranks);
  std::vector<double> cores;
  for (const RankHello& r : ranks) cores.push_back(r.cores);
  EXPECT_EQ(cores, (std::vector<double>{2, 2, 2, 2, 1, 1, 7}));
}

TEST(RankLoop, TasksThatNeedOthersComeAfterThemAndAreGivenUpWhereThoseFail) {
  for (const int ranks : {1, 2, 4}) {
    Plan plan;
    plan.ranks = ranks;
    plan.frames = 6;  // 0 <- 1, 2 <- 3; 4 <- 5
    plan.after = [](int task) -> std::vector<std::size_t> {
      if (task == 1 || task == 2) return {0};
      if (task == 3) return {1, 2};
      if (task == 5) return {4};
      return {};
    };
    std::mutex mutex;
    std::map<std::size_t, Clock::time_point> first, last;
    plan.each = [&](int, const WorkUnit& unit) {
      const auto begin = Clock::now();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard lock(mutex);
      first.try_emplace(unit.task, begin);
      last[unit.task] = Clock::now();
      return unit.task == 4 ? 14 : 0;
    };
    const Result result = play(plan);
    ASSERT_EQ(result.heard.size(), 6U);
    for (const std::size_t task : {0, 1, 2, 3}) {
      EXPECT_EQ(result.heard.at(task), std::vector<TaskState>{TaskState::kDone}) << task;
    }
    EXPECT_EQ(result.heard.at(4), std::vector<TaskState>{TaskState::kFailed});
    EXPECT_EQ(result.heard.at(5), std::vector<TaskState>{TaskState::kBlocked});
    EXPECT_FALSE(first.contains(5)) << "never begun";
    EXPECT_GE(first.at(1), last.at(0));
    EXPECT_GE(first.at(2), last.at(0));
    EXPECT_GE(first.at(3), std::max(last.at(1), last.at(2)));
  }
}

TEST(Wire, ATruncatedMessageIsAnErrorAndNoCrash) {
  const WorkKinds kinds({std::make_shared<test::TextKind>()});
  std::vector<QueuedTask> tasks{{0, {}, make_task(3)}, {1, {0, 7}, make_task(4)}};
  const Bytes bytes = to_bytes(tasks, kinds);
  std::vector<QueuedTask> back;
  from_bytes(bytes, back, kinds);
  ASSERT_EQ(back.size(), 2U);
  EXPECT_EQ(back[1].after, tasks[1].after);
  EXPECT_EQ(back[1].task.name, tasks[1].task.name);
  EXPECT_EQ(back[1].task.labels, tasks[1].task.labels);
  EXPECT_EQ(back[1].task.outputs, tasks[1].task.outputs);
  EXPECT_EQ(test::TextKind::work_of(back[1].task).lines, 20);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(from_bytes(std::span(bytes).first(n), back, kinds), Error) << n;
  }
}

}  // namespace
}  // namespace loom::batch
