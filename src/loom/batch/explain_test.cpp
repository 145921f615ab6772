// SPDX-License-Identifier: BSD-3-Clause
// Why tasks are as they are, from the folder that a run has left.
#include "loom/batch/explain.hpp"

#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/batch/claims.hpp"
#include "loom/batch/test_text_kind.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::batch {
namespace {

namespace fs = std::filesystem;
using test::text_task;

class Explain : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    in_ = put("in.txt", "hello");
    folder_ = RunFolder(path("out"), {"loom", "1"});
  }
  [[nodiscard]] std::string made(const std::string& name) const {
    return path("out/" + name + ".txt");
  }
  /// in -> top -> left, right -> any of them: bottom.
  [[nodiscard]] std::vector<Task> tree() const {
    std::vector<Task> tasks{
        text_task("top", {in_}, made("top")), text_task("left", {made("top")}, made("left")),
        text_task("right", {made("top")}, made("right")), text_task("bottom", {}, made("bottom")),
        text_task("page", {made("bottom"), made("left")}, made("page"))};
    tasks[3].any_inputs = {made("left"), made("right")};
    for (Task& task : tasks) task.by_content = true;
    return tasks;
  }
  void run(int retry = 0) {
    BatchJob job{.folder = folder_, .kinds = WorkKinds({kind_})};
    job.plan = [this, kinds = job.kinds] {
      return plan_batch(tree(), kinds, folder_, Check::kStamps);
    };
    job.title = [](const std::vector<Task>&) { return std::string("texts"); };
    job.pipeline.threads = 2;
    job.pipeline.retry = retry;
    job.pipeline.memory_bytes = std::uint64_t{1} << 30;
    job.monitor.ledger.labels = {{"word"}, {"number", LedgerShape::LabelColumn::Type::kInteger}};
    static_cast<void>(run_batch(job, {}, {}, nullptr));
  }
  void fail(const std::string& name, const std::string& message) {
    kind_->before = [name, message](const Task& task, const WorkUnit&) {
      if (task.name == name) throw Error(Status::kCorrupt, message);
    };
  }
  [[nodiscard]] Explanation why(const std::string& name) const {
    return explain_task(folder_, name);
  }

  std::string in_;
  RunFolder folder_{"", {"loom", "1"}};
  std::shared_ptr<test::TextKind> kind_ = std::make_shared<test::TextKind>();
};

TEST_F(Explain, WhatIsDoneSaysOfWhatItWasMadeAndWhen) {
  run();
  const Explanation w = why("bottom");
  EXPECT_EQ(w.state, "done");
  EXPECT_TRUE(w.causes.empty());
  ASSERT_EQ(w.inputs.size(), 2u);
  EXPECT_EQ(w.inputs[0].state, InputNews::State::kSame);
  EXPECT_EQ(w.inputs[0].made_by, "left");
  ASSERT_TRUE(w.inputs[0].then);
  ASSERT_EQ(w.attempts.size(), 1u);
  EXPECT_EQ(w.attempts[0].exit_code, 0);
  EXPECT_EQ(w.attempts[0].host, this_process().host);
  EXPECT_GT(w.attempts[0].unix_s, 1700000000);
}

TEST_F(Explain, AChainOfCausesEndsAtTheTaskThatFailedWithItsMessage) {
  fail("left", "the lamp was off");
  run();
  const Explanation w = why("page");
  EXPECT_EQ(w.state, "blocked");
  ASSERT_EQ(w.causes.size(), 1u);
  EXPECT_EQ(w.causes[0].name, "left");
  EXPECT_EQ(w.causes[0].state, "failed");
  EXPECT_NE(w.causes[0].message.find("the lamp was off"), std::string::npos);
  EXPECT_EQ(w.unmet, 1u) << "bottom is made of the other one";
  EXPECT_EQ(why("bottom").state, "done");
  const Explanation failed = why("left");
  EXPECT_EQ(failed.state, "failed");
  ASSERT_EQ(failed.attempts.size(), 1u);
  EXPECT_EQ(failed.attempts[0].message, "the lamp was off");
  EXPECT_EQ(failed.attempts[0].exit_code, static_cast<int>(Status::kCorrupt));
}

