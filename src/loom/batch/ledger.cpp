// SPDX-License-Identifier: BSD-3-Clause
// The ledger on SQLite. The only user of sqlite3.h.
#include "loom/batch/ledger.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/page/page.hpp"

namespace loom::batch {
namespace {

constexpr int kWaitMs = 500;  // for a reader's lock; a run never waits longer for its ledger

// A rollback journal, not a write-ahead log: that needs shared memory, which network file systems
// have not.
constexpr const char* kPragmas = "PRAGMA journal_mode=DELETE; PRAGMA synchronous=NORMAL;";

/// A column, its type in SQL, and whether the table had it from its beginning.
struct Column {
  std::string name, type;
  bool at_first = true;
};

std::vector<Column> columns_of(const LedgerShape& shape) {
  std::vector<Column> columns = {{"name", "TEXT PRIMARY KEY"}};
  for (const auto& [name, type] : shape.labels) {
    columns.push_back({name, type == LedgerShape::LabelColumn::Type::kText ? "TEXT" : "INTEGER"});
  }
  for (const auto& [name, type] : {std::pair{"state", "TEXT"},
                                   {"message", "TEXT"},
                                   {"exit_code", "INTEGER"},
                                   {"attempts", "INTEGER"},
                                   {"output", "TEXT"},
                                   {"size", "INTEGER"},
                                   {"crc32", "INTEGER"}}) {
    columns.push_back({name, type});
  }
  for (const std::string& input : shape.inputs) columns.push_back({input, "TEXT"});
  for (const auto& [name, type] : {std::pair{"version", "TEXT"},
                                   {"options", "TEXT"},
                                   {"read_s", "REAL"},
                                   {"compute_s", "REAL"},
                                   {"write_s", "REAL"},
                                   {"read_cpu_s", "REAL"},
                                   {"compute_cpu_s", "REAL"},
                                   {"write_cpu_s", "REAL"}}) {
    columns.push_back({name, type});
  }
  for (const std::string& measure : shape.measures) columns.push_back({measure, "REAL", false});
  columns.push_back({"report", "TEXT", false});
  return columns;
}

std::string joined(const std::vector<Column>& columns, const char* between,
                   std::string (*text)(const Column&)) {
  std::string all;
  for (const Column& column : columns) all += (all.empty() ? "" : between) + text(column);
  return all;
}

std::string name_of(const Column& column) { return column.name; }

class SqliteLedger final : public Ledger {
 public:
  SqliteLedger(const std::string& path, const LedgerShape& shape)
      : path_(path), shape_(shape), columns_(columns_of(shape)) {
    const int code =
        sqlite3_open_v2(path.c_str(), &db_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    try {
      if (code != SQLITE_OK) fail();
      sqlite3_busy_timeout(db_, kWaitMs);
      make_table();
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
      if (sqlite3_prepare_v2(db_, put_text().c_str(), -1, &statement, nullptr) != SQLITE_OK) fail();
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
    if (sqlite3_prepare_v2(db_, get_text().c_str(), -1, &statement, nullptr) != SQLITE_OK) fail();
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owner(statement, sqlite3_finalize);
    std::vector<LedgerRow> rows;
    int code = 0;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) rows.push_back(row_of(statement));
    if (code != SQLITE_DONE) fail();
    return rows;
  }

 private:
  void make_table() const {
    std::vector<Column> first;
    std::copy_if(columns_.begin(), columns_.end(), std::back_inserter(first),
                 [](const Column& column) { return column.at_first; });
    const auto declared = [](const Column& column) { return column.name + " " + column.type; };
    execute(kPragmas);
    execute("CREATE TABLE IF NOT EXISTS " + shape_.table + "(" + joined(first, ", ", declared) +
            ") WITHOUT ROWID;");
    for (const Column& column : columns_) {
      const std::string probe = "SELECT " + column.name + " FROM " + shape_.table + " LIMIT 0";
      if (sqlite3_exec(db_, probe.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) continue;
      execute("ALTER TABLE " + shape_.table + " ADD COLUMN " + column.name + " " + column.type);
    }
  }
  [[nodiscard]] std::string put_text() const {
    const auto hole = [](const Column&) { return std::string("?"); };
    return "INSERT OR REPLACE INTO " + shape_.table + "(" + joined(columns_, ",", name_of) +
           ") VALUES(" + joined(columns_, ",", hole) + ")";
  }
  [[nodiscard]] std::string get_text() const {
    return "SELECT " + joined(columns_, ",", name_of) + " FROM " + shape_.table + " ORDER BY name";
  }
  [[noreturn]] void fail() const {
    const int code = sqlite3_errcode(db_);
    const bool corrupt = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_ERROR;
    throw Error(corrupt ? Status::kCorrupt : Status::kUnwritable,
                path_ + ": the ledger cannot be used: " + sqlite3_errmsg(db_));
  }
  void execute(const std::string& sql) const {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  void bind(sqlite3_stmt* s, const LedgerRow& r) const {
    int column = 0;
    const auto text = [&](const std::string& bytes) {
      const std::string value = page::to_utf8(bytes);
      sqlite3_bind_text(s, ++column, value.data(), static_cast<int>(value.size()),
                        SQLITE_TRANSIENT);
    };
    const auto integer = [&](std::int64_t value) { sqlite3_bind_int64(s, ++column, value); };
    const auto number = [&](double value) { sqlite3_bind_double(s, ++column, value); };
    text(r.name);
    for (const auto& [name, type] : shape_.labels) {
      const Label* const label = find_label(r.labels, name);
      if (label == nullptr) {
        sqlite3_bind_null(s, ++column);
      } else if (const long* const value = std::get_if<long>(&label->value)) {
        integer(*value);
      } else {
        text(std::get<std::string>(label->value));
      }
    }
    text(r.state), text(r.message), integer(r.exit_code), integer(r.attempts), text(r.output);
    integer(static_cast<std::int64_t>(r.size)), integer(r.crc32);
    for (std::size_t i = 0; i < shape_.inputs.size(); ++i) {
      text(i < r.inputs.size() ? r.inputs[i] : std::string());
    }
    text(r.version), text(r.options);
    number(r.read.wall_s), number(r.compute.wall_s), number(r.write.wall_s);
    number(r.read.cpu_s), number(r.compute.cpu_s), number(r.write.cpu_s);
    for (const std::string& name : shape_.measures) {
      const auto found = std::find_if(r.measures.begin(), r.measures.end(),
                                      [&](const Measure& m) { return m.name == name; });
      if (found != r.measures.end()) {
        number(found->value);
      } else {
        sqlite3_bind_null(s, ++column);
      }
    }
    text(r.page);
  }

  [[nodiscard]] LedgerRow row_of(sqlite3_stmt* s) const {
    int column = 0;
    const auto null = [&] { return sqlite3_column_type(s, column) == SQLITE_NULL; };
    const auto text = [&] {
      const auto* value = reinterpret_cast<const char*>(sqlite3_column_text(s, column++));
      return std::string(value == nullptr ? "" : value);
    };
    const auto integer = [&] { return sqlite3_column_int64(s, column++); };
    const auto number = [&] { return sqlite3_column_double(s, column++); };
    LedgerRow r;
    r.name = text();
    for (const auto& [name, type] : shape_.labels) {
      if (null()) {
        ++column;
      } else if (type == LedgerShape::LabelColumn::Type::kInteger) {
        r.labels.push_back({name, static_cast<long>(integer())});
      } else {
        r.labels.push_back({name, text()});
      }
    }
    r.state = text();
    r.message = text();
    r.exit_code = static_cast<int>(integer());
    r.attempts = static_cast<int>(integer());
    r.output = text();
    r.size = static_cast<std::uint64_t>(integer());
    r.crc32 = static_cast<std::uint32_t>(integer());
    for (std::size_t i = 0; i < shape_.inputs.size(); ++i) r.inputs.push_back(text());
    r.version = text();
    r.options = text();
    r.read.wall_s = number();
    r.compute.wall_s = number();
    r.write.wall_s = number();
    r.read.cpu_s = number();
    r.compute.cpu_s = number();
    r.write.cpu_s = number();
    for (const std::string& name : shape_.measures) {
      if (null()) {
        ++column;
      } else {
        r.measures.push_back({name, number()});
      }
    }
    r.page = text();
    return r;
  }

  std::string path_;
  LedgerShape shape_;
  std::vector<Column> columns_;
  sqlite3* db_ = nullptr;
};

}  // namespace

std::unique_ptr<Ledger> Ledger::open(const std::string& path, const LedgerShape& shape) {
  return std::make_unique<SqliteLedger>(path, shape);
}

}  // namespace loom::batch
