// SPDX-License-Identifier: BSD-3-Clause
// What a run says of itself while it waits.
#include "loom/batch/monitor.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>

#include "loom/testing/scratch_folder.hpp"

namespace loom::batch {
namespace {

class MonitorTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = RunFolder(path("out"), {"loom", "1"});
    folder_.create();
    for (const char* name : {"r0-00000001", "r1-00000001"}) {
      Task task;
      task.name = name;
      tasks_.add(std::move(task));
    }
    observer_.message = [this](LogLevel level, const std::string& text) {
      if (level < LogLevel::kWarning) return;
      const std::lock_guard lock(mutex_);
      said_.push_back(text);
    };
    observer_.stop_requested = [this] { return stop_.load(); };
  }
  [[nodiscard]] std::vector<std::string> warnings() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  static Outcome outcome(std::size_t task, TaskState state) {
    Outcome o;
    o.task = task;
    o.state = state;
    return o;
  }

  RunFolder folder_{"", {"loom", "1"}};
  WorkKinds kinds_;
  TaskList tasks_;
  Observer observer_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::string> said_;
};

TEST_F(MonitorTest, NamesTheTasksThatKeepARunThatWasToldToStop) {
  MonitorOptions options;
  options.keep = KeepFiles::kNo;
  options.stuck_s = 0.3;
  Monitor monitor(tasks_, kinds_, folder_, options, observer_, {});
  monitor.changed(outcome(0, TaskState::kDone));
  monitor.changed(outcome(1, TaskState::kWriting));
  monitor.start([] { return StageLoad{}; });
  ::usleep(1200000);
  EXPECT_TRUE(warnings().empty()) << "a task may take its time";

  stop_ = true;
  for (int i = 0; i < 100 && warnings().empty(); ++i) ::usleep(50000);

  ASSERT_FALSE(warnings().empty());
  EXPECT_NE(warnings()[0].find("r1-00000001 (writing)"), std::string::npos) << warnings()[0];
  EXPECT_EQ(warnings()[0].find("r0-"), std::string::npos) << warnings()[0];
  monitor.finish();
}

}  // namespace
}  // namespace loom::batch
