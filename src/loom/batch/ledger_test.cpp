// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/ledger.hpp"

#include <chrono>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"
#include "loom/batch/shared_ledger.hpp"
#include "loom/testing/postgres_server.hpp"
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

/// A ledger in a database, on both kinds.
class SharedLedgerTest : public ScratchFolder, public testing::WithParamInterface<db::Kind> {
 protected:
  static loom::test::PostgresServer& server() {
    static loom::test::PostgresServer one;
    return one;
  }
  void SetUp() override {
    ScratchFolder::SetUp();
    if (!db::available(GetParam())) GTEST_SKIP() << "not in this build";
    url_ = path("state.sqlite");
    if (GetParam() == db::Kind::kPostgres) {
      if (loom::test::PostgresServer::programs().empty())
        GTEST_SKIP() << "no PostgreSQL server here";
      ASSERT_TRUE(server().works());
      url_ = server().make("state");
    }
    for (const char* name : {"out", "other"}) run(name).create();
  }
  [[nodiscard]] RunFolder run(const char* name) const { return {path(name), {"fiberloom", "1"}}; }
  static LedgerRow row(const std::string& name, const std::string& state) {
    LedgerRow r;
    r.name = name;
    r.state = state;
    r.labels = {{"expid", 12L}, {"camera", std::string("b0")}};
    r.measures = {{"snr", 2.5}};
    r.message = "it's \"quoted\"\t\\N; DROP TABLE fiberloom_task";
    r.compute = {1.25, 2.5};
    r.history = {{7, "host", 42, 1, 12, "first \xff"}, {8, "host", 43, 0, 0, ""}};
    r.input_files = {{"/in/a", 5, 6}, {"/in/b", 7, 8}};
    r.output_files = {{{"frame-a.fits", 100, 0}, 0xfedcba98U}};
    return r;
  }
  std::string url_;
};

TEST_P(SharedLedgerTest, KeepsTasksOfSeveralRunsWithTheirFilesAndAttempts) {
  SharedLedger first(url_, run("out")), second(url_, run("other"));
  first.put({row("b", "failed"), row("a", "waiting")});
  second.put({row("b", "computing")});
  LedgerRow again = row("b", "done");
  again.message.clear();
  again.history.erase(again.history.begin());
  again.input_files.pop_back();
  first.put({again});

  const auto rows = SharedLedger(url_, run("out")).rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].message, row("", "").message);
  EXPECT_EQ(rows[0].labels, row("", "").labels);
  EXPECT_EQ(rows[0].history[1], row("", "").history[1]);
  EXPECT_EQ(rows[0].history[0].pid, 42);
  EXPECT_EQ(rows[0].input_files, row("", "").input_files);
  EXPECT_EQ(rows[0].output_files[0].crc32, 0xfedcba98U);
  EXPECT_EQ(rows[0].compute.cpu_s, 2.5);
  ASSERT_EQ(rows[0].measures.size(), 1U);
  EXPECT_EQ(rows[0].measures[0].value, 2.5);
  EXPECT_EQ(rows[1].state, "done");
  EXPECT_EQ(rows[1].message, "");
  EXPECT_EQ(rows[1].history.size(), 1U) << "of what there was more before the rest is gone";
  EXPECT_EQ(rows[1].input_files.size(), 1U);
  EXPECT_EQ(second.rows().at(0).state, "computing");

  const auto runs = known_runs(url_, "fiberloom");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].folder, path("out"));
  EXPECT_EQ(runs[1].states.at("done"), 1U);
  EXPECT_EQ(known_tasks(url_, "fiberloom", path("other")).size(), 1U);
  EXPECT_EQ(known_tasks(url_, "fiberloom", runs[1].id.substr(0, 12), "a").at(0).history.size(), 2U);
  for (const auto& [name, task] : {std::pair{"nowhere", "a"}, {"", "a"}}) {
    EXPECT_EQ(loom::test::status_of(
                  [&, n = name, t = task] { (void)known_tasks(url_, "fiberloom", n, t); }),
              Status::kNotFound);
  }
  EXPECT_EQ(loom::test::status_of([&] { (void)known_tasks(url_, "fiberloom", path("out"), "z"); }),
            Status::kNotFound);
}

