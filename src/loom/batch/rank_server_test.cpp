// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 makes of letters that come in an order of their own.
#include "loom/batch/rank_server.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "loom/batch/test_text_kind.hpp"

namespace loom::batch {
namespace {

Bytes letter_of(TaskState state) {
  Outcome outcome;
  outcome.task = 0;
  outcome.state = state;
  return to_bytes(outcome);
}

TEST(RankServer, AStateThatComesAfterTheOutcomeIsNoNews) {
  const WorkKinds kinds({std::make_shared<test::TextKind>()});
  std::vector<TaskState> heard;
  RankServer server(
      {RankHello{"a", 1.0, 3, {}, 0}, RankHello{"b", 1.0, 3, {}, 0}}, {}, kinds,
      [](int, int, const Bytes&) {}, [&](const Outcome& o) { heard.push_back(o.state); }, {});
  const std::vector<QueuedTask> tasks{{0, {}, test::text_task("left", {"in"}, "/out/left", 3)}};
  (void)server.handle(0, kTagAdd, to_bytes(tasks, kinds), 0);
  (void)server.handle(1, kTagState, letter_of(TaskState::kComputing), 1);
  (void)server.handle(0, kTagOutcome, letter_of(TaskState::kFailed), 2);
  // rank 1 was still at another part of it
  (void)server.handle(1, kTagState, letter_of(TaskState::kComputing), 3);
  EXPECT_EQ(heard, (std::vector<TaskState>{TaskState::kComputing, TaskState::kFailed}));
}

}  // namespace
}  // namespace loom::batch
