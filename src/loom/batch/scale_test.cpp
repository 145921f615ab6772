// SPDX-License-Identifier: BSD-3-Clause
// Planning and bookkeeping of many tasks: the cost of one does not grow with their number. Figures
// are bench_bookkeeping's; the limits here are wide guards against what is quadratic.
#include <chrono>

#include "loom/batch/run.hpp"
#include "loom/batch/test_text_kind.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::batch {
namespace {

using test::text_task;

class Scale : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    in_ = put("in.txt", "hello");
  }
  /// Chains of three, and after every hundred of them one that takes what there is of these.
  [[nodiscard]] std::vector<Task> tree(std::size_t count) const {
    std::vector<Task> tasks;
    std::vector<std::string> ends;
    for (std::size_t k = 0; tasks.size() < count; ++k) {
      std::string input = in_;
      for (int s = 0; s < 3; ++s) {
        const std::string name = "t" + std::to_string(k) + "-" + std::to_string(s);
        tasks.push_back(text_task(name, {input}, path("out/" + name + ".txt")));
        input = tasks.back().outputs.front();
      }
      ends.push_back(input);
      if (ends.size() < 100) continue;
      const std::string name = "all-" + std::to_string(k);
      tasks.push_back(text_task(name, {}, path("out/" + name + ".txt")));
      tasks.back().any_inputs = std::exchange(ends, {});
    }
    return tasks;
  }
  /// Seconds.
  template <class Work>
  static double time(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  std::string in_;
  WorkKinds kinds_{{std::make_shared<test::TextKind>()}};
};

TEST_F(Scale, ATreeOfManyTasksIsPlannedInTimeThatGrowsAsTheirNumber) {
  const RunFolder folder(path("out"), {"loom", "1"});
  const auto plan = [&](std::size_t count) {
    const BatchPlan made = plan_batch(tree(count), kinds_, folder, Check::kStamps);
    EXPECT_GE(waiting_tasks(made, 0, [](const Outcome&) {}).size(), count);
  };
  const double few = time([&] { plan(2000); }), many = time([&] { plan(20000); });
  EXPECT_LT(many, 40 * few + 1) << "ten times as many tasks";
  EXPECT_LT(many, 20) << "seconds";
}

TEST_F(Scale, AThousandTasksTakeLittleBookkeeping) {
  BatchJob job{.folder = RunFolder(path("out"), {"loom", "1"}), .kinds = kinds_};
  job.plan = [&] { return plan_batch(tree(1000), kinds_, job.folder, Check::kStamps); };
  job.title = [](const std::vector<Task>&) { return std::string("texts"); };
  job.pipeline.threads = 2;
  job.pipeline.memory_bytes = std::uint64_t{1} << 30;
  job.monitor.ledger.labels = {{"word"}, {"number", LedgerShape::LabelColumn::Type::kInteger}};
  EXPECT_LT(time([&] { EXPECT_EQ(exit_status(run_batch(job, {}, {}, nullptr)), Status::kOk); }),
            30);
  EXPECT_LT(time([&] { EXPECT_GT(run_batch(job, {}, {}, nullptr).counts.up_to_date, 1000u); }), 10);
}

}  // namespace
}  // namespace loom::batch
