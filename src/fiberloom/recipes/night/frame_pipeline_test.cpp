// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/frame_pipeline.hpp"

#include <future>
#include <set>

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/recipes/night/work_sources.hpp"
#include "fiberloom/simulate/small_frame.hpp"
#include "loom/device/emulated_device.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::night {
namespace {

/// Units given in advance, outcomes kept.
class UnitSource final : public WorkSource {
 public:
  explicit UnitSource(std::vector<WorkUnit> units) : units_(units.rbegin(), units.rend()) {}
  std::optional<WorkUnit> next() override {
    const std::lock_guard lock(mutex_);
    if (units_.empty()) return std::nullopt;
    const WorkUnit unit = units_.back();
    units_.pop_back();
    return unit;
  }
  void finished(const FrameOutcome& outcome) override {
    const std::lock_guard lock(mutex_);
    outcomes.push_back(outcome);
  }
  std::vector<FrameOutcome> outcomes;

 private:
  std::mutex mutex_;
  std::vector<WorkUnit> units_;
};

class FramePipelineTest : public ScratchFolder {
 protected:
  static constexpr int kFrames = 4;

  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = RunFolder(path("out"));
    folder_.create();
    claims_ = std::make_unique<Claims>(folder_, ClaimOptions{});
    SmallFrameOptions small;
    small.nfiber = 12;
    small.nwave = 40;
    SerialExecutor executor;
    const SmallFrame made = make_small_frame(small, executor);
    PsfFile psf;
    psf.model = made.psf;
    write_psf(path("psf-r0.fits"), psf, Overwrite::kYes);
    for (int i = 0; i < kFrames; ++i) {
      PreprocFile image;
      image.ccd = {PixelArray(made.image), PixelArray(made.ivar)};
      std::get<Array2D<double>>(image.ccd.image.data())(5, 5) += i;  // so that frames differ
      FrameTask task;
      task.name = "r0-0000000" + std::to_string(i);
      task.job.image = path("preproc-" + task.name + ".fits");
      task.job.psf = path("psf-r0.fits");
      task.job.output = path("out/frame-" + task.name + ".fits");
      task.job.wave = {made.wave.front(), made.wave.back(), small.step_aa};
      task.job.options.bundle_size = 4;
      task.memory_bytes = 1000;
      write_preproc(task.job.image, image, Overwrite::kYes);
      tasks_->add(std::move(task));
    }
  }
  void TearDown() override {
    claims_.reset();
    ScratchFolder::TearDown();
  }

  PipelineEnd run(WorkSource& source, PipelineOptions options = {},
                  std::function<void(FramePart)> part_done = {}) {
    options.threads = 2;
    options = complete(options, request_, engine_);
    PipelineContext context{folder_, *claims_, engine_, {}, &tracer_, {}, std::move(part_done)};
    context.observer.stop_requested = stop_;
    FramePipeline pipeline(*tasks_, source, options, std::move(context));
    return pipeline.run();
  }
  [[nodiscard]] static std::string bytes(const std::string& file) {
    return read_text_file(file).value_or("");
  }
  static std::vector<WorkUnit> whole_frames() {
    std::vector<WorkUnit> units;
    for (std::size_t i = 0; i < kFrames; ++i) units.push_back({i});
    return units;
  }

  /// The frames go to emulated cards with a place each; returns the first, for its faults.
  Device* use_cards(std::size_t cards, OnDeviceError on_error = OnDeviceError::kFail) {
    std::vector<std::unique_ptr<Device>> devices;
    while (devices.size() < cards) devices.push_back(make_emulated_device());
    Device* first = devices.front().get();
    engine_ = Engine(std::make_shared<DeviceEngine>(
        std::move(devices), DeviceEngineOptions{.frames_in_flight = 1, .on_error = on_error}));
    return first;
  }

