// SPDX-License-Identifier: BSD-3-Clause
// A tree that grows while its files arrive ends with the bytes of one that was planned at once, in
// one process and over ranks.
#include "loom/batch/growing_source.hpp"

#include <atomic>
#include <filesystem>
#include <thread>

#include "loom/base/error.hpp"
#include "loom/batch/run.hpp"
#include "loom/batch/run_on_ranks.hpp"
#include "loom/batch/test_text_kind.hpp"
#include "loom/testing/scratch_folder.hpp"
#include "loom/testing/thread_ranks.hpp"

namespace loom::batch {
namespace {

namespace fs = std::filesystem;
using test::text_task;

class Growing : public ScratchFolder, public testing::WithParamInterface<int> {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    fs::create_directories(path("in"));
    job_.title = [](const std::vector<Task>&) { return std::string("texts"); };
    job_.kinds = WorkKinds({kind_});
    job_.pipeline.threads = 2;
    job_.pipeline.memory_bytes = std::uint64_t{1} << 30;
    job_.monitor.ledger.labels = {{"word"}, {"number", LedgerShape::LabelColumn::Type::kInteger}};
  }
  [[nodiscard]] std::string made(const std::string& name) const {
    return job_.folder.output() + "/" + name + ".txt";
  }
  /// A leaf for each file below in/, by name.
  [[nodiscard]] std::vector<Task> leaves(const std::set<std::string>& skip) const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path("in"))) {
      names.insert(entry.path().stem().string());
    }
    std::vector<Task> tasks;
    for (const std::string& name : names) {
      if (skip.contains(name)) continue;
      tasks.push_back(text_task(name, {path("in/" + name + ".txt")}, made(name)));
    }
    return tasks;
  }
  /// Leaves, the sum of those that are there, and what is made of that.
  [[nodiscard]] std::vector<Task> grown(std::vector<Task> found) const {
    std::sort(found.begin(), found.end(),
              [](const Task& a, const Task& b) { return a.name < b.name; });
    Task sum = text_task("sum", {}, made("sum"));
    for (const Task& leaf : found) sum.any_inputs.push_back(leaf.outputs.front());
    found.push_back(std::move(sum));
    found.push_back(text_task("end", {made("sum")}, made("end")));
    return found;
  }
  BatchReport watch(const std::function<void()>& meanwhile) {
    job_.folder = RunFolder(path("watched"), {"loom", "1"});
    job_.watch = WatchOptions{.poll_s = 0.02, .settle_s = 0.1, .idle_s = 0.6};
    job_.find = [this](const std::set<std::string>& skip) { return leaves(skip); };
    job_.grow = [this](std::vector<Task> found, const std::vector<Task>&) {
      ++plans_;
      return grown(std::move(found));
    };
    std::thread other(meanwhile);
    BatchReport report = GetParam() == 0 ? run_batch(job_, {}, {}, nullptr) : on_ranks(GetParam());
    other.join();
    return report;
  }
  /// The same on ranks that are threads; what rank 0 reports.
  BatchReport on_ranks(int size) {
    ThreadRanks::World world(size);
    std::vector<std::thread> threads;
    BatchReport report;
    for (int r = 0; r < size; ++r) {
      threads.emplace_back([&, r] {
        ThreadRanks ranks(world, r);
        RanksJob ranks_job{.batch = job_};
        ranks_job.dispatch.part_overhead_s = 0;
        ranks_job.fatal = [&](const std::exception_ptr&) { ranks.abort(70); };
        try {
          RanksReport own = run_batch_on_ranks(ranks, ranks_job, {}, {}, nullptr);
          if (r == 0) report = std::move(own.batch);
          ranks.finish();
        } catch (const Error&) {
          EXPECT_NE(world.aborted, 0);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(world.aborted, 0);
    return report;
  }
  BatchReport at_once() {
    job_.folder = RunFolder(path("at-once"), {"loom", "1"});
    job_.watch.reset();
    job_.plan = [this] {
      return plan_batch(grown(leaves({})), job_.kinds, job_.folder, Check::kStamps);
    };
    return run_batch(job_, {}, {}, nullptr);
  }
  [[nodiscard]] std::map<std::string, std::string> texts(const std::string& out) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(path(out))) {
      if (entry.path().extension() != ".txt") continue;
      all[entry.path().filename().string()] = read_text_file(entry.path().string()).value();
    }
    return all;
  }
  void wait_for(const std::string& name) const {
    for (int k = 0; k < 500 && !fs::exists(made(name)); ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(fs::exists(made(name))) << name;
  }
  static TaskState state(const BatchReport& report, const std::string& name) {
    for (std::size_t i = 0; i < report.tasks.size(); ++i) {
      if (report.tasks[i].name == name) return report.outcomes[i].state;
    }
    return TaskState::kWaiting;
  }

  BatchJob job_{.folder = RunFolder("", {"loom", "1"}), .kinds = {}};
  std::shared_ptr<test::TextKind> kind_ = std::make_shared<test::TextKind>();
  std::atomic<int> plans_{0};
};

TEST_P(Growing, WhatArrivesLaterIsTakenInAndTheEndIsThatOfTheWhole) {
  put("in/b.txt", "bb");
  std::string early;
  const BatchReport report = watch([&] {
    wait_for("end");
    early = read_text_file(made("sum")).value();
    put("in/a.txt", "a");
    put("in/c.txt", std::string(300, 'c'));
  });
  EXPECT_EQ(exit_status(report), Status::kOk);
  EXPECT_EQ(report.counts.tasks, 5u) << "a task that is done again is one task";
  EXPECT_GE(plans_, 2);
  ASSERT_EQ(exit_status(at_once()), Status::kOk);
  EXPECT_NE(texts("watched").at("sum.txt"), early);
  EXPECT_EQ(texts("watched"), texts("at-once"));
}

TEST_P(Growing, ATaskInWorkThatGrowsIsDoneAgainAfterwards) {
  put("in/a.txt", "a");
  std::atomic<int> sums{0};
  kind_->before = [&](const Task& task, const WorkUnit&) {
    if (task.name != "sum" || sums++ > 0) return;
    put("in/b.txt", "bbbb");  // while the first sum is in work
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  };
  const BatchReport report = watch([] {});
  kind_->before = {};
  EXPECT_EQ(exit_status(report), Status::kOk);
  EXPECT_EQ(sums, 2);
  ASSERT_EQ(exit_status(at_once()), Status::kOk);
  EXPECT_EQ(texts("watched"), texts("at-once"));
}

TEST_P(Growing, WhatFailsHoldsBackWhatNeedsItUntilItsFileIsMended) {
  put("in/a.txt", "bad");
  const BatchReport held = watch([] {});
  EXPECT_EQ(exit_status(held), Status::kSomeFailed);
  EXPECT_EQ(state(held, "a"), TaskState::kFailed);
  EXPECT_EQ(state(held, "sum"), TaskState::kBlocked);
  EXPECT_EQ(state(held, "end"), TaskState::kBlocked);
  const BatchReport mended = watch([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    put("in/a.txt", "mended");
  });
  EXPECT_EQ(exit_status(mended), Status::kOk);
  EXPECT_EQ(state(mended, "end"), TaskState::kDone);
}

TEST_P(Growing, AFileThatGrowsIsLeftAloneUntilItIsWhole) {
  put("in/a.txt", "a");
  const BatchReport report = watch([&] {
    for (int k = 0; k < 10; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      put("in/b.txt", std::string(static_cast<std::size_t>(k + 1), 'b'));
    }
  });
  EXPECT_EQ(exit_status(report), Status::kOk);
  EXPECT_EQ(texts("watched").at("b.txt"), "line 0 of 10 letters\n");
  EXPECT_LE(plans_, 4);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Growing, testing::Values(0, 1, 3),
                         [](const auto& ranks) { return "of_" + std::to_string(ranks.param); });

}  // namespace
}  // namespace loom::batch
