// SPDX-License-Identifier: BSD-3-Clause
// A folder that fills, with frames.
#include <atomic>
#include <cerrno>
#include <thread>

#include "fiberloom/recipes/night/discover.hpp"
#include "loom/base/error.hpp"
#include "loom/batch/work_sources.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::night {
namespace {

using namespace std::chrono_literals;

Outcome outcome(std::size_t task, TaskState state) {
  Outcome o;
  o.task = task;
  o.state = state;
  return o;
}

class WatchSourceTest : public ScratchFolder {
 protected:
  [[nodiscard]] std::unique_ptr<WatchSource> watch(double settle_s, double idle_s,
                                                   WatchSource::Admit admit = {}) {
    FrameRequest request;
    request.input = path("in");
    request.output = path("out");
    Observer observer;
    observer.message = [this](LogLevel, const std::string& text) { warnings_.push_back(text); };
    const auto find = [request](const std::set<std::string>& skip) mutable {
      request.skip = skip;
      std::vector<Task> tasks;
      for (FrameTask& frame : find_frames(request)) tasks.push_back(to_task(std::move(frame)));
      return tasks;
    };
    return std::make_unique<WatchSource>(
        find, tasks_, WatchOptions{.poll_s = 0.05, .settle_s = settle_s, .idle_s = idle_s},
        observer, std::move(admit));
  }
  void put_frame(const std::string& expid) const {
    put("in/preproc-r0-" + expid + ".fits");
    put("in/psf-r0.fits");
  }
  /// Waits for a unit as long as there may be one.
  static std::optional<WorkUnit> next_of(WatchSource& source) {
    auto unit = source.next();
    while (!unit && source.more_later()) unit = source.next();
    return unit;
  }
  TaskList tasks_;
  std::vector<std::string> warnings_;
};

TEST_F(WatchSourceTest, TakesTheNewestExposureFirst) {
  put_frame("00000001");
  put_frame("00000003");
  put_frame("00000002");
  const auto source = watch(0, 0.3);
  for (const long expected : {3L, 2L, 1L}) {
    const auto unit = next_of(*source);
    ASSERT_TRUE(unit);
    EXPECT_EQ(tasks_.at(unit->task).priority, expected);
    source->finished(outcome(unit->task, TaskState::kDone));
  }
  EXPECT_FALSE(next_of(*source));  // idle
}

TEST_F(WatchSourceTest, SaysThatThereIsNoneForNowWhileAFrameIsInWork) {
  put_frame("00000001");
  const auto source = watch(0, 60);
  const auto unit = next_of(*source);
  ASSERT_TRUE(unit);

  EXPECT_FALSE(source->next());  // and not only after a minute: a frame may have to be tried again
  EXPECT_TRUE(source->more_later());

  put_frame("00000002");
  const auto second = next_of(*source);
  ASSERT_TRUE(second);
  EXPECT_EQ(tasks_.at(second->task).priority, 2L);
}

TEST_F(WatchSourceTest, DoesNotHoldUpARunThatMustEndThoughNothingIsInWork) {
  std::filesystem::create_directory(path("in"));
  const auto source = watch(0, -1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(source->next());
  EXPECT_TRUE(source->more_later());
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

TEST_F(WatchSourceTest, WaitsUntilAFileNoLongerGrows) {
  put_frame("00000001");
  const auto source = watch(0.4, 5);
  const auto start = std::chrono::steady_clock::now();
  std::thread writer([&] {
    for (int i = 0; i < 6; ++i) {
      std::this_thread::sleep_for(100ms);
      std::ofstream(path("in/preproc-r0-00000001.fits"), std::ios::app) << "more";
    }
  });
  const auto unit = next_of(*source);
  writer.join();
  ASSERT_TRUE(unit);
  EXPECT_GT(std::chrono::steady_clock::now() - start, 900ms);
}

TEST_F(WatchSourceTest, WaitsForThePsf) {
  put("in/preproc-r0-00000001.fits");
  const auto source = watch(0, 5);
  std::thread writer([&] {
    std::this_thread::sleep_for(200ms);
    put("in/psf-r0.fits");
  });
  const auto unit = next_of(*source);
  writer.join();
  ASSERT_TRUE(unit);
  EXPECT_TRUE(std::filesystem::exists(frame_of(tasks_.at(unit->task)).job.psf));
}

TEST_F(WatchSourceTest, AFolderThatIsNotThereYetIsWaitedForWithOneWarning) {
  const auto source = watch(0, 5);
  std::thread writer([&] {
    std::this_thread::sleep_for(300ms);
    put_frame("00000001");
  });
  EXPECT_TRUE(next_of(*source));
  writer.join();
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(WatchSourceTest, AFrameThatFailedIsNewOnceItsFilesHaveChanged) {
  put_frame("00000001");
  const auto source = watch(0, 0.4);
  const auto unit = next_of(*source);
  ASSERT_TRUE(unit);
  Outcome failed = outcome(unit->task, TaskState::kFailed);
  failed.exit_code = static_cast<int>(Status::kCorrupt);
  source->finished(failed);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < 200ms) EXPECT_FALSE(source->next());

  put("in/preproc-r0-00000001.fits", "the whole of it");
  const auto again = next_of(*source);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->task, unit->task);
  source->finished(outcome(unit->task, TaskState::kDone));
  put("in/preproc-r0-00000001.fits", "and another one, which is the next run's");
  EXPECT_FALSE(next_of(*source));
}

TEST_F(WatchSourceTest, WhatTheMachineFailedIsTriedAgainEverMoreRarely) {
  put_frame("00000001");
  const auto source = watch(0, 0.5);
  Outcome failed = outcome(0, TaskState::kFailed);
  failed.exit_code = static_cast<int>(Status::kNotFound);
  failed.system_error = EIO;
  int attempts = 0;
  for (; attempts < 20 && next_of(*source); ++attempts) source->finished(failed);
  EXPECT_GE(attempts, 3);  // after 0.1, 0.2, 0.4, 0.8 s: then the watch is idle
  EXPECT_LE(attempts, 5);
}

TEST_F(WatchSourceTest, WhatIsNotAdmittedEndsTheWatch) {
  put_frame("00000001");
  const auto source = watch(0, 5, [](const std::vector<Task>& found) {
    EXPECT_EQ(found.size(), 1U);
    throw Error(Status::kUsage, "other options");
  });
  EXPECT_THROW((void)next_of(*source), Error);
}

}  // namespace
}  // namespace fiberloom::night
