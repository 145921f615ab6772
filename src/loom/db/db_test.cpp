// SPDX-License-Identifier: BSD-3-Clause
#include "loom/db/db.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "loom/base/letter_case.hpp"
#include "loom/testing/postgres_server.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::db {
namespace {

using Rows = std::vector<std::vector<Value>>;

Rows all(Connection& connection, const std::string& sql, std::vector<Value> values = {}) {
  Rows out;
  connection.read({.sql = sql, .values = std::move(values)},
                  {.columns = {}, .row = [&](std::span<const Value> row) {
                     out.emplace_back(row.begin(), row.end());
                     return true;
                   }});
  return out;
}

template <class Work>
Trouble trouble_of(const Work& work) {
  try {
    work();
  } catch (const Fault& fault) {
    EXPECT_EQ(std::string(fault.what()).find('\n'), std::string::npos);
    return fault.trouble();
  }
  ADD_FAILURE() << "nothing was thrown";
  return Trouble::kGone;
}

test::PostgresServer& server() {
  static test::PostgresServer one;
  return one;
}

/// The same tests on both.
class DbTest : public ScratchFolder, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = testing::TempDir() + "loom_db_" + std::to_string(::getpid());
    std::filesystem::create_directories(root_);
    if (!available(GetParam())) GTEST_SKIP() << "not in this build";
    if (GetParam() == Kind::kSqlite) {
      url_ = path("db.sqlite");
    } else {
      if (test::PostgresServer::programs().empty()) GTEST_SKIP() << "no PostgreSQL server here";
      ASSERT_TRUE(server().works());
      std::string name = loom::in_small_letters(test->name());
      std::ranges::replace(name, '/', '_');
      url_ = server().make(name);
    }
    writer_ = open(url_, {Access::kWrite, 5});
    writer_->execute("CREATE TABLE star(id BIGINT PRIMARY KEY, z DOUBLE PRECISION, name TEXT)");
  }
  void TearDown() override {
    writer_.reset();
    ScratchFolder::TearDown();
  }
  void add(std::int64_t first, std::size_t n) {
    writer_->append("star", kColumns, n, [&](std::size_t r, std::span<Value> out) {
      out[0] = first + static_cast<std::int64_t>(r);
      out[1] = 0.1 * static_cast<double>(r);
      out[2] = "star " + std::to_string(r);
    });
  }
  [[nodiscard]] std::int64_t count() {
    return std::get<std::int64_t>(first_row(*writer_, "SELECT count(*) FROM star").at(0));
  }

  const std::vector<std::string> kColumns{"id", "z", "name"};
  std::string url_;
  std::unique_ptr<Connection> writer_;
};

TEST_P(DbTest, GivesBackWhatWasPut) {
  const Rows rows{
      {std::numeric_limits<std::int64_t>::min(), 0.1, std::string("tab\tline\n\\N '\"")},
      {std::numeric_limits<std::int64_t>::max(), 5e-324, std::string()},
      {std::int64_t{7}, std::nan(""), std::monostate{}},
      {std::int64_t{8}, 1.7976931348623157e308, std::string("\xc3\xa9")}};
  writer_->append("star", kColumns, rows.size(), [&](std::size_t r, std::span<Value> out) {
    std::copy(rows[r].begin(), rows[r].end(), out.begin());
  });
  Rows expected{rows[0], rows[2], rows[3], rows[1]};
  expected[1][1] = std::monostate{};
  EXPECT_EQ(all(*writer_, "SELECT id, z, name FROM star ORDER BY id"), expected);
  EXPECT_EQ(
      all(*writer_, "SELECT name FROM star WHERE id = $1 AND z > $2", {std::int64_t{8}, 1e300}),
      (Rows{{std::string("\xc3\xa9")}}));
}

