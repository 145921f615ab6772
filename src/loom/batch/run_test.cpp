// SPDX-License-Identifier: BSD-3-Clause
// Whole runs of work without any astronomy: diamonds, failing branches, parts, restarts, ranks.
#include "loom/batch/run.hpp"

#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "loom/batch/run_on_ranks.hpp"
#include "loom/batch/run_text.hpp"
#include "loom/batch/test_text_kind.hpp"
#include "loom/testing/scratch_folder.hpp"
#include "loom/testing/thread_ranks.hpp"

namespace loom::batch {
namespace {

using test::text_task;

class BatchRun : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    in_ = put("in.txt", "hello");
  }

  /// in -> top -> left, right (in parts) -> bottom.
  [[nodiscard]] std::vector<Task> diamond() const {
    const auto file = [&](const char* name) { return path(std::string("out/") + name + ".txt"); };
    return {text_task("bottom", {file("left"), file("right")}, file("bottom")),
            text_task("right", {file("top")}, file("right"), 7),
            text_task("left", {file("top")}, file("left"), 3),
            text_task("top", {in_}, file("top"))};
  }

  [[nodiscard]] BatchJob job(const std::vector<Task>& tasks) const {
    BatchJob job{.folder = RunFolder(path("out"), {"loom", version_}), .kinds = WorkKinds({kind_})};
    job.plan = [this, tasks, folder = job.folder, kinds = job.kinds] {
      return plan_batch(tasks, kinds, folder, Check::kStamps);
    };
    job.title = [](const std::vector<Task>&) { return std::string("texts"); };
    job.pipeline.threads = 2;
    job.pipeline.memory_bytes = std::uint64_t{1} << 30;
    job.monitor.ledger.labels = {{"word"}, {"number", LedgerShape::LabelColumn::Type::kInteger}};
    job.monitor.ledger.measures = {"letters"};
    return job;
  }

  BatchReport run(const std::vector<Task>& tasks) const {
    return run_batch(job(tasks), observer_, {}, nullptr);
  }

