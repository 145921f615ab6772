// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/part_collector.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "loom/batch/joiner.hpp"
#include "loom/batch/wire.hpp"

namespace loom::batch {
namespace {

PartialFrame part(int first, int last, std::uint32_t round = 0,
                  TaskState state = TaskState::kDone) {
  PartialFrame p;
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

TEST(PartCollector, PartsOfAFrameThatIsUpToDateAreWaitedForSinceOneMakesThePage) {
  PartCollector collector;
  EXPECT_FALSE(collector.add(part(3, 6, 0, TaskState::kUpToDate)));
  const auto all = collector.add(part(0, 3, 0, TaskState::kUpToDate));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2U);
}

/// A frame of six bundles in two parts, both in this rank's hands.
class TwoParts : public testing::Test {
 protected:
  void SetUp() override {
    Task task;
    task.name = "r0-00000001";
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
  RankSource source_{mail_, tasks_, 0};
};

TEST_F(TwoParts, AFailureOfOneIsNotTakenForTheOthers) {
  Outcome outcome;
  outcome.state = TaskState::kFailed;
  outcome.first_part = 3;
  source_.finished(outcome);
  source_.part_done(part(0, 3));
  EXPECT_EQ(ended(), (std::multiset<int>{0, 3})) << "else the job waits for a part for ever";
}

TEST_F(TwoParts, APartThatComesAfterTheEndIsDropped) {
  const RunFolder folder("/nowhere");
  Joiner joiner(source_, tasks_, folder, {}, nullptr);
  source_.receive_part(part(0, 3));
  EXPECT_FALSE(joiner.finish());
  source_.receive_part(part(3, 6));
  EXPECT_EQ(source_.open().size(), 1U) << "given up, and nobody is there to join it";
}

/// What the joiner tells rank 0 of a frame whose parts these are.
class JoinedState : public TwoParts {
 protected:
  Outcome joined(PartialFrame a, PartialFrame b) {
    Joiner joiner(source_, tasks_, RunFolder("/nowhere"), {}, nullptr);
    source_.receive_part(std::move(a));
    source_.receive_part(std::move(b));
    EXPECT_FALSE(joiner.finish());
    while (const auto letter = mail_.take()) {
      if (letter->tag != kTagOutcome) continue;
      Outcome outcome;
      from_bytes(letter->bytes, outcome);
      return outcome;
    }
    ADD_FAILURE() << "no outcome";
    return {};
  }
};

TEST_F(JoinedState, ThePageOfAFrameThatIsUpToDateIsTakenFromTheRankThatMadeItWhoeverIsFirst) {
  PartialFrame maker = part(0, 3, 0, TaskState::kUpToDate);
  maker.outcome.report = "reports/frame-r0-00000001.html";
  const Outcome outcome = joined(part(3, 6, 0, TaskState::kUpToDate), std::move(maker));
  EXPECT_EQ(outcome.state, TaskState::kUpToDate);
  EXPECT_EQ(outcome.report, "reports/frame-r0-00000001.html");
}

TEST_F(JoinedState, RanksThatDisagreeWhetherThereIsAnythingToDoLeaveTheFrame) {
  const Outcome outcome = joined(part(0, 3), part(3, 6, 0, TaskState::kUpToDate));
  EXPECT_EQ(outcome.state, TaskState::kAbandoned);
  EXPECT_NE(outcome.message.find("changed"), std::string::npos);
}

TEST_F(JoinedState, AFailureIsSaidWhateverTheOtherPartFound) {
  const Outcome outcome =
      joined(part(0, 3, 0, TaskState::kUpToDate), part(3, 6, 0, TaskState::kFailed));
  EXPECT_EQ(outcome.state, TaskState::kFailed);
}

TEST(PartialFrame, CrossesTheWireToTheBit) {
  PartialFrame p = part(2, 3, 4);
  p.outcome.message = "a message";
  p.result.spec_min = 7;
  p.result.wave = {1, 2, 3};
  p.result.flux = Array2D<double>(2, 3, 0.1);
  p.result.resolution = Array3D<float>(2, 5, 3);
  for (std::size_t i = 0; i < p.result.resolution.size(); ++i) {
    p.result.resolution.data()[i] = static_cast<float>(i);
  }
  p.result.bundles.resize(3);
  p.result.bundles[1].kappa = 9;

  PartialFrame back;
  from_bytes(to_bytes(p), back);

  EXPECT_EQ(back.round, 4U);
  EXPECT_EQ(back.outcome.message, "a message");
  EXPECT_EQ(back.result.wave, p.result.wave);
  ASSERT_EQ(back.result.flux.size(), 6U);
  EXPECT_EQ(back.result.flux(1, 2), 0.1);
  EXPECT_EQ(0, std::memcmp(back.result.resolution.data(), p.result.resolution.data(),
                           p.result.resolution.size() * sizeof(float)));
  EXPECT_EQ(back.result.bundles.at(1).kappa, 9);
}

}  // namespace
}  // namespace loom::batch