TEST_P(DbTest, NamesItsColumnsEvenWhereThereIsNoRow) {
  std::vector<std::string> names;
  std::vector<Declared> types;
  writer_->read({.sql = "SELECT id AS first, z, name FROM star"},
                {.columns = [&](auto given) { names.assign(given.begin(), given.end()); },
                 .row = {},
                 .types = [&](auto given) { types.assign(given.begin(), given.end()); }});
  EXPECT_EQ(names, (std::vector<std::string>{"first", "z", "name"}));
  EXPECT_EQ(types, (std::vector<Declared>{Declared::kInteger, Declared::kNumber, Declared::kText}));
}

TEST_P(DbTest, MergesByKeyAndKeepsWhatTheNewRowDoesNotSay) {
  add(0, 3);
  writer_->begin();
  writer_->merge("star", kColumns, 1, 2, [](std::size_t r, std::span<Value> out) {
    out[0] = std::int64_t{2} + static_cast<std::int64_t>(r);
    out[1] = std::monostate{};
    out[2] = std::string("new");
  });
  writer_->commit();
  EXPECT_EQ(all(*writer_, "SELECT id, z, name FROM star WHERE id > 1 ORDER BY id"),
            (Rows{{std::int64_t{2}, 0.2, std::string("new")},
                  {std::int64_t{3}, std::monostate{}, std::string("new")}}));
}

TEST_P(DbTest, LeavesNothingOfATransactionThatFailed) {
  add(0, 2);
  EXPECT_EQ(trouble_of([&] {
              in_transaction(*writer_, [&] {
                add(100, 5);
                add(0, 1);
              });
            }),
            Trouble::kConstraint);
  EXPECT_EQ(count(), 2);
  EXPECT_EQ(writer_->run("DELETE FROM star WHERE id < $1", std::vector<Value>{std::int64_t{10}}),
            2);
}

TEST_P(DbTest, AReaderCannotWriteWhateverItsTextSays) {
  add(0, 3);
  const auto reader = open(url_, {Access::kRead, 1});
  for (const char* sql :
       {"DELETE FROM star", "INSERT INTO star VALUES(9, 9, 'x')", "DROP TABLE star",
        "SELECT 1; DELETE FROM star", "CREATE TABLE other(x INTEGER)", "VACUUM INTO '/tmp/other'",
        "ATTACH 'other.sqlite' AS other", "PRAGMA query_only=OFF", "COPY star TO '/tmp/other'",
        "SET default_transaction_read_only = off", "BEGIN", "COMMIT; DELETE FROM star",
        "WITH gone AS (DELETE FROM star RETURNING id) SELECT * FROM gone", "", "-- nothing",
        "SELECT nextval('x')", "SELECT load_extension('x')"}) {
    EXPECT_EQ(trouble_of([&] { (void)all(*reader, sql); }), Trouble::kStatement) << sql;
  }
  if (GetParam() == Kind::kPostgres) {
    (void)all(*reader, "SELECT set_config('default_transaction_read_only', 'off', false)");
    EXPECT_EQ(trouble_of([&] { (void)all(*reader, "DELETE FROM star"); }), Trouble::kStatement);
    EXPECT_EQ(trouble_of([&] {
                (void)all(*reader, "SELECT set_config('transaction_read_only', 'off', false)");
              }),
              Trouble::kStatement);
  }
  EXPECT_EQ(count(), 3);
  EXPECT_EQ(all(*reader, "WITH w AS (SELECT id FROM star) SELECT max(id) FROM w"),
            (Rows{{std::int64_t{2}}}));
}

TEST_P(DbTest, SaysWhatIsWrongWithAStatement) {
  EXPECT_EQ(trouble_of([&] { (void)all(*writer_, "SELEC 1"); }), Trouble::kStatement);
  EXPECT_EQ(trouble_of([&] { (void)all(*writer_, "SELECT nothing FROM star"); }),
            Trouble::kStatement);
  EXPECT_EQ(trouble_of([&] { (void)all(*writer_, "SELECT id FROM star WHERE id = $1"); }),
            Trouble::kStatement);
}