  RunFolder folder_{""};
  std::unique_ptr<Claims> claims_;
  std::unique_ptr<TaskList> tasks_ = std::make_unique<TaskList>();
  Tracer tracer_{true};
  std::function<bool()> stop_;
  FrameRequest request_;
  Engine engine_;
};

TEST_F(FramePipelineTest, WritesWhatExtractFrameWrites) {
  UnitSource source(whole_frames());
  const PipelineEnd end = run(source);
  EXPECT_FALSE(end.fatal);
  EXPECT_FALSE(end.stopped);
  ASSERT_EQ(source.outcomes.size(), static_cast<std::size_t>(kFrames));
  std::set<std::string> different;
  for (std::size_t i = 0; i < kFrames; ++i) {
    ExtractJob job = tasks_->at(i).job;
    const std::string made = bytes(job.output);
    job.output = path("alone.fits");
    SerialExecutor executor;
    (void)extract_frame(job, Engine(), executor);
    EXPECT_EQ(made, bytes(job.output)) << i;
    different.insert(made);
  }
  EXPECT_EQ(different.size(), static_cast<std::size_t>(kFrames));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.claims()));
}

TEST_F(FramePipelineTest, PartsOfAFrameJoinToTheSameFile) {
  UnitSource first(std::vector<WorkUnit>(1));
  (void)run(first);
  const std::string output = tasks_->at(0).job.output, expected = bytes(output);
  std::filesystem::remove(output);

  UnitSource source(std::vector<WorkUnit>{{0, 0, 1, 3}, {0, 1, 2, 3}, {0, 2, 3, 3}});
  std::mutex mutex;
  std::vector<FramePart> parts;
  (void)run(source, {}, [&](FramePart part) {
    const std::lock_guard lock(mutex);
    parts.push_back(std::move(part));
  });
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_FALSE(std::filesystem::exists(output));  // who joins writes
  std::vector<ExtractResult> results;
  for (FramePart& part : parts) results.push_back(std::move(part.result));
  FrameOutcome outcome = parts.front().outcome;
  write_frame_output(tasks_->at(0), parts.front().frame,
                     join_parts(std::move(results), parts.front().frame),
                     parts.front().inputs.files, folder_, nullptr, outcome);

  EXPECT_EQ(bytes(output), expected);
  EXPECT_EQ(inspect_frame(tasks_->at(0), folder_).state, FrameState::kUpToDate);
  EXPECT_GT(outcome.bytes_out, 0U);
}

TEST_F(FramePipelineTest, AskedToStopItTakesNothingNewAndSaysSo) {
  std::atomic<int> done{0};
  stop_ = [&] { return done > 0; };
  ListSource list({0, 1, 2, 3}, stop_);
  class Counting final : public WorkSource {
   public:
    Counting(WorkSource& source, std::atomic<int>& done) : source_(source), done_(done) {}
    std::optional<WorkUnit> next() override { return source_.next(); }
    void finished(const FrameOutcome& o) override {
      if (o.state == FrameState::kDone) ++done_;
      source_.finished(o);
    }

   private:
    WorkSource& source_;
    std::atomic<int>& done_;
  } source(list, done);
  PipelineOptions one;
  one.memory_bytes = std::uint64_t{100} << 20;  // one frame in flight
  const PipelineEnd end = run(source, one);
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.claims()));
}

TEST_F(FramePipelineTest, AFailureIsSetAsideAndTheOthersAreDone) {
  std::filesystem::resize_file(tasks_->at(1).job.image, 4000);
  UnitSource source(whole_frames());
  const PipelineEnd end = run(source, {.retry = 1});
  EXPECT_FALSE(end.fatal);
  std::size_t done = 0;
  for (const FrameOutcome& o : source.outcomes) {
    if (o.frame == 1) {
      EXPECT_EQ(o.state, FrameState::kFailed);
      EXPECT_EQ(o.exit_code, static_cast<int>(Status::kCorrupt));
      EXPECT_EQ(o.attempts, 2);
    } else {
      done += o.state == FrameState::kDone;
    }
  }
  EXPECT_EQ(done, 3U);
  EXPECT_TRUE(read_failure(folder_.failure(tasks_->at(1).name)));
}

