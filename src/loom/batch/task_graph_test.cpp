// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/task_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "loom/base/error.hpp"

namespace loom::batch {
namespace {

Task task(const std::string& name, std::vector<std::string> inputs,
          std::vector<std::string> outputs, std::vector<std::string> after = {}) {
  Task t;
  t.name = name;
  t.inputs = std::move(inputs);
  t.outputs = std::move(outputs);
  t.after = std::move(after);
  return t;
}

using Numbers = std::vector<std::size_t>;

TEST(LinkTasks, FilesAndNamesSayWhatComesFirst) {
  const auto after = link_tasks(
      {task("join", {"/a/left", "/a/./right"}, {"/a/sum"}), task("left", {"/in"}, {"/a/left"}),
       task("right", {"/in"}, {"/a/right"}, {"left"}), task("alone", {"/other"}, {"/b"})});
  EXPECT_EQ(after[0], (Numbers{1, 2}));
  EXPECT_EQ(after[1], Numbers{});
  EXPECT_EQ(after[2], Numbers{1});
  EXPECT_EQ(after[3], Numbers{});
}

std::string fault_of(const std::vector<Task>& tasks) {
  try {
    (void)link_tasks(tasks);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    return error.what();
  }
  return {};
}

TEST(LinkTasks, WhatCannotBeDoneIsSaidByName) {
  EXPECT_NE(fault_of({task("a", {}, {"/a"}, {"nobody"})}).find("a: needs nobody"),
            std::string::npos);
  EXPECT_NE(fault_of({task("a", {}, {"/x"}), task("b", {}, {"/y/../x"})}).find("both a and b"),
            std::string::npos);
  const std::string circle = fault_of({task("free", {}, {"/f"}), task("a", {"/c"}, {"/a"}),
                                       task("b", {"/a", "/f"}, {"/b"}), task("c", {"/b"}, {"/c"}),
                                       task("end", {"/c"}, {"/e"})});
  for (const char* name : {"a needs", "b needs", "c needs"}) {
    EXPECT_NE(circle.find(name), std::string::npos) << circle;
  }
  EXPECT_EQ(circle.find("end"), std::string::npos) << circle;
  EXPECT_NE(fault_of({task("self", {"/s"}, {"/s"})}).find("self needs self"), std::string::npos);
}

TEST(TaskGraph, ADiamondOpensWhenBothItsSidesAreDone) {
  TaskGraph graph;
  EXPECT_TRUE(graph.add(0, {}));
  EXPECT_FALSE(graph.add(1, {0}));
  EXPECT_FALSE(graph.add(2, {0}));
  EXPECT_FALSE(graph.add(3, {1, 2}));
  EXPECT_EQ(graph.held(), 3U);
  EXPECT_EQ(graph.settle(0, true).ready, (Numbers{1, 2}));
  EXPECT_TRUE(graph.settle(0, true).ready.empty()) << "said twice";
  EXPECT_TRUE(graph.settle(2, true).ready.empty());
  EXPECT_EQ(graph.settle(1, true).ready, Numbers{3});
  EXPECT_EQ(graph.held(), 0U);
}

TEST(TaskGraph, AFailureBlocksWhatNeedsItAndNothingElse) {
  TaskGraph graph;
  graph.add(0, {});
  graph.add(1, {0});
  graph.add(2, {1, 5});
  graph.add(3, {2});
  graph.add(4, {5});
  graph.add(5, {});
  const auto news = graph.settle(0, false);
  EXPECT_TRUE(news.ready.empty());
  EXPECT_EQ(news.blocked, (Numbers{1, 2, 3}));
  EXPECT_EQ(graph.settle(5, true).ready, Numbers{4});
  EXPECT_TRUE(graph.settle(2, true).ready.empty());
  EXPECT_EQ(graph.held(), 0U);
}

TEST(TaskGraph, WhatIsSettledAlreadyHoldsNobodyBack) {
  TaskGraph graph;
  graph.add(0, {});
  static_cast<void>(graph.settle(0, true));
  EXPECT_TRUE(graph.add(1, {0}));
}

TEST(TaskGraph, WhatWantsAnyWaitsForAllAndBeginsWithThoseThatSucceeded) {
  TaskGraph graph;
  graph.add(0, {});
  graph.add(1, {});
  EXPECT_FALSE(graph.add(2, {}, {{0, 1}, false}));
  graph.add(3, {2});
  EXPECT_TRUE(graph.settle(0, true).ready.empty()) << "the other one may come";
  const auto news = graph.settle(1, false);
  EXPECT_EQ(news.ready, Numbers{2});
  EXPECT_TRUE(news.blocked.empty());
  EXPECT_EQ(graph.settle(2, true).ready, Numbers{3});
  EXPECT_EQ(graph.held(), 0U);
}

TEST(TaskGraph, WhatWantsAnyIsBlockedWhenNoneSucceeded) {
  TaskGraph graph;
  graph.add(0, {});
  graph.add(1, {0});
  graph.add(2, {});
  graph.add(3, {}, {{1, 2}, false});
  graph.add(4, {3});
  EXPECT_EQ(graph.settle(2, false).blocked, Numbers{});
  EXPECT_EQ(graph.settle(0, false).blocked, (Numbers{1, 3, 4})) << "by way of a blocked one";
  EXPECT_EQ(graph.held(), 0U);
}

TEST(TaskGraph, WhatWantsAnyIsBlockedAlsoWhenANeedIsSettledLast) {
  TaskGraph graph;
  graph.add(0, {});
  graph.add(1, {});
  graph.add(2, {0}, {{1}, false});
  graph.add(3, {2});
  EXPECT_TRUE(graph.settle(1, false).blocked.empty());
  EXPECT_EQ(graph.settle(0, true).blocked, (Numbers{2, 3}));
}

TEST(TaskGraph, OneThatIsThereAlreadyIsEnough) {
  TaskGraph graph;
  graph.add(0, {});
  EXPECT_FALSE(graph.add(1, {}, {{0}, true}));
  EXPECT_EQ(graph.settle(0, false).ready, Numbers{1});
}

TEST(LinkAny, NamesMakersOfFilesThatAreDoneWithout) {
  std::vector<Task> tasks{task("a", {}, {"/a"}), task("b", {}, {"/b"}), task("c", {"/a"}, {"/c"})};
  tasks[2].any_inputs = {"/b", "/a", "/elsewhere"};
  const auto after = link_tasks(tasks);
  EXPECT_EQ(link_any(tasks, after), (std::vector<Numbers>{{}, {}, {1}})) << "a is needed anyway";
  tasks[1].any_inputs = {"/c"};
  EXPECT_THROW(static_cast<void>(link_any(tasks, after)), Error) << "a circle";
}

TEST(TaskGraph, AnyGraphIsDoneInAnOrderThatItAllows) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 1 + random() % 40;
    std::vector<Numbers> after(n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (random() % 6 == 0) after[i].push_back(k);
      }
    }
    Numbers place(n);
    const Numbers order = sorted_by_need(after);
    ASSERT_EQ(order.size(), n);
    for (std::size_t k = 0; k < n; ++k) place[order[k]] = k;
    for (std::size_t i = 0; i < n; ++i) {
      for (const std::size_t need : after[i]) EXPECT_LT(place[need], place[i]);
    }
  }
}

}  // namespace
}  // namespace loom::batch