TEST_P(DbTest, GivesUpAQueryThatTakesTooLong) {
  add(0, 2000);
  const auto reader = open(url_, {Access::kRead, 1});
  const std::string sql = "SELECT count(*) FROM star a, star b, star c WHERE a.z + b.z > c.z + 7";
  EXPECT_EQ(trouble_of([&] { reader->read({.sql = sql, .values = {}, .seconds = 0.05}, {}); }),
            Trouble::kTooLong);
  EXPECT_EQ(all(*reader, "SELECT 1"), (Rows{{std::int64_t{1}}})) << "the next query works";
}

TEST_P(DbTest, TwoWritersAndReadersAtOnceLoseNothing) {
  constexpr int kGroups = 40, kRows = 50;
  std::atomic<bool> done{false};
  std::atomic<int> odd{0}, faults{0}, looks{0};
  const auto write = [&](int which) {
    try {
      const auto own = open(url_, {Access::kWrite, 60});
      for (int g = 0; g < kGroups; ++g) {
        in_transaction(*own, [&] {
          own->append("star", kColumns, kRows, [&](std::size_t r, std::span<Value> out) {
            out[0] = std::int64_t{which} * 1000000 + g * kRows + static_cast<std::int64_t>(r);
            out[1] = 0.5;
            out[2] = std::string("x");
          });
        });
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      ++faults;
    }
  };
  const auto look = [&] {
    try {
      const auto own = open(url_, {Access::kRead, 60});
      while (!done) {
        const auto n = std::get<std::int64_t>(first_row(*own, "SELECT count(*) FROM star").at(0));
        odd += n % kRows != 0;
        ++looks;
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      ++faults;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 10; ++i) readers.emplace_back(look);
  std::thread first(write, 1), second(write, 2);
  first.join(), second.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(count(), 2 * kGroups * kRows);
  EXPECT_EQ(odd, 0) << "nobody sees half a group";
  EXPECT_EQ(faults, 0);
  EXPECT_GT(looks, 10);
}

INSTANTIATE_TEST_SUITE_P(Each, DbTest, testing::Values(Kind::kSqlite, Kind::kPostgres),
                         [](const auto& which) {
                           return which.param == Kind::kSqlite ? "Sqlite" : "Postgres";
                         });

class SqliteTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    if (!available(Kind::kSqlite)) GTEST_SKIP() << "not in this build";
  }
};

TEST_F(SqliteTest, ALockThatStaysIsSaidToBeOne) {
  const auto first = open(path("db"), {Access::kWrite, 0.05});
  const auto second = open(path("db"), {Access::kWrite, 0.05});
  first->begin();
  EXPECT_EQ(trouble_of([&] { second->begin(); }), Trouble::kBusy);
  first->rollback();
}

TEST_F(SqliteTest, AFileThatIsNoneIsRefusedAndStays) {
  put("text", std::string(5000, 'x'));
  EXPECT_EQ(trouble_of([&] {
              (void)open(path("text"), {Access::kWrite, 0.05});
            }),
            Trouble::kNoDatabase);
  EXPECT_EQ(trouble_of([&] {
              (void)open(path("text"), {Access::kRead, 0.05});
            }),
            Trouble::kNoDatabase);
  EXPECT_EQ(trouble_of([&] {
              (void)open(path("none"), {Access::kRead, 0.05});
            }),
            Trouble::kNoDatabase);
  EXPECT_FALSE(there("none"));
  for (const Access access : {Access::kRead, Access::kWrite}) {
    EXPECT_EQ(trouble_of([&] { (void)open(root_, {access, 0.05}); }), Trouble::kNoDatabase);
  }
  EXPECT_EQ(trouble_of([&] {
              (void)open(path("no/folder"), {Access::kWrite, 0.05});
            }),
            Trouble::kUnwritable);
}

TEST_F(SqliteTest, AFileThatIsOpenedToWriteStaysAsItIsUntilSomethingIsWritten) {
  {
    const auto first = open(path("db"), {Access::kWrite, 1});
    first->execute("CREATE TABLE star(id BIGINT)");
  }
  const auto bytes = [&] {
    std::ifstream file(path("db"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = bytes();
  EXPECT_EQ(before.at(18), 1) << "SQLite's own note of a write-ahead log is 2";
  {
    const auto second = open(path("db"), {Access::kWrite, 1});
    EXPECT_EQ(all(*second, "SELECT name FROM sqlite_master"), (Rows{{std::string("star")}}));
  }
  EXPECT_EQ(bytes(), before);
}

/// In a place to which everybody has a way: to a checkout of root's there may be none.
class PublicSqliteTest : public SqliteTest {
 protected:
  void SetUp() override {
    SqliteTest::SetUp();
    TearDown();
    root_ = std::filesystem::temp_directory_path() / ("loom_db_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(root_);
  }
};

/// Nobody's rights, where root has all.
class Nobody {
 public:
  Nobody() : was_(::geteuid()) { EXPECT_EQ(::seteuid(was_ == 0 ? 65534 : was_), 0); }
  ~Nobody() { EXPECT_EQ(::seteuid(was_), 0); }

 private:
  uid_t was_;
};

TEST_F(PublicSqliteTest, AFolderThatCannotBeWrittenInHasAnswersAndSaysWhenTheyAreOfTwoTimes) {
  const auto add = [&](std::int64_t id) {
    const auto writer = open(path("db"), {Access::kWrite, 1});
    in_transaction(*writer, [&] {
      writer->execute("CREATE TABLE IF NOT EXISTS star(id BIGINT)");
      writer->run("INSERT INTO star VALUES($1)", std::vector<Value>{id});
    });
  };
  const auto lock = [&](bool locked) {
    const auto rights = std::filesystem::perms(locked ? 0555 : 0755);
    std::filesystem::permissions(root_, rights);
  };
  const auto look = [](Connection& reader) { return all(reader, "SELECT id FROM star"); };
  add(1);
  lock(true);
  std::unique_ptr<Connection> reader;
  {
    const Nobody nobody;
    reader = open(path("db"), {Access::kRead, 1});
    EXPECT_EQ(look(*reader), (Rows{{std::int64_t{1}}}));
  }
  lock(false);
  add(2);
  lock(true);
  EXPECT_EQ(trouble_of([&] { (void)look(*reader); }), Trouble::kBusy);
  {
    const Nobody nobody;
    EXPECT_EQ(look(*open(path("db"), {Access::kRead, 1})).size(), 2U);
  }
  lock(false);
}

TEST(Postgres, AServerThatIsNotThereOrWentAwayIsSaidToBeGone) {
  if (!available(Kind::kPostgres)) GTEST_SKIP() << "not in this build";
  EXPECT_EQ(trouble_of([] { (void)open("postgresql:///x?host=/nowhere", {}); }), Trouble::kGone);
  if (test::PostgresServer::programs().empty()) GTEST_SKIP() << "no PostgreSQL server here";
  test::PostgresServer own;
  ASSERT_TRUE(own.works());
  const auto reader = open(own.url("postgres"), {});
  EXPECT_EQ(trouble_of([&] { (void)open(own.url("no_such"), {}); }), Trouble::kNoDatabase);
  own.stop();
  EXPECT_EQ(trouble_of([&] { (void)first_row(*reader, "SELECT 1"); }), Trouble::kGone);
  ASSERT_TRUE(own.start());
  EXPECT_EQ(first_row(*open(own.url("postgres"), {}), "SELECT 1").size(), 1U);
}

TEST(Urls, AreToldApartAndShownWithoutPasswords) {
  EXPECT_EQ(kind_of("postgres://x"), Kind::kPostgres);
  EXPECT_EQ(kind_of("catalogue.sqlite"), Kind::kSqlite);
  EXPECT_EQ(sqlite_path("sqlite:///a/b"), "a/b");
  EXPECT_EQ(sqlite_path("sqlite:////a/b"), "/a/b");
  EXPECT_EQ(without_password("postgresql://me:secret@host/db"), "postgresql://me@host/db");
  EXPECT_EQ(without_password("postgresql:///db?password=secret&host=x"),
            "postgresql:///db?password=...&host=x");
  EXPECT_EQ(quoted("a\"b"), "\"a\"\"b\"");
}

}  // namespace
}  // namespace loom::db