TEST_F(FramePipelineTest, ASourceThatThrowsEndsTheRunWithItsError) {
  class Broken final : public WorkSource {
   public:
    std::optional<WorkUnit> next() override { throw Error(Status::kInternal, "lost"); }
    void finished(const FrameOutcome&) override {}
  } source;
  const PipelineEnd end = run(source);
  ASSERT_TRUE(end.fatal);
  EXPECT_STREQ(end.fatal->what(), "lost");
}

TEST_F(FramePipelineTest, AListenerThatThrowsEndsTheRunAndLeavesNobodyWaiting) {
  class Deaf final : public WorkSource {
   public:
    explicit Deaf(WorkSource& source) : source_(source) {}
    std::optional<WorkUnit> next() override { return source_.next(); }
    void finished(const FrameOutcome&) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // the others fill the budget
      throw Error(Status::kInternal, "deaf");
    }

   private:
    WorkSource& source_;
  };
  UnitSource units(whole_frames());
  Deaf source(units);
  PipelineOptions two;
  two.memory_bytes = (std::uint64_t{360 + 2 * 24} << 20) + 2000;  // frames of 1000 bytes in flight
  const PipelineEnd end = run(source, two);
  ASSERT_TRUE(end.fatal);
  EXPECT_STREQ(end.fatal->what(), "deaf");
}

TEST_F(FramePipelineTest, AFrameThatNeedsMoreThanThereIsFailsWithALineAndTheOthersAreDone) {
  FrameTask large = tasks_->at(1);
  large.name = "r0-00000009";
  large.job.output = path("out/frame-r0-00000009.fits");
  large.workspace_bytes = std::uint64_t{3} << 30;
  const std::size_t its_number = tasks_->add(std::move(large));
  auto units = whole_frames();
  units.push_back({its_number});
  UnitSource source(units);
  PipelineOptions options;
  options.memory_bytes = std::uint64_t{2} << 30;
  EXPECT_FALSE(run(source, options).fatal);
  for (const FrameOutcome& o : source.outcomes) {
    const bool too_large = o.frame == its_number;
    EXPECT_EQ(o.state, too_large ? FrameState::kFailed : FrameState::kDone) << o.message;
    if (!too_large) continue;
    EXPECT_EQ(o.exit_code, static_cast<int>(Status::kMemory));
    EXPECT_NE(o.message.find("3.22 GB of memory with one thread, 2.15 GB is granted"),
              std::string::npos)
        << o.message;
  }
}

TEST_F(FramePipelineTest, AFrameThatFitsOnFewerThreadsHasThem) {
  FrameTask large = tasks_->at(1);
  large.name = "r0-00000009";
  large.job.output = path("out/frame-r0-00000009.fits");
  large.workspace_bytes = std::uint64_t{3} << 29;  // one of the two threads
  UnitSource source(std::vector<WorkUnit>{WorkUnit{tasks_->add(std::move(large))}});
  PipelineOptions options;
  options.memory_bytes = std::uint64_t{2} << 30;
  EXPECT_FALSE(run(source, options).fatal);
  ASSERT_EQ(source.outcomes.size(), 1U);
  EXPECT_EQ(source.outcomes[0].state, FrameState::kDone) << source.outcomes[0].message;
  EXPECT_EQ(bytes(path("out/frame-r0-00000009.fits")).empty(), false);
}

TEST_F(FramePipelineTest, AsManyFramesAreInWorkAsTheCardsHavePlacesAndOneMore) {
  (void)use_cards(3);
  UnitSource source(whole_frames());
  EXPECT_FALSE(run(source).fatal);
  for (const FrameOutcome& o : source.outcomes) EXPECT_EQ(o.state, FrameState::kDone) << o.message;
  const std::string timeline = tracer_.chrome_json();
  EXPECT_NE(timeline.find("\"frame 3\""), std::string::npos);
  EXPECT_EQ(timeline.find("\"frame 4\""), std::string::npos);
}

