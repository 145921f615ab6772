// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/ledger.hpp"

#include "loom/base/error.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::night {
namespace {

class LedgerTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = RunFolder(path("out"));
    folder_.create();
    try {
      (void)Ledger::open(path("probe.sqlite"));
    } catch (const Error& error) {
      if (error.status() == Status::kUnsupported) GTEST_SKIP() << error.what();
      throw;
    }
  }
  static LedgerRow row(const std::string& name, const std::string& state) {
    LedgerRow r;
    r.name = name;
    r.state = state;
    r.expid = 12;
    r.crc32 = 0xfedcba98U;
    r.message = "it's \"quoted\"; DROP TABLE frames";
    r.compute = {1.25, 2.5};
    return r;
  }
  RunFolder folder_{""};
};

TEST_F(LedgerTest, KeepsTheLastStateOfEachFrame) {
  const auto ledger = Ledger::open(folder_.ledger());
  ledger->put({row("b", "failed"), row("a", "done")});
  ledger->put({row("b", "done")});
  const auto rows = Ledger::open(folder_.ledger())->rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[1].state, "done");
  EXPECT_EQ(rows[1].crc32, 0xfedcba98U);
  EXPECT_EQ(rows[1].message, row("", "").message);
  EXPECT_EQ(rows[1].compute.cpu_s, 2.5);
}

TEST_F(LedgerTest, IsRebuiltFromReceiptsAndFailures) {
  Receipt receipt;
  receipt.name = "a";
  receipt.output = {"frame-a.fits", 100, 5};
  receipt.crc32 = 7;
  write_text_file(folder_.receipt("a"), to_json(receipt));
  Failure failure;
  failure.name = "b";
  failure.message = "missing HDU";
  failure.exit_code = 11;
  write_text_file(folder_.failure("b"), to_json(failure));
  write_text_file(folder_.receipt("c"), "no receipt");
  put("out/.fiberloom/ledger.sqlite", "this was never a database, and is long enough to be seen");

  EXPECT_EQ(rebuild_ledger(folder_), 2U);

  const auto rows = Ledger::open(folder_.ledger())->rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].size, 100U);
  EXPECT_EQ(rows[1].exit_code, 11);
}

TEST_F(LedgerTest, AFileThatIsNoLedgerIsSaid) {
  put("out/.fiberloom/ledger.sqlite", std::string(5000, 'x'));
  try {
    (void)Ledger::open(folder_.ledger());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kCorrupt);
  }
}

}  // namespace
}  // namespace fiberloom::night
