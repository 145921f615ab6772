// SPDX-License-Identifier: BSD-3-Clause
// The ledger on SQLite. The only user of sqlite3.h.
#include "fiberloom/recipes/night/ledger.hpp"

#include <sqlite3.h>

#include <utility>

#include "loom/base/error.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::night {
namespace {

constexpr int kWaitMs = 500;  // for a reader's lock; a run never waits longer for its ledger

// A rollback journal, not a write-ahead log: that needs shared memory, which network file systems
// have not.
constexpr const char* kSchema =
    "PRAGMA journal_mode=DELETE; PRAGMA synchronous=NORMAL;"
    "CREATE TABLE IF NOT EXISTS frames(name TEXT PRIMARY KEY, night TEXT, expid INTEGER,"
    " camera TEXT, state TEXT, message TEXT, exit_code INTEGER, attempts INTEGER, output TEXT,"
    " size INTEGER, crc32 INTEGER, image TEXT, psf TEXT, version TEXT, options TEXT,"
    " read_s REAL, compute_s REAL, write_s REAL, read_cpu_s REAL, compute_cpu_s REAL,"
    " write_cpu_s REAL) WITHOUT ROWID;";
/// Columns that came later, behind those of the table as it was first.
constexpr std::pair<const char*, const char*> kAdded[] = {{"snr", "REAL"},
                                                          {"chi2", "REAL"},
                                                          {"flagged", "REAL"},
                                                          {"resolution", "REAL"},
                                                          {"report", "TEXT"}};
constexpr const char* kPut =
    "INSERT OR REPLACE INTO frames"
    " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";
constexpr const char* kGet = "SELECT * FROM frames ORDER BY name";

class SqliteLedger final : public Ledger {
 public:
  explicit SqliteLedger(const std::string& path) : path_(path) {
    const int code =
        sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    try {
      if (code != SQLITE_OK) fail();
      sqlite3_busy_timeout(db_, kWaitMs);
      execute(kSchema);
      add_columns();
    } catch (...) {
      sqlite3_close(db_);
      throw;
    }
  }
  SqliteLedger(const SqliteLedger&) = delete;
  SqliteLedger& operator=(const SqliteLedger&) = delete;
  ~SqliteLedger() override { sqlite3_close(db_); }

  void put(const std::vector<LedgerRow>& rows) override {
    execute("BEGIN IMMEDIATE");
    try {
      sqlite3_stmt* statement = nullptr;
      if (sqlite3_prepare_v2(db_, kPut, -1, &statement, nullptr) != SQLITE_OK) fail();
      const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement,
                                                                        sqlite3_finalize);
      for (const LedgerRow& row : rows) {
        bind(statement, row);
        if (sqlite3_step(statement) != SQLITE_DONE) fail();
        sqlite3_reset(statement);
      }
      execute("COMMIT");
    } catch (const Error&) {
      sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  std::vector<LedgerRow> rows() override {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db_, kGet, -1, &statement, nullptr) != SQLITE_OK) fail();
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
    std::vector<LedgerRow> rows;
    int code = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) rows.push_back(row_of(statement));
    if (code != SQLITE_DONE) fail();
    return rows;
  }

 private:
  void add_columns() const {
    for (const auto& [name, type] : kAdded) {
      const std::string probe = std::string("SELECT ") + name + " FROM frames LIMIT 0";
      if (sqlite3_exec(db_, probe.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) continue;
      execute((std::string("ALTER TABLE frames ADD COLUMN ") + name + " " + type).c_str());
    }
  }
  [[noreturn]] void fail() const {
    const int code = sqlite3_errcode(db_);
    const bool corrupt = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    throw Error(corrupt ? Status::kCorrupt : Status::kUnwritable,
                path_ + ": the ledger cannot be used: " + sqlite3_errmsg(db_));
  }
  void execute(const char* sql) const {
    if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  static void bind(sqlite3_stmt* s, const LedgerRow& r) {
    int column = 0;
    const auto text = [&](const std::string& bytes) {
      const std::string value = page::to_utf8(bytes);
      sqlite3_bind_text(s, ++column, value.data(), static_cast<int>(value.size()),
                        SQLITE_TRANSIENT);
    };
    const auto integer = [&](std::int64_t value) { sqlite3_bind_int64(s, ++column, value); };
    const auto number = [&](double value) { sqlite3_bind_double(s, ++column, value); };
    text(r.name), text(r.night), integer(r.expid), text(r.camera), text(r.state), text(r.message);
    integer(r.exit_code), integer(r.attempts), text(r.output);
    integer(static_cast<std::int64_t>(r.size)), integer(r.crc32), text(r.image), text(r.psf);
    text(r.version), text(r.options);
    number(r.read.wall_s), number(r.compute.wall_s), number(r.write.wall_s);
    number(r.read.cpu_s), number(r.compute.cpu_s), number(r.write.cpu_s);
    for (std::size_t m = 0; m < kMetrics; ++m) {
      if (r.quality) {
        number(metric_value(*r.quality, m));
      } else {
        sqlite3_bind_null(s, ++column);
      }
    }
    text(r.report);
  }

  static LedgerRow row_of(sqlite3_stmt* s) {
    int column = 0;
    const auto text = [&] {
      const auto* value = reinterpret_cast<const char*>(sqlite3_column_text(s, column++));
      return std::string(value == nullptr ? "" : value);
    };
    const auto integer = [&] { return sqlite3_column_int64(s, column++); };
    const auto number = [&] { return sqlite3_column_double(s, column++); };
    LedgerRow r;
    r.name = text();
    r.night = text();
    r.expid = static_cast<long>(integer());
    r.camera = text();
    r.state = text();
    r.message = text();
    r.exit_code = static_cast<int>(integer());
    r.attempts = static_cast<int>(integer());
    r.output = text();
    r.size = static_cast<std::uint64_t>(integer());
    r.crc32 = static_cast<std::uint32_t>(integer());
    r.image = text();
    r.psf = text();
    r.version = text();
    r.options = text();
    r.read.wall_s = number();
    r.compute.wall_s = number();
    r.write.wall_s = number();
    r.read.cpu_s = number();
    r.compute.cpu_s = number();
    r.write.cpu_s = number();
    const bool known = sqlite3_column_type(s, column) != SQLITE_NULL;
    const FrameQuality quality{number(), number(), number(), number()};
    if (known) r.quality = quality;
    r.report = text();
    return r;
  }

  std::string path_;
  sqlite3* db_ = nullptr;
};

}  // namespace

std::unique_ptr<Ledger> Ledger::open(const std::string& path) {
  return std::make_unique<SqliteLedger>(path);
}

}  // namespace fiberloom::night
