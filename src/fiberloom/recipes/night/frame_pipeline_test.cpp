// SPDX-License-Identifier: BSD-3-Clause
// Long: one night of tests on one fixture.
// Frames through the batch engine: the bytes of extract_frame(), whole or in parts, on cards or
// not.
#include <future>
#include <set>

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/night/extract_kind.hpp"
#include "fiberloom/simulate/small_frame.hpp"
#include "loom/batch/pipeline.hpp"
#include "loom/batch/work_sources.hpp"
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
  void finished(const Outcome& outcome) override {
    const std::lock_guard lock(mutex_);
    outcomes.push_back(outcome);
  }
  std::vector<Outcome> outcomes;

 private:
  std::mutex mutex_;
  std::vector<WorkUnit> units_;
};

class FramePipelineTest : public ScratchFolder {
 protected:
  static constexpr int kFrames = 4;

  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = RunFolder(path("out"), {"fiberloom", "1"});
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
      tasks_->add(to_task(std::move(task)));
    }
  }
  void TearDown() override {
    claims_.reset();
    ScratchFolder::TearDown();
  }

  PipelineEnd run(WorkSource& source, PipelineOptions options = {},
                  decltype(PipelineContext::part_done) part_done = {}) {
    options.threads = 2;
    options.device_places = engine().device() != nullptr ? engine().device()->places() : 0;
    options = complete(options, Packing::kNo);
    PipelineContext context{folder_, kinds_, *claims_, {}, &tracer_, {}, std::move(part_done)};
    context.observer.stop_requested = stop_;
    Pipeline pipeline(*tasks_, source, options, std::move(context));
    return pipeline.run();
  }
  [[nodiscard]] const Engine& engine() const { return kind_->engine(); }
  [[nodiscard]] const ExtractJob& job(std::size_t i) const { return frame_of(tasks_->at(i)).job; }
  [[nodiscard]] TaskState found(std::size_t i) const {
    return inspect_task(tasks_->at(i), *kind_, folder_).state;
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
    kind_->set_engine(Engine(std::make_shared<DeviceEngine>(
        std::move(devices), DeviceEngineOptions{.frames_in_flight = 1, .on_error = on_error})));
    return first;
  }

  RunFolder folder_{"", {"fiberloom", "1"}};
  std::unique_ptr<Claims> claims_;
  std::unique_ptr<TaskList> tasks_ = std::make_unique<TaskList>();
  Tracer tracer_{true};
  std::function<bool()> stop_;
  std::shared_ptr<ExtractKind> kind_ = std::make_shared<ExtractKind>(Engine());
  WorkKinds kinds_{{kind_}};
};

TEST_F(FramePipelineTest, WritesWhatExtractFrameWrites) {
  UnitSource source(whole_frames());
  const PipelineEnd end = run(source);
  EXPECT_FALSE(end.fatal);
  EXPECT_FALSE(end.stopped);
  ASSERT_EQ(source.outcomes.size(), static_cast<std::size_t>(kFrames));
  std::set<std::string> different;
  for (std::size_t i = 0; i < kFrames; ++i) {
    ExtractJob alone = job(i);
    const std::string made = bytes(alone.output);
    alone.output = path("alone.fits");
    SerialExecutor executor;
    (void)extract_frame(alone, Engine(), executor);
    EXPECT_EQ(made, bytes(alone.output)) << i;
    different.insert(made);
  }
  EXPECT_EQ(different.size(), static_cast<std::size_t>(kFrames));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.claims()));
}

TEST_F(FramePipelineTest, PartsOfAFrameJoinToTheSameFile) {
  UnitSource first(std::vector<WorkUnit>(1));
  (void)run(first);
  const std::string output = job(0).output, expected = bytes(output);
  std::filesystem::remove(output);

  UnitSource source(std::vector<WorkUnit>{{0, 0, 1, 3}, {0, 1, 2, 3}, {0, 2, 3, 3}});
  std::mutex mutex;
  std::vector<PartialTask> parts;
  std::unique_ptr<Opaque> material;
  std::vector<FileStamp> inputs;
  (void)run(source, {}, [&](PartialTask part, std::unique_ptr<Opaque> read, InputStamps stamps) {
    const std::lock_guard lock(mutex);
    parts.push_back(std::move(part));
    material = std::move(read);
    inputs = std::move(stamps.files);
  });
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_FALSE(std::filesystem::exists(output));  // who joins writes
  std::vector<std::unique_ptr<Opaque>> pieces;
  for (PartialTask& part : parts) {  // over the wire, as those of other ranks come
    WireWriter writer;
    kind_->send_piece(writer, *part.piece);
    const batch::Bytes sent = writer.take();
    WireReader reader(sent);
    pieces.push_back(kind_->receive_piece(reader));
    reader.finish();
  }
  Outcome outcome = parts.front().outcome;
  write_output(tasks_->at(0), *material, std::move(pieces), inputs,
               {folder_, kinds_, *claims_, {}, nullptr, {}, {}}, outcome);

  EXPECT_EQ(bytes(output), expected);
  EXPECT_EQ(found(0), TaskState::kUpToDate);
  EXPECT_GT(outcome.bytes_out, 0U);
}

