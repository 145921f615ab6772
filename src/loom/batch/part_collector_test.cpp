// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/part_collector.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "loom/batch/joiner.hpp"
#include "loom/batch/rank_source.hpp"
#include "loom/batch/test_text_kind.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::batch {
namespace {

PartialTask part(int first, int last, std::uint32_t round = 0, TaskState state = TaskState::kDone) {
  PartialTask p;
  p.unit = {0, first, last, 6};
  p.round = round;
  p.outcome.state = state;
  return p;
}

TEST(PartCollector, IsCompleteWithTheLastPartAndOnlyOnce) {
  PartCollector collector;
  EXPECT_FALSE(collector.add(part(0, 3)));
  EXPECT_EQ(collector.open().size(), 1U);
  const auto all = collector.add(part(3, 6));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2U);
  EXPECT_TRUE(collector.open().empty());
  EXPECT_FALSE(collector.add(part(3, 6)));
}

TEST(PartCollector, AFailureCompletesAndAnOldRoundIsDropped) {
  PartCollector collector;
  EXPECT_FALSE(collector.add(part(0, 3, 1)));
  EXPECT_FALSE(collector.add(part(3, 6, 0)));
  const auto all = collector.add(part(3, 4, 1, TaskState::kFailed));
  ASSERT_TRUE(all);
  EXPECT_FALSE(collector.add(part(4, 6, 1)));
}

TEST(PartCollector, PartsOfATaskThatIsUpToDateAreWaitedForSinceOneMakesThePage) {
  PartCollector collector;
  EXPECT_FALSE(collector.add(part(3, 6, 0, TaskState::kUpToDate)));
  const auto all = collector.add(part(0, 3, 0, TaskState::kUpToDate));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2U);
}

/// A task of six parts in two units, both in this rank's hands.
class TwoParts : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    const Task task = test::text_task("r0-00000001", {}, path("text"), 6);
    source_.deliver({{0, 0, 3, 6}, 0, 0}, task);
    source_.deliver({{0, 3, 6, 6}, 0, 0}, task);
    ASSERT_TRUE(source_.next());
    ASSERT_TRUE(source_.next());
  }
  /// First bundles of the parts that rank 0 hears to be at their end.
  std::multiset<int> ended() {
    std::multiset<int> list;
    while (const auto letter = mail_.take()) {
      if (letter->tag != kTagPartEnd) continue;
      Assignment assignment;
      WireReader reader(letter->bytes);
      reader(assignment);
      list.insert(assignment.unit.first_part);
    }
    return list;
  }

  RankMail mail_;
  TaskList tasks_;
  WorkKinds kinds_{{std::make_shared<test::TextKind>()}};
  RankSource source_{mail_, tasks_, kinds_, 0};
};

TEST_F(TwoParts, AFailureOfOneIsNotTakenForTheOthers) {
  Outcome outcome;
  outcome.state = TaskState::kFailed;
  outcome.first_part = 3;
  source_.finished(outcome);
  source_.part_done(part(0, 3));
  EXPECT_EQ(ended(), (std::multiset<int>{0, 3})) << "else the job waits for a part for ever";
}

/// What the joiner tells of a task whose parts these are.
class JoinedState : public TwoParts {
 protected:
  void SetUp() override {
    TwoParts::SetUp();
    folder_.create();
    claims_ = std::make_unique<Claims>(folder_, ClaimOptions{});
  }
  std::vector<Outcome> joined(std::vector<PartialTask> parts, PartialTask late = {}) {
    std::vector<Outcome> told;
    Joiner joiner(tasks_, {}, {folder_, kinds_, *claims_, {}, nullptr, {}, {}},
                  [&](const Outcome& outcome) { told.push_back(outcome); });
    for (PartialTask& p : parts) joiner.add(std::move(p));
    EXPECT_FALSE(joiner.finish());
    joiner.add(std::move(late));
    return told;
  }
  Outcome joined(PartialTask a, PartialTask b) {
    std::vector<PartialTask> parts;
    parts.push_back(std::move(a));
    parts.push_back(std::move(b));
    const auto told = joined(std::move(parts));
    EXPECT_EQ(told.size(), 1U);
    return told.empty() ? Outcome() : told.front();
  }

  RunFolder folder_{testing::TempDir() + "fiberloom_joined", {"loom", "1"}};
  std::unique_ptr<Claims> claims_;
};

TEST_F(JoinedState, APartThatComesAfterTheEndIsDroppedAndItsTaskGivenUp) {
  std::vector<PartialTask> parts;
  parts.push_back(part(0, 3));
  const auto told = joined(std::move(parts), part(3, 6));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().state, TaskState::kAbandoned);
}

TEST_F(JoinedState, ThePageOfATaskThatIsUpToDateIsTakenFromTheRankThatMadeItWhoeverIsFirst) {
  PartialTask maker = part(0, 3, 0, TaskState::kUpToDate);
  maker.outcome.page = "reports/frame-r0-00000001.html";
  const Outcome outcome = joined(part(3, 6, 0, TaskState::kUpToDate), std::move(maker));
  EXPECT_EQ(outcome.state, TaskState::kUpToDate);
  EXPECT_EQ(outcome.page, "reports/frame-r0-00000001.html");
}

TEST_F(JoinedState, RanksThatDisagreeWhetherThereIsAnythingToDoLeaveTheTask) {
  const Outcome outcome = joined(part(0, 3), part(3, 6, 0, TaskState::kUpToDate));
  EXPECT_EQ(outcome.state, TaskState::kAbandoned);
  EXPECT_NE(outcome.message.find("changed"), std::string::npos);
}

TEST_F(JoinedState, AFailureIsSaidWhateverTheOtherPartFound) {
  const Outcome outcome =
      joined(part(0, 3, 0, TaskState::kUpToDate), part(3, 6, 0, TaskState::kFailed));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
}

TEST_F(TwoParts, APartCrossesTheWireWhole) {
  PartialTask p = part(2, 3, 4);
  p.outcome.message = "a message";
  p.outcome.measures = {{"chi2", 1.5}};
  p.outcome.facts = {2.0, std::string("words")};
  auto lines = std::make_unique<test::Lines>();
  lines->lines = {{2, "two"}, {5, std::string("a\0b", 3)}};
  p.piece = std::move(lines);

  PartialTask back;
  from_bytes(to_bytes(p, kinds_.at("text")), back, tasks_, kinds_);

  EXPECT_EQ(back.round, 4U);
  EXPECT_EQ(back.unit.first_part, 2);
  EXPECT_EQ(back.outcome.message, "a message");
  ASSERT_EQ(back.outcome.measures.size(), 1U);
  EXPECT_EQ(back.outcome.measures[0].name, "chi2");
  EXPECT_EQ(back.outcome.measures[0].value, 1.5);
  EXPECT_EQ(back.outcome.facts, p.outcome.facts);
  EXPECT_EQ(static_cast<test::Lines&>(*back.piece).lines,
            static_cast<test::Lines&>(*p.piece).lines);
}

}  // namespace
}  // namespace loom::batch