  /// The same on ranks that are threads; what rank 0 reports.
  BatchReport run_on(int size, const std::vector<Task>& tasks) const {
    ThreadRanks::World world(size);
    std::vector<std::thread> threads;
    BatchReport report;
    for (int r = 0; r < size; ++r) {
      threads.emplace_back([&, r] {
        ThreadRanks ranks(world, r);
        RanksJob ranks_job{.batch = job(tasks)};
        ranks_job.batch.pipeline.threads = 1;
        ranks_job.dispatch.part_overhead_s = 0;
        ranks_job.fatal = [&](const std::exception_ptr&) { ranks.abort(70); };
        try {
          RanksReport own = run_batch_on_ranks(ranks, ranks_job, observer_, {}, nullptr);
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

  static std::map<std::string, TaskState> states(const BatchReport& report) {
    std::map<std::string, TaskState> by_name;
    for (std::size_t i = 0; i < report.tasks.size(); ++i) {
      by_name[report.tasks[i].name] = report.outcomes[i].state;
    }
    return by_name;
  }

  /// Texts of the outputs by file name.
  [[nodiscard]] std::map<std::string, std::string> outputs() const {
    std::map<std::string, std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(path("out"))) {
      if (entry.path().extension() != ".txt") continue;
      texts[entry.path().filename().string()] = read_text_file(entry.path().string()).value();
    }
    return texts;
  }

  std::string in_, version_ = "1";
  std::shared_ptr<test::TextKind> kind_ = std::make_shared<test::TextKind>();
  Observer observer_;
};

using States = std::map<std::string, TaskState>;
constexpr auto kDone = TaskState::kDone, kUpToDate = TaskState::kUpToDate,
               kFailed = TaskState::kFailed, kBlocked = TaskState::kBlocked,
               kMissing = TaskState::kMissing;

PipelineOptions options_for(std::size_t threads, std::size_t places, Packing packing,
                            std::size_t readers = 0) {
  PipelineOptions options;
  options.threads = threads;
  options.device_places = places;
  options.readers = readers;
  return complete(options, packing);
}

TEST(Pipeline, WhereACardComputesMostProcessorsUnpackAndNoneIsAskedForMoreThanItWas) {
  const auto readers = [](std::size_t threads, std::size_t places, std::size_t asked = 0) {
    return options_for(threads, places, Packing::kNo, asked).readers;
  };
  EXPECT_EQ(readers(16, 0), 5U);
  EXPECT_EQ(readers(16, 2), 16U);
  EXPECT_EQ(readers(1, 2), 1U);
  EXPECT_EQ(readers(16, 2, 3), 3U);
  EXPECT_EQ(options_for(16, 0, Packing::kNo).writers, 3U);
  EXPECT_EQ(options_for(16, 2, Packing::kNo).writers, 9U);
}

TEST(Pipeline, FilesAreReadAndWrittenByAShareOfTheProcessorsHoweverManyTheseAre) {
  // a frame: 0.4 core-seconds to unpack, 1.4 to compute, 0.15 to write, 0.9 packed
  const PipelineOptions plain = options_for(128, 0, Packing::kNo);
  EXPECT_EQ(plain.readers, 33U);
  EXPECT_EQ(plain.writers, 17U);
  EXPECT_EQ(options_for(128, 0, Packing::kYes).writers, 65U);
  const PipelineOptions card = options_for(128, 8, Packing::kNo);
  EXPECT_EQ(card.readers, 128U);
  EXPECT_EQ(card.writers, 65U);
  EXPECT_EQ(options_for(1024, 8, Packing::kYes).readers, 128U);
  EXPECT_EQ(options_for(1024, 8, Packing::kYes).writers, 128U);
}

TEST_F(BatchRun, ADiamondIsDoneFromItsTopAndOnce) {
  const BatchReport report = run(diamond());
  EXPECT_EQ(exit_status(report), Status::kOk);
  EXPECT_EQ(states(report),
            (States{{"top", kDone}, {"left", kDone}, {"right", kDone}, {"bottom", kDone}}));
  EXPECT_EQ(outputs().at("top.txt"), "line 0 of 5 letters\n");
  EXPECT_EQ(outputs().at("bottom.txt"), "line 0 of 210 letters\n");
  kind_->computed = 0;
  EXPECT_EQ(
      states(run(diamond())),
      (States{
          {"top", kUpToDate}, {"left", kUpToDate}, {"right", kUpToDate}, {"bottom", kUpToDate}}));
  EXPECT_EQ(kind_->computed, 0);
}

TEST_F(BatchRun, AnyNumberOfRanksMakesTheSameBytesAndReceipts) {
  (void)run(diamond());
  const auto alone = outputs();
  for (const int ranks : {1, 2, 3, 5}) {
    std::filesystem::remove_all(path("out"));
    const BatchReport report = run_on(ranks, diamond());
    EXPECT_EQ(exit_status(report), Status::kOk) << ranks;
    EXPECT_EQ(report.counts.done, 4U) << ranks;
    EXPECT_EQ(outputs(), alone) << ranks;
    EXPECT_EQ(run(diamond()).counts.up_to_date, 4U) << ranks;
  }
}

TEST_F(BatchRun, WhatHasInputsDoesWithoutAllThatItTakesBeside) {
  const auto file = [&](const char* name) { return path(std::string("out/") + name + ".txt"); };
  std::vector<Task> tasks{text_task("sum", {file("own")}, file("sum")),
                          text_task("own", {in_}, file("own")),
                          text_task("other", {in_}, file("other"))};
  tasks[0].any_inputs = {file("other")};
  bool fails = true;
  kind_->before = [&](const Task& task, const WorkUnit&) {
    if (fails && task.name == "other") throw Error(Status::kMemory, "other: no memory");
  };
  for (const int ranks : {0, 1, 3}) {
    std::filesystem::remove_all(path("out"));
    fails = true;
    const auto again = [&] { return states(ranks == 0 ? run(tasks) : run_on(ranks, tasks)); };
    EXPECT_EQ(again(), (States{{"own", kDone}, {"other", kFailed}, {"sum", kDone}})) << ranks;
    EXPECT_EQ(again(), (States{{"own", kUpToDate}, {"other", kFailed}, {"sum", kUpToDate}}))
        << ranks;
    fails = false;
    EXPECT_EQ(again(), (States{{"own", kUpToDate}, {"other", kDone}, {"sum", kDone}})) << ranks;
  }
}

TEST_F(BatchRun, WhatTakesAnyIsMadeOfThoseThatSucceedAndAgainWhenMoreDo) {
  const auto file = [&](const char* name) { return path(std::string("out/") + name + ".txt"); };
  std::vector<Task> tasks{text_task("sum", {}, file("sum")),
                          text_task("end", {file("sum")}, file("end")),
                          text_task("a", {in_}, file("a")), text_task("b", {in_}, file("b"))};
  tasks[0].any_inputs = {file("a"), file("b")};
  bool a_fails = false, b_fails = true;
  kind_->before = [&](const Task& task, const WorkUnit&) {
    const bool fails = (task.name == "a" && a_fails) || (task.name == "b" && b_fails);
    if (fails) throw Error(Status::kMemory, task.name + ": no memory");
  };
  for (const int ranks : {0, 1, 3}) {
    std::filesystem::remove_all(path("out"));
    a_fails = false, b_fails = true;
    const auto again = [&] { return states(ranks == 0 ? run(tasks) : run_on(ranks, tasks)); };
    EXPECT_EQ(again(), (States{{"a", kDone}, {"b", kFailed}, {"sum", kDone}, {"end", kDone}}))
        << ranks;
    EXPECT_EQ(outputs().at("sum.txt"), "line 0 of 20 letters\n");
    b_fails = false;
    EXPECT_EQ(again(), (States{{"a", kUpToDate}, {"b", kDone}, {"sum", kDone}, {"end", kDone}}))
        << ranks;
    EXPECT_EQ(outputs().at("sum.txt"), "line 0 of 40 letters\n");
    std::filesystem::remove_all(path("out"));
    a_fails = b_fails = true;
    EXPECT_EQ(again(),
              (States{{"a", kFailed}, {"b", kFailed}, {"sum", kBlocked}, {"end", kBlocked}}))
        << ranks;
  }
}

TEST_F(BatchRun, ByContentAFileThatWasMerelyTouchedIsTheSame) {
  std::vector<Task> tasks = diamond();
  for (Task& task : tasks) task.by_content = true;
  (void)run(tasks);
  const auto later = std::filesystem::last_write_time(in_) + std::chrono::seconds(5);
  std::filesystem::last_write_time(in_, later);
  EXPECT_EQ(run(tasks).counts.up_to_date, 4U);
  write_text_file(in_, "jello");  // as long as before
  EXPECT_EQ(run(tasks).counts.done, 1U) << "the same line, so nothing follows from it";
  tasks[3].by_content = false;
  std::filesystem::last_write_time(in_, later + std::chrono::seconds(5));
  EXPECT_EQ(states(run(tasks)).at("top"), kDone) << "not asked for: a time is enough";
}

TEST_F(BatchRun, AFailingBranchBlocksWhatNeedsItAndTheOthersAreDone) {
  auto tasks = diamond();
  tasks.push_back(text_task("alone", {in_}, path("out/alone.txt")));
  kind_->before = [](const Task& task, const WorkUnit&) {
    if (task.name == "left") throw Error(Status::kCorrupt, "left: spoilt");
  };
  for (const int ranks : {0, 1, 3}) {
    std::filesystem::remove_all(path("out"));
    const BatchReport report = ranks == 0 ? run(tasks) : run_on(ranks, tasks);
    EXPECT_EQ(states(report), (States{{"top", kDone},
                                      {"left", kFailed},
                                      {"right", kDone},
                                      {"bottom", kBlocked},
                                      {"alone", kDone}}))
        << ranks;
    EXPECT_EQ(exit_status(report), Status::kSomeFailed);
  }
  // Nothing has changed: the failure stands, and what needs it is not even looked at.
  kind_->computed = 0;
  const BatchReport again = run(tasks);
  EXPECT_EQ(states(again).at("left"), kFailed);
  EXPECT_EQ(states(again).at("bottom"), kBlocked);
  EXPECT_EQ(kind_->computed, 0);
  // With --retry it is tried, and all behind it follows.
  kind_->before = {};
  BatchJob retry = job(tasks);
  retry.pipeline.retry = 1;
  EXPECT_EQ(states(run_batch(retry, observer_, {}, nullptr)), (States{{"top", kUpToDate},
                                                                      {"left", kDone},
                                                                      {"right", kUpToDate},
                                                                      {"bottom", kDone},
                                                                      {"alone", kUpToDate}}));
}

TEST_F(BatchRun, WhatIsBehindAnInputThatChangedIsDoneAgainAndNothingElse) {
  auto tasks = diamond();
  tasks.push_back(text_task("alone", {in_ + ".other"}, path("out/alone.txt")));
  put("in.txt.other", "untouched");
  (void)run(tasks);
  put("in.txt", "another text");
  EXPECT_EQ(states(run(tasks)), (States{{"top", kDone},
                                        {"left", kDone},
                                        {"right", kDone},
                                        {"bottom", kDone},
                                        {"alone", kUpToDate}}));
}

TEST_F(BatchRun, AnOutputInTheMiddleThatIsLostIsMadeAgain) {
  (void)run(diamond());
  std::filesystem::remove(path("out/left.txt"));
  const auto found = states(run(diamond()));
  EXPECT_EQ(found.at("left"), kDone);
  EXPECT_EQ(found.at("top"), kUpToDate);
  EXPECT_EQ(found.at("right"), kUpToDate);
  EXPECT_EQ(found.at("bottom"), kDone) << "its input was written anew";
}

TEST_F(BatchRun, AMissingInputBlocksWhatNeedsIt) {
  std::filesystem::remove(in_);
  const BatchReport report = run(diamond());
  EXPECT_EQ(
      states(report),
      (States{{"top", kMissing}, {"left", kBlocked}, {"right", kBlocked}, {"bottom", kBlocked}}));
  EXPECT_EQ(exit_status(report), Status::kSomeFailed);
  EXPECT_EQ(report.outcomes[0].message, "needs right, which is not done");
}

TEST_F(BatchRun, AStopLeavesWhatWasNotBegunAndTheNextRunDoesIt) {
  std::atomic<bool> stop{false};
  observer_.stop_requested = [&] { return stop.load(); };
  kind_->before = [&](const Task& task, const WorkUnit&) { stop = stop || task.name == "top"; };
  const BatchReport report = run(diamond());
  EXPECT_EQ(exit_status(report), Status::kInterrupted);
  EXPECT_EQ(states(report).at("top"), kDone) << "what was begun is finished";
  EXPECT_EQ(report.counts.left, 3U);
  observer_ = {};
  kind_->before = {};
  EXPECT_EQ(run(diamond()).counts.done, 3U);
}

TEST_F(BatchRun, AnotherVersionOrFingerprintMakesItAgain) {
  (void)run(diamond());
  version_ = "2";
  EXPECT_EQ(run(diamond()).counts.done, 4U);
  auto tasks = diamond();
  tasks[2] = text_task("left", tasks[2].inputs, tasks[2].outputs[0], 3, "word");
  EXPECT_EQ(states(run(tasks)),
            (States{{"top", kUpToDate}, {"left", kDone}, {"right", kUpToDate}, {"bottom", kDone}}));
}

TEST_F(BatchRun, ATaskWithSeveralOutputsIsDoneWhenAllAreThereAsTheyWereWritten) {
  Task task = text_task("two", {in_}, path("out/a.txt"));
  task.outputs.push_back(path("out/b.txt"));
  task.page = path("out/two.html");
  EXPECT_EQ(run({task}).counts.done, 1U);
  EXPECT_TRUE(there("out/two.html"));
  EXPECT_EQ(run({task}).counts.up_to_date, 1U);
  put("out/b.txt", "something else");
  EXPECT_EQ(run({task}).counts.done, 1U);
  EXPECT_EQ(outputs().at("b.txt"), outputs().at("a.txt"));
  std::filesystem::remove(path("out/two.html"));
  kind_->computed = 0;
  EXPECT_EQ(run({task}).counts.up_to_date, 1U);
  EXPECT_TRUE(there("out/two.html")) << "the page alone is made";
  EXPECT_EQ(kind_->computed, 0);
}

TEST_F(BatchRun, TheLedgerHasARowForEachTaskAndCanBeMadeFromTheReceipts) {
  kind_->before = [](const Task& task, const WorkUnit&) {
    if (task.name == "left") throw Error(Status::kCorrupt, "left: spoilt");
  };
  const BatchJob its_job = job(diamond());
  (void)run_batch(its_job, observer_, {}, nullptr);
  const auto rows = [&] {
    std::map<std::string, LedgerRow> by_name;
    for (LedgerRow& row : Ledger::open(its_job.folder.ledger(), its_job.monitor.ledger)->rows()) {
      by_name[row.name] = std::move(row);
    }
    return by_name;
  };
  const auto first = rows();
  ASSERT_EQ(first.size(), 4U);
  EXPECT_EQ(first.at("right").state, "done");
  EXPECT_EQ(first.at("right").labels, diamond()[1].labels);
  EXPECT_EQ(first.at("right").measures.at(0).value, 7 * 21.0);
  EXPECT_EQ(first.at("left").state, "failed");
  EXPECT_EQ(first.at("bottom").state, "blocked");
  std::filesystem::remove(its_job.folder.ledger());
  EXPECT_EQ(rebuild_ledger(its_job.folder, its_job.monitor.ledger), 3U) << "what files tell of";
  EXPECT_EQ(rows().at("right").crc32, first.at("right").crc32);
}

TEST(RunText, SaysHowFarARunHasComeAndHowManyAreInWhichState) {
  RunStatus status;
  status.tasks.resize(4);
  status.tasks[0].state = TaskState::kDone;
  status.tasks_per_minute = 2.5;
  EXPECT_EQ(progress_text(status, "files"), "1/4 files, 2.5 a minute");
  status.tasks[1].state = TaskState::kFailed;
  status.left_s = 60;
  EXPECT_EQ(progress_text(status, "files"), "2/4 files, 2.5 a minute, 1 failed, 60 s left");
  EXPECT_EQ(counts_text({.tasks = 3, .done = 3}, "scans"), "3 scans: 3 done");
  EXPECT_EQ(
      counts_text({.tasks = 21,
                   .done = 0,
                   .up_to_date = 1,
                   .failed = 2,
                   .missing = 3,
                   .blocked = 4,
                   .elsewhere = 5,
                   .left = 6},
                  "frames"),
      "21 frames: 0 done, 1 up to date, 2 failed, 3 missing, 4 blocked, 5 in other runs, 6 left");
}

TEST_F(BatchRun, WhatCannotBePutInAnOrderIsRefusedBeforeAnythingIsWritten) {
  const auto a = path("out/a.txt"), b = path("out/b.txt");
  EXPECT_THROW((void)run({text_task("a", {b}, a), text_task("b", {a}, b)}), Error);
  EXPECT_FALSE(there("out"));
}

}  // namespace
}  // namespace loom::batch
