// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/ledger.hpp"

#include "loom/base/error.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::batch {
namespace {

class LedgerTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = RunFolder(path("out"), {"fiberloom", "1"});
    folder_.create();
    shape_.table = "frames";
    shape_.labels = {{"expid", LedgerShape::LabelColumn::Type::kInteger}};
    shape_.inputs = {"image", "psf"};
    shape_.measures = {"snr"};
    try {
      (void)Ledger::open(path("probe.sqlite"), shape_);
    } catch (const Error& error) {
      if (error.status() == Status::kUnsupported) GTEST_SKIP() << error.what();
      throw;
    }
  }
  static LedgerRow row(const std::string& name, const std::string& state) {
    LedgerRow r;
    r.name = name;
    r.state = state;
    r.labels = {{"expid", 12L}};
    r.measures = {{"snr", 2.5}};
    r.crc32 = 0xfedcba98U;
    r.message = "it's \"quoted\"; DROP TABLE frames";
    r.compute = {1.25, 2.5};
    return r;
  }
  RunFolder folder_{"", {"fiberloom", "1"}};
  LedgerShape shape_;
};

TEST_F(LedgerTest, KeepsTheLastStateOfEachTask) {
  const auto ledger = Ledger::open(folder_.ledger(), shape_);
  ledger->put({row("b", "failed"), row("a", "done")});
  ledger->put({row("b", "done")});
  const auto rows = Ledger::open(folder_.ledger(), shape_)->rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[1].state, "done");
  EXPECT_EQ(rows[1].crc32, 0xfedcba98U);
  EXPECT_EQ(rows[1].message, row("", "").message);
  EXPECT_EQ(rows[1].compute.cpu_s, 2.5);
  EXPECT_EQ(rows[1].labels, row("", "").labels);
  ASSERT_EQ(rows[1].measures.size(), 1U);
  EXPECT_EQ(rows[1].measures[0].value, 2.5);
}

TEST_F(LedgerTest, IsRebuiltFromReceiptsAndFailures) {
  Receipt receipt;
  receipt.name = "a";
  receipt.output = {{"frame-a.fits", 100, 5}, 7};
  write_text_file(folder_.receipt("a"), to_json(receipt, folder_));
  Failure failure;
  failure.name = "b";
  failure.message = "missing HDU";
  failure.exit_code = 11;
  write_text_file(folder_.failure("b"), to_json(failure, folder_));
  write_text_file(folder_.receipt("c"), "no receipt");
  put("out/.fiberloom/ledger.sqlite", "this was never a database, and is long enough to be seen");

  EXPECT_EQ(rebuild_ledger(folder_, shape_), 2U);

  const auto rows = Ledger::open(folder_.ledger(), shape_)->rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].size, 100U);
  EXPECT_EQ(rows[1].exit_code, 11);
}

TEST_F(LedgerTest, AFileThatIsNoLedgerIsSaid) {
  put("out/.fiberloom/ledger.sqlite", std::string(5000, 'x'));
  try {
    (void)Ledger::open(folder_.ledger(), shape_);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kCorrupt);
  }
}

}  // namespace
}  // namespace loom::batch