TEST_F(Explain, LongChainsAreToldLinkByLink) {
  fail("top", "no light");
  run();
  const Explanation w = why("page");
  ASSERT_EQ(w.causes.size(), 2u);
  EXPECT_EQ(w.causes[0].state, "blocked");
  EXPECT_EQ(w.causes[1].name, "top");
  std::size_t held = 0;
  for (const Standing& s : stand_of_tasks(folder_)) held += s.root == "top";
  EXPECT_EQ(held, 4u);
}

TEST_F(Explain, AttemptsOfSeveralRunsAreKeptInTheirOrder) {
  fail("left", "once");
  run();
  fail("left", "twice");
  run(2);
  kind_->before = {};
  run(1);
  const Explanation w = why("left");
  EXPECT_EQ(w.state, "done");
  std::vector<std::string> said;
  for (const Attempt& a : w.attempts) said.push_back(a.message);
  EXPECT_EQ(said, (std::vector<std::string>{"once", "twice", "twice", ""}));
}

TEST_F(Explain, AChangedInputIsToldFromOneThatWasTouched) {
  run();
  fs::last_write_time(made("top"), fs::last_write_time(made("top")) + std::chrono::hours(1));
  EXPECT_EQ(why("left").inputs.at(0).state, InputNews::State::kSameContent);
  EXPECT_EQ(why("left").state, "done");
  put("in.txt", "other");
  const Explanation top = why("top");
  EXPECT_EQ(top.state, "to do");
  EXPECT_EQ(top.message, "made from other inputs");
  EXPECT_EQ(top.inputs.at(0).state, InputNews::State::kChanged);
  EXPECT_NE(top.inputs.at(0).then, top.inputs.at(0).now);
  const Explanation page = why("page");
  EXPECT_EQ(page.state, "waiting");
  EXPECT_EQ(page.causes.back().name, "top");
  fs::remove(in_);
  fs::remove(made("top"));
  EXPECT_EQ(why("top").state, "missing");
  EXPECT_EQ(why("top").inputs.at(0).state, InputNews::State::kGone);
}

TEST_F(Explain, AClaimOfALiveProcessIsSeenAndNothingIsWritten) {
  fail("left", "once");
  run();
  Claims claims(folder_, {});
  ASSERT_TRUE(claims.acquire("left").mine);
  const auto before = std::distance(fs::directory_iterator(folder_.runs()), {});
  EXPECT_EQ(why("left").state, "in work");
  EXPECT_NE(why("page").causes.at(0).message.find("process "), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.runs()), {}), before);
}

TEST_F(Explain, AnUnknownNameIsOneLineWithTheNearest) {
  run();
  try {
    static_cast<void>(why("buttom"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kNotFound);
    EXPECT_NE(std::string(error.what()).find("the nearest: bottom, "), std::string::npos)
        << error.what();
  }
  fs::remove(folder_.plan());
  EXPECT_THROW(static_cast<void>(why("bottom")), Error);
}

TEST_F(Explain, APlanKeepsTasksOfOtherRunsAndMovesWithItsFolder) {
  run();
  save_plan(folder_, {text_task("far", {path("\xff.txt")}, made("far"))}, WorkKinds({kind_}));
  fs::rename(path("out"), path("moved"));
  const auto plan = read_plan(RunFolder(path("moved"), {"loom", "1"}));
  ASSERT_EQ(plan.size(), 6u);
  EXPECT_EQ(plan[0].task.name, "top");
  EXPECT_EQ(plan[5].task.outputs.at(0), path("moved/far.txt"));
  EXPECT_EQ(plan[5].task.inputs.at(0), path("\xff.txt"));
  EXPECT_EQ(plan[5].options, "word=line");
}

TEST_F(Explain, ADamagedPlanIsReadAsFarAsItGoes) {
  run();
  const std::string text = read_text_file(folder_.plan()).value();
  write_text_file(folder_.plan(), text.substr(0, text.size() - 20));
  EXPECT_EQ(read_plan(folder_).size(), 4u);
  write_text_file(folder_.plan(), "{}\n" + text);
  EXPECT_TRUE(read_plan(folder_).empty());
}

}  // namespace
}  // namespace loom::batch
