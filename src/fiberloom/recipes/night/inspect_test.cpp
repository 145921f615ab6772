// SPDX-License-Identifier: BSD-3-Clause
// What is there of a frame, as the batch engine finds it.
#include "loom/batch/inspect.hpp"

#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/night/extract_kind.hpp"
#include "fiberloom/recipes/night/night.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/files/input_file.hpp"
#include "loom/fits/fits_writer.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;

/// A frame with inputs, an output, and a receipt that fits.
class InspectTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = run_folder(path("out"));
    folder_.create();
    task_.name = "r0-00000012";
    task_.job.image = put("preproc.fits");
    task_.job.psf = put("psf.fits");
    task_.job.output = path("out/frame.fits");
    task_.job.wave = {5760, 7620, 0.8};
    const std::vector<float> pixels(2000, 1.0F);
    fits::write_fits(task_.job.output, Overwrite::kYes, [&](fits::FitsWriter& writer) {
      writer.image("FLUX", std::span<const float>(pixels), {50, 40}, fits::PixelType::kFloat32);
    });
    receipt_.name = task_.name;
    receipt_.version = version();
    receipt_.options = options_text(task_.job);
    receipt_.output = {*stamp_file(task_.job.output), file_crc32(task_.job.output)};
    receipt_.output.stamp.path = "frame.fits";
    receipt_.inputs = stamp_inputs(to_task(task_)).files;
    write_receipt();
  }
  void write_receipt() const {
    write_text_file(folder_.receipt(task_.name), to_json(receipt_, folder_));
  }
  [[nodiscard]] Finding find(Check check = Check::kStamps) const {
    return inspect_task(to_task(task_), kind_, folder_, check);
  }
  void damage_keeping_stamps() const {
    const auto time = fs::last_write_time(task_.job.output);
    std::fstream file(task_.job.output, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.put('!');
    file.close();
    fs::last_write_time(task_.job.output, time);
  }

  RunFolder folder_ = run_folder("");
  ExtractKind kind_{Engine()};
  FrameTask task_;
  Receipt receipt_;
};

TEST_F(InspectTest, AnOutputThatFitsItsReceiptIsUpToDate) {
  EXPECT_EQ(find().state, TaskState::kUpToDate) << find().message;
  EXPECT_EQ(find(Check::kBytes).state, TaskState::kUpToDate) << find(Check::kBytes).message;
}

TEST_F(InspectTest, AReceiptIsReadAsItWasWritten) {
  receipt_.labels = {{"night", "20261121"}, {"expid", 12L}, {"camera", "r0"}};
  receipt_.measures = {{"snr", 1.5}, {"chi2", 1}};
  receipt_.compute = {1.5, 2.5};
  receipt_.attempts = 3;
  write_receipt();
  const auto read = read_receipt(folder_, task_.name);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read, folder_), to_json(receipt_, folder_));
  EXPECT_EQ(read->labels, receipt_.labels);
}

TEST_F(InspectTest, AFolderThatWasMovedIsUpToDate) {
  const std::string inside = folder_.output() + "/made-before";
  std::ofstream(inside) << "a frame";
  receipt_.inputs = {*stamp_file(inside)};
  write_receipt();
  const std::string elsewhere = folder_.output() + "-moved";
  fs::rename(folder_.output(), elsewhere);
  const auto read = read_receipt(run_folder(elsewhere), task_.name);
  fs::rename(elsewhere, folder_.output());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->inputs.at(0).path, elsewhere + "/made-before");
}

TEST_F(InspectTest, WithoutReceiptOrOutputItIsToBeDone) {
  fs::remove(task_.job.output);
  EXPECT_EQ(find().state, TaskState::kWaiting);
  fs::remove(folder_.receipt(task_.name));
  EXPECT_EQ(find().state, TaskState::kWaiting);
}

TEST_F(InspectTest, OtherOptionsVersionOrInputsMakeItNew) {
  task_.job.wave = {5760, 7620, 0.6};
  EXPECT_EQ(find().state, TaskState::kWaiting);
  EXPECT_EQ(find().message, "made with other options");
  task_.job.wave = {5760, 7620, 0.8};
  put("preproc.fits", "longer");
  EXPECT_EQ(find().message, "made from other inputs");
  receipt_.inputs = stamp_inputs(to_task(task_)).files;
  receipt_.version = "0.0.9";
  write_receipt();
  EXPECT_EQ(find().message, "made by version 0.0.9");
}

TEST_F(InspectTest, ACopyWithAnotherTimeIsKnownByItsChecksum) {
  fs::last_write_time(task_.job.output, fs::file_time_type::clock::now() - std::chrono::hours(5));
  EXPECT_EQ(find().state, TaskState::kUpToDate);
}

TEST_F(InspectTest, DamageUnderTheSameStampsIsFoundByReadingTheBytes) {
  damage_keeping_stamps();
  EXPECT_EQ(find().state, TaskState::kUpToDate);
  EXPECT_EQ(find(Check::kBytes).state, TaskState::kWaiting);
}

TEST_F(InspectTest, ATruncatedOutputIsToBeDoneAgain) {
  fs::resize_file(task_.job.output, 3000);
  EXPECT_EQ(find().state, TaskState::kWaiting);
}

TEST_F(InspectTest, AMissingInputIsSaid) {
  fs::remove(folder_.receipt(task_.name));
  fs::remove(path("psf.fits"));
  EXPECT_EQ(find().state, TaskState::kMissing);
  EXPECT_NE(find().message.find("psf.fits"), std::string::npos);
}

TEST_F(InspectTest, AnOutputWhoseInputsAreGoneIsStillDone) {
  fs::remove(path("preproc.fits"));
  EXPECT_EQ(find().state, TaskState::kUpToDate);
}

TEST_F(InspectTest, QuarantineHoldsUntilAnInputChanges) {
  fs::remove(folder_.receipt(task_.name));
  Failure failure;
  failure.name = task_.name;
  failure.version = version();
  failure.options = options_text(task_.job);
  failure.inputs = stamp_inputs(to_task(task_)).files;
  failure.message = "preproc.fits: \"bad\"\n\xff";
  failure.exit_code = 14;
  failure.attempts = 2;
  write_text_file(folder_.failure(task_.name), to_json(failure, folder_));
  EXPECT_EQ(find().state, TaskState::kFailed);
  EXPECT_EQ(find().exit_code, 14);
  EXPECT_EQ(find().attempts, 2);
  put("preproc.fits", "better");
  EXPECT_EQ(find().state, TaskState::kWaiting);
}

TEST_F(InspectTest, DamagedRecordsSayNothing) {
  for (const char* text : {"", "{", "[]", "null", R"({"schema":"fiberloom-receipt-1"})",
                           R"({"schema":"fiberloom-receipt-1","name":7})"}) {
    write_text_file(folder_.receipt(task_.name), text);
    write_text_file(folder_.failure(task_.name), text);
    EXPECT_EQ(find().state, TaskState::kWaiting) << text;
  }
}

TEST(OptionsText, TellsApartWhatChangesNumbers) {
  ExtractJob a, b;
  EXPECT_EQ(options_text(a), options_text(b));
  b.options.psferr = 0.02;
  EXPECT_NE(options_text(a), options_text(b));
  b = a;
  b.psf_options.gh00 = Gh00::kOne;
  EXPECT_NE(options_text(a), options_text(b));
  b = a;
  b.image = "elsewhere";  // files are not options
  EXPECT_EQ(options_text(a), options_text(b));
}

}  // namespace
}  // namespace fiberloom::night
