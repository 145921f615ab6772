// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/night_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fiberloom/cli/night_options.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {
namespace {

using night::TaskState;

night::RunStatus status(std::initializer_list<TaskState> states) {
  night::RunStatus s;
  s.title = "exposure 12";
  for (const TaskState state : states) {
    s.tasks.emplace_back();
    s.tasks.back().state = state;
  }
  return s;
}

TEST(NightLine, CountsWhatIsSettledFailedAndInWork) {
  night::RunStatus s = status({TaskState::kDone, TaskState::kUpToDate, TaskState::kFailed,
                               TaskState::kComputing, TaskState::kWaiting});
  s.tasks_per_node_hour = 1630.4;
  s.tasks_per_minute = 27.17;
  s.left_s = 42;
  EXPECT_EQ(night_line(s),
            "exposure 12: 3/5 frames, 1 failed, 1 in work, 27.2 frames a minute, 1630 a node-hour, "
            "42 s left");
}

TEST(NightLine, SaysNothingThatIsNotKnown) {
  EXPECT_EQ(night_line(status({TaskState::kReading})), "exposure 12: 0/1 frames, 1 in work");
}

TEST(ExitStatus, TheWorstThingDecides) {
  night::NightReport report;
  report.counts.done = 5;
  EXPECT_EQ(exit_status(report), Status::kOk);
  report.counts.missing = 1;
  EXPECT_EQ(exit_status(report), Status::kSomeFailed);
  report.counts.left = 1;
  EXPECT_EQ(exit_status(report), Status::kInterrupted);
  report.end.fatal = Error(Status::kDiskFull, "full");
  EXPECT_EQ(exit_status(report), Status::kDiskFull);
}

TEST(NightJson, HoldsTextThatIsNoUtf8) {
  night::NightReport report;
  report.tasks = {night::to_task({})};
  report.outcomes.resize(1);
  report.outcomes[0].message =
      "a\xff"
      "b";
  const Tracer tracer;
  EXPECT_NE(night_json(report, {}, tracer).find("\"frames\": ["), std::string::npos);
}

TEST(NightJson, CountsWhatTheCpuTookOverFromTheDevice) {
  night::NightReport report;
  report.tasks.assign(4, night::to_task({}));
  report.outcomes.resize(4);
  for (night::Outcome& o : report.outcomes) {
    o.state = TaskState::kDone;
    o.facts = {0.0, ""};
  }
  report.outcomes[1].facts[0] = 3.0;
  report.outcomes[2].facts[0] = 1.0;
  report.outcomes[3].facts[1] = "lost";
  report.counts.done = 4;
  const Tracer tracer;
  const auto by_cpu = nlohmann::json::parse(night_json(report, {}, tracer)).at("taken_over_by_cpu");
  EXPECT_EQ(by_cpu.at("frames"), 2);
  EXPECT_EQ(by_cpu.at("bundles"), 4);
  EXPECT_EQ(by_cpu.at("frames_after_device_failure"), 1);
  EXPECT_EQ(night_summary(report).back(),
            "taken over by the CPU: 4 bundles of 2 frames; frames after the device failed: 1");
}

TEST(ParseBytes, TakesUnits) {
  EXPECT_EQ(parse_bytes("1000"), 1000U);
  EXPECT_EQ(parse_bytes("2K"), 2048U);
  EXPECT_EQ(parse_bytes("1.5GiB"), std::uint64_t{3} << 29);
  for (const char* text : {"", "G", "-1", "5X", "5Gx", "nan", "1e30"}) {
    EXPECT_THROW((void)parse_bytes(text), Error) << text;
  }
}

}  // namespace
}  // namespace fiberloom::cli