TEST_F(FramePipelineTest, TheLossOfTheLastCardEndsTheRunAndLeavesTheRestToTheNext) {
  use_cards(1)->inject({DeviceOperation::kAny, 60});
  UnitSource source(whole_frames());
  const PipelineEnd end = run(source, {.retry = 1});
  ASSERT_TRUE(end.fatal);
  EXPECT_EQ(end.fatal->status(), Status::kDevice);
  EXPECT_NE(std::string(end.fatal->what()).find("no device is left"), std::string::npos);
  for (const FrameOutcome& o : source.outcomes) {
    EXPECT_TRUE(o.state == FrameState::kDone || o.state == FrameState::kAbandoned) << o.message;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.failures()));
  (void)use_cards(1);
  UnitSource again(whole_frames());
  EXPECT_FALSE(run(again).fatal);
  for (std::size_t i = 0; i < kFrames; ++i) {
    EXPECT_EQ(inspect_frame(tasks_->at(i), folder_).state, FrameState::kUpToDate);
  }
}

TEST_F(FramePipelineTest, AFaultOnACardThatLivesIsTheFramesOwnFailure) {
  use_cards(1)->inject({DeviceOperation::kLaunch, 0});
  UnitSource source({WorkUnit{0}, WorkUnit{1}});
  EXPECT_FALSE(run(source).fatal);
  ASSERT_EQ(source.outcomes.size(), 2U);
  for (const FrameOutcome& o : source.outcomes) {
    EXPECT_EQ(o.state, FrameState::kFailed);
    EXPECT_EQ(o.exit_code, static_cast<int>(Status::kDevice));
  }
}

TEST_F(FramePipelineTest, TellsWhichFramesTheCpuTookAfterTheDeviceFailed) {
  use_cards(1, OnDeviceError::kCpu)->inject({DeviceOperation::kAny, 0});
  UnitSource source({WorkUnit{0}, WorkUnit{1}});
  EXPECT_FALSE(run(source).fatal);
  ASSERT_EQ(source.outcomes.size(), 2U);
  for (const FrameOutcome& o : source.outcomes) {
    EXPECT_EQ(o.state, FrameState::kDone);
    EXPECT_FALSE(o.by_cpu.failure.empty());
  }
}

TEST(MemoryBudget, WhatIsKeptForGoodLeavesLessForFramesButAlwaysOne) {
  MemoryBudget budget(1000, 10);
  budget.keep(600);
  budget.keep(200);  // the most counts
  auto first = std::make_optional(budget.reserve(300));
  EXPECT_EQ(budget.used(), 900U);
  auto second = std::async(std::launch::async, [&] { return budget.reserve(200); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  first.reset();
  EXPECT_EQ(second.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  EXPECT_EQ(budget.most_in_flight(), 1U);
}

TEST(PsfCache, ReadsAFileOnceUntilItChanges) {
  const std::string path = testing::TempDir() + "fiberloom_psf_cache.fits";
  SimulatedPsfOptions options = small_psf_options(4, 6000, 6050);
  PsfFile psf;
  psf.model = make_psf(options);
  write_psf(path, psf, Overwrite::kYes);
  PsfCache cache(2);
  const auto first = cache.get(path, {});
  EXPECT_EQ(cache.get(path, {}), first);
  EXPECT_NE(cache.get(path, {Gh00::kOne, false}), first);
  std::filesystem::resize_file(path, 100);
  EXPECT_THROW((void)cache.get(path, {}), Error);
  write_psf(path, psf, Overwrite::kYes);
  const auto again = cache.get(path, {});
  EXPECT_NE(again, first);
  EXPECT_EQ(again->model.nfiber(), 4);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fiberloom::night