TEST_F(FramePipelineTest, AskedToStopItTakesNothingNewAndSaysSo) {
  std::atomic<int> done{0};
  stop_ = [&] { return done > 0; };
  ListSource list({{0, {}}, {1, {}}, {2, {}}, {3, {}}}, *tasks_, stop_);
  class Counting final : public WorkSource {
   public:
    Counting(WorkSource& source, std::atomic<int>& done) : source_(source), done_(done) {}
    std::optional<WorkUnit> next() override { return source_.next(); }
    void finished(const Outcome& o) override {
      if (o.state == TaskState::kDone) ++done_;
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
  std::filesystem::resize_file(job(1).image, 4000);
  UnitSource source(whole_frames());
  const PipelineEnd end = run(source, {.retry = 1});
  EXPECT_FALSE(end.fatal);
  std::size_t done = 0;
  for (const Outcome& o : source.outcomes) {
    if (o.task == 1) {
      EXPECT_EQ(o.state, TaskState::kFailed);
      EXPECT_EQ(o.exit_code, static_cast<int>(Status::kCorrupt));
      EXPECT_EQ(o.attempts, 2);
    } else {
      done += o.state == TaskState::kDone;
    }
  }
  EXPECT_EQ(done, 3U);
  EXPECT_TRUE(read_failure(folder_, tasks_->at(1).name));
}

TEST_F(FramePipelineTest, ASourceThatThrowsEndsTheRunWithItsError) {
  class Broken final : public WorkSource {
   public:
    std::optional<WorkUnit> next() override { throw Error(Status::kInternal, "lost"); }
    void finished(const Outcome&) override {}
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
    void finished(const Outcome&) override {
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
  FrameTask large = frame_of(tasks_->at(1));
  large.name = "r0-00000009";
  large.job.output = path("out/frame-r0-00000009.fits");
  large.workspace_bytes = std::uint64_t{3} << 30;
  const std::size_t its_number = tasks_->add(to_task(std::move(large)));
  auto units = whole_frames();
  units.push_back({its_number});
  UnitSource source(units);
  PipelineOptions options;
  options.memory_bytes = std::uint64_t{2} << 30;
  EXPECT_FALSE(run(source, options).fatal);
  for (const Outcome& o : source.outcomes) {
    const bool too_large = o.task == its_number;
    EXPECT_EQ(o.state, too_large ? TaskState::kFailed : TaskState::kDone) << o.message;
    if (!too_large) continue;
    EXPECT_EQ(o.exit_code, static_cast<int>(Status::kMemory));
    EXPECT_NE(o.message.find("3.22 GB of memory with one thread, 2.15 GB is granted"),
              std::string::npos)
        << o.message;
  }
}

TEST_F(FramePipelineTest, AFrameThatFitsOnFewerThreadsHasThem) {
  FrameTask large = frame_of(tasks_->at(1));
  large.name = "r0-00000009";
  large.job.output = path("out/frame-r0-00000009.fits");
  large.workspace_bytes = std::uint64_t{3} << 29;  // one of the two threads
  UnitSource source(std::vector<WorkUnit>{WorkUnit{tasks_->add(to_task(std::move(large)))}});
  PipelineOptions options;
  options.memory_bytes = std::uint64_t{2} << 30;
  EXPECT_FALSE(run(source, options).fatal);
  ASSERT_EQ(source.outcomes.size(), 1U);
  EXPECT_EQ(source.outcomes[0].state, TaskState::kDone) << source.outcomes[0].message;
  EXPECT_EQ(bytes(path("out/frame-r0-00000009.fits")).empty(), false);
}

TEST_F(FramePipelineTest, AsManyFramesAreInWorkAsTheCardsHavePlacesAndOneMore) {
  (void)use_cards(3);
  UnitSource source(whole_frames());
  EXPECT_FALSE(run(source).fatal);
  for (const Outcome& o : source.outcomes) EXPECT_EQ(o.state, TaskState::kDone) << o.message;
  const std::string timeline = tracer_.chrome_json();
  EXPECT_NE(timeline.find("\"task 3\""), std::string::npos);
  EXPECT_EQ(timeline.find("\"task 4\""), std::string::npos);
}

TEST_F(FramePipelineTest, TheLossOfTheLastCardEndsTheRunAndLeavesTheRestToTheNext) {
  use_cards(1)->inject({DeviceOperation::kAny, 60});
  UnitSource source(whole_frames());
  const PipelineEnd end = run(source, {.retry = 1});
  ASSERT_TRUE(end.fatal);
  EXPECT_EQ(end.fatal->status(), Status::kDevice);
  EXPECT_NE(std::string(end.fatal->what()).find("no device is left"), std::string::npos);
  for (const Outcome& o : source.outcomes) {
    EXPECT_TRUE(o.state == TaskState::kDone || o.state == TaskState::kAbandoned) << o.message;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.failures()));
  (void)use_cards(1);
  UnitSource again(whole_frames());
  EXPECT_FALSE(run(again).fatal);
  for (std::size_t i = 0; i < kFrames; ++i) {
    EXPECT_EQ(found(i), TaskState::kUpToDate);
  }
}

TEST_F(FramePipelineTest, AFaultOnACardThatLivesIsTheFramesOwnFailure) {
  use_cards(1)->inject({DeviceOperation::kLaunch, 0});
  UnitSource source({WorkUnit{0}, WorkUnit{1}});
  EXPECT_FALSE(run(source).fatal);
  ASSERT_EQ(source.outcomes.size(), 2U);
  for (const Outcome& o : source.outcomes) {
    EXPECT_EQ(o.state, TaskState::kFailed);
    EXPECT_EQ(o.exit_code, static_cast<int>(Status::kDevice));
  }
}

TEST_F(FramePipelineTest, TellsWhichFramesTheCpuTookAfterTheDeviceFailed) {
  use_cards(1, OnDeviceError::kCpu)->inject({DeviceOperation::kAny, 0});
  UnitSource source({WorkUnit{0}, WorkUnit{1}});
  EXPECT_FALSE(run(source).fatal);
  ASSERT_EQ(source.outcomes.size(), 2U);
  for (const Outcome& o : source.outcomes) {
    EXPECT_EQ(o.state, TaskState::kDone);
    EXPECT_FALSE(taken_over(o).failure.empty());
  }
}

/// Another value than it had.
struct Other {
  void operator()(bool& to) const { to = !to; }
  void operator()(Verify& to) const { to = Verify::kNo; }
  void operator()(Method& to) const { to = Method::kPatch; }
  void operator()(Gh00& to) const { to = Gh00::kOne; }
  void operator()(WaveTriple& to) const { to = {3600.0, 5800.0, 0.8}; }
  template <class Number>
  void operator()(Number& to) const {
    to += 3;
  }
};

TEST(ExtractKind, EveryOptionCrossesTheWire) {
  const ExtractKind kind{Engine()};
  for (const Method method : {Method::kExact, Method::kPatch}) {  // receipts tell those of one
    FrameTask frame;
    frame.job.image = "image";
    each_extract_option(frame.job, [](const ExtractOptionRow&, auto& member) { Other()(member); });
    frame.job.method = method;
    frame.job.options.wave = {1, 2, 3};
    frame.job.options.want_model = true;
    const Task task = to_task(frame);
    WireWriter writer;
    kind.send(writer, *task.content);
    const batch::Bytes sent = writer.take();
    WireReader reader(sent);
    Task back;
    back.content = kind.receive(reader);
    reader.finish();
    const ExtractJob& job = frame_of(back).job;
    EXPECT_EQ(options_text(job), options_text(frame.job));
    EXPECT_EQ(job.verify, Verify::kNo);
    EXPECT_EQ(job.options.wave, frame.job.options.wave);
    EXPECT_TRUE(job.options.want_model);
    EXPECT_EQ(job.image, "image");
  }
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
