// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/run_options.hpp"

#include <atomic>
#include <thread>

#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/night/night.hpp"
#include "loom/base/error.hpp"
#include "loom/batch/receipt.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::night {
namespace {

class RunOptionsTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = run_folder(path("out"));
    folder_.create();
  }
  static Task task(const std::string& camera, double psferr = 0.01) {
    FrameTask t;
    t.camera = camera;
    t.name = camera + "-00000001";
    t.job.wave = {5760, 7620, 0.8};
    t.job.options.psferr = psferr;
    return to_task(std::move(t));
  }
  RunFolder folder_ = run_folder("");
};

TEST_F(RunOptionsTest, AreRememberedForEachBandAlone) {
  remember_options({task("r0"), task("b0", 0.04)}, folder_, Redo::kNo);
  EXPECT_NO_THROW(require_same_options({task("r1"), task("b3", 0.04)}, folder_));
  EXPECT_NO_THROW(require_same_options({task("z0", 0.5)}, folder_));  // not known yet
  EXPECT_THROW(require_same_options({task("r0", 0.02)}, folder_), Error);
  EXPECT_TRUE(remember_options({task("r0", 0.02)}, folder_, Redo::kYes));
  EXPECT_FALSE(remember_options({task("r0", 0.02)}, folder_, Redo::kYes));
  EXPECT_NO_THROW(require_same_options({task("r0", 0.02)}, folder_));
}

TEST_F(RunOptionsTest, ADamagedRecordIsNobodysWord) {
  put("out/.fiberloom/options/r.json", "{\"schema\": 7");
  remember_options({task("r0")}, folder_, Redo::kNo);
  EXPECT_THROW(require_same_options({task("r0", 0.02)}, folder_), Error);
}

TEST_F(RunOptionsTest, OfRunsThatComeAtOnceOneIsFirst) {
  std::atomic<int> refused{0};
  std::vector<std::thread> runs;
  for (int i = 0; i < 8; ++i) {
    runs.emplace_back([&, i] {
      try {
        remember_options({task("r0", 0.01 * (i + 1))}, folder_, Redo::kNo);
      } catch (const Error& error) {
        refused += error.status() == Status::kUsage;
      }
    });
  }
  for (std::thread& run : runs) run.join();
  EXPECT_EQ(refused, 7);
}

TEST(OptionsDifference, NamesWhatDiffersAsTheCommandLineDoes) {
  ExtractJob a, b;
  a.wave = {5760, 7620, 0.8};
  b.wave = {5760, 7620, 0.5};
  b.barycentric = true;
  const std::string text = options_difference(options_text(a), options_text(b));
  EXPECT_NE(text.find("--wavelength 5760,7620,0.8"), std::string::npos) << text;
  EXPECT_NE(text.find("--barycentric-correction off there, on here"), std::string::npos) << text;
  EXPECT_EQ(options_difference(options_text(a), options_text(a)), "");
}

}  // namespace
}  // namespace fiberloom::night