TEST_P(SharedLedgerTest, KnowsAMovedFolderAndRefusesANewerSchema) {
  SharedLedger(url_, run("out")).put({row("a", "done")});
  std::filesystem::rename(path("out"), path("moved"));
  SharedLedger(url_, run("moved")).put({row("b", "done")});
  ASSERT_EQ(known_runs(url_, "fiberloom").size(), 1U);
  EXPECT_EQ(known_tasks(url_, "fiberloom", path("moved")).size(), 2U);
  db::open(url_, {db::Access::kWrite})->execute("UPDATE fiberloom_state SET value = '99'");
  EXPECT_EQ(loom::test::status_of([&] { SharedLedger(url_, run("moved")); }), Status::kUnsupported);
  EXPECT_EQ(loom::test::status_of([&] { (void)known_runs(url_, "fiberloom"); }),
            Status::kUnsupported);
}

TEST_P(SharedLedgerTest, IsMadeAnewFromReceipts) {
  SharedLedger(url_, run("out")).put({row("gone", "done")});
  SharedLedger(url_, run("other")).put({row("stays", "done")});
  Receipt receipt;
  receipt.name = "a";
  receipt.output = {{"frame-a.fits", 100, 5}, 7};
  write_text_file(run("out").receipt("a"), to_json(receipt, run("out")));
  EXPECT_EQ(rebuild_ledger(run("out"), {}, url_), 1U);
  EXPECT_EQ(known_tasks(url_, "fiberloom", path("out")).at(0).name, "a");
  EXPECT_EQ(known_tasks(url_, "fiberloom", path("other")).at(0).name, "stays");
}

INSTANTIATE_TEST_SUITE_P(Kinds, SharedLedgerTest,
                         testing::Values(db::Kind::kSqlite, db::Kind::kPostgres));

using SharedLedgerFaults = ScratchFolder;

TEST_F(SharedLedgerFaults, AServerThatWasAwayIsToldLaterAndOneThatHangsIsGivenUp) {
  if (!db::available(db::Kind::kPostgres)) GTEST_SKIP() << "not in this build";
  if (loom::test::PostgresServer::programs().empty()) GTEST_SKIP() << "no PostgreSQL server here";
  loom::test::PostgresServer own;
  ASSERT_TRUE(own.works());
  const std::string url = own.make("state");
  const RunFolder folder(path("out"), {"fiberloom", "1"});
  EXPECT_EQ(loom::test::status_of([&] { SharedLedger(own.url("no_such"), folder); }),
            Status::kNotFound);
  own.stop();
  LedgerRow row;
  row.name = "a";
  row.state = "done";
  SharedLedger ledger(url, folder, {.wait_s = 1, .answer_s = 1});  // no error
  EXPECT_EQ(loom::test::status_of([&] { ledger.put({row}); }), Status::kUnwritable);
  ASSERT_TRUE(own.start());
  ledger.put({row});
  own.stop();
  EXPECT_EQ(loom::test::status_of([&] { ledger.put({row}); }), Status::kUnwritable);
  ASSERT_TRUE(own.start());
  row.name = "b";
  ledger.put({row});
  EXPECT_EQ(ledger.rows().size(), 2U);

  // somebody else holds the table, and no lock_timeout ends it: the connection is cut
  const auto other = db::open(url, {db::Access::kWrite});
  other->begin();
  other->execute("LOCK TABLE fiberloom_task IN ACCESS EXCLUSIVE MODE");
  SharedLedger patient(url, folder, {.wait_s = 600, .answer_s = 1});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(loom::test::status_of([&] { patient.put({row}); }), Status::kUnwritable);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  other->rollback();
  patient.put({row});
  EXPECT_EQ(patient.rows().size(), 2U);
}

}  // namespace
}  // namespace loom::batch
