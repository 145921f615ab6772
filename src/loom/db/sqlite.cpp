// SPDX-License-Identifier: BSD-3-Clause
// SQLite: one file. A write-ahead log, so that readers and the writer do not wait for each other.
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "loom/db/backends.hpp"

namespace loom::db {
namespace {

using Clock = std::chrono::steady_clock;

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

/// What a reader's text may do: look at tables. (VACUUM INTO, ATTACH and PRAGMA could write even on
/// a connection that is read-only.)
int only_look(void*, int action, const char*, const char* name, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(name) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

/// When a running query has to end.
struct Deadline {
  const Query* query = nullptr;
  Clock::time_point end;
  bool late = false, stopped = false;

  static int poll(void* self_pointer) {
    auto& self = *static_cast<Deadline*>(self_pointer);
    self.late = self.query->seconds > 0 && Clock::now() > self.end;
    self.stopped = self.query->stop && self.query->stop();
    return self.late || self.stopped ? 1 : 0;
  }
};

/// Of a type as a table has it; null: of no table.
Declared declared(const char* type) {
  const std::string_view text(type == nullptr ? "" : type);
  if (text.find("INT") != std::string_view::npos) return Declared::kInteger;
  if (text.find("DOUBLE") != std::string_view::npos) return Declared::kNumber;
  return text == "TEXT" ? Declared::kText : Declared::kNothing;
}

/// Nothing is read of a file before something is asked.
constexpr const char* kProbe = "SELECT count(*) FROM sqlite_master";
constexpr int kStepsBetweenPolls = 20000;  // of SQLite's machine: about a millisecond

std::string url_of_file(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    const bool plain = std::string_view("?#%").find(c) == std::string_view::npos;
    constexpr const char* kHex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += plain ? std::string(1, c) : std::string{'%', kHex[byte / 16], kHex[byte % 16]};
  }
  return out + "?immutable=1";
}

class Sqlite final : public Connection {
 public:
  Sqlite(const std::string& path, const OpenOptions& options)
      : path_(path), access_(options.access), wait_ms_(static_cast<int>(options.wait_s * 1000)) {
    try {
      connect();
    } catch (...) {
      sqlite3_close(db_);
      throw;
    }
  }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;
  ~Sqlite() override { sqlite3_close(db_); }

  [[nodiscard]] Kind kind() const noexcept override { return Kind::kSqlite; }
  [[nodiscard]] const std::string& name() const noexcept override { return path_; }

  void execute(const std::string& sql) override {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  std::int64_t run(const std::string& sql, std::span<const Value> values) override {
    const Statement statement = prepare(sql);
    bind_all(statement.get(), values);
    step_through(statement.get());
    return sqlite3_changes64(db_);
  }

  void read(const Query& query, const RowTaker& taker) override {
    const Statement statement = prepare(query.sql);
    bind_all(statement.get(), query.values);
    const int n = sqlite3_column_count(statement.get());
    if (taker.columns) {
      std::vector<std::string> names;
      for (int i = 0; i < n; ++i) names.emplace_back(sqlite3_column_name(statement.get(), i));
      taker.columns(names);
    }
    if (taker.types) {
      std::vector<Declared> types;
      for (int i = 0; i < n; ++i) {
        types.push_back(declared(sqlite3_column_decltype(statement.get(), i)));
      }
      taker.types(types);
    }
    Deadline deadline{&query, Clock::now() + std::chrono::microseconds(
                                                 static_cast<std::int64_t>(query.seconds * 1e6))};
    if (query.seconds > 0 || query.stop) {
      sqlite3_progress_handler(db_, kStepsBetweenPolls, Deadline::poll, &deadline);
    }
    std::vector<Value> row(static_cast<std::size_t>(n));
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
      for (int i = 0; i < n; ++i) row[static_cast<std::size_t>(i)] = value(statement.get(), i);
      if (taker.row && !taker.row(row)) break;
    }
    sqlite3_progress_handler(db_, 0, nullptr, nullptr);
    require_unchanged();
    if (deadline.stopped) throw Error(Status::kInterrupted, path_ + ": the query was interrupted");
    if (deadline.late) {
      throw Fault(Trouble::kTooLong, Status::kUsage, path_ + ": the query takes too long");
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
  }

  void append(const std::string& table, std::span<const std::string> columns, std::size_t rows,
              const RowMaker& make) override {
    put_rows(insert_text(table, columns), columns.size(), rows, make);
  }
  void merge(const std::string& table, std::span<const std::string> columns, std::size_t keys,
             std::size_t rows, const RowMaker& make) override {
    put_rows(insert_text(table, columns) + on_conflict(table, columns, keys), columns.size(), rows,
             make);
  }

  void begin() override {
    keep_log();
    execute("BEGIN IMMEDIATE");
  }
  void commit() override { execute("COMMIT"); }
  void rollback() noexcept override {
    if (sqlite3_get_autocommit(db_) == 0) {
      sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    }
  }

 private:
  void connect() {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored)) {  // which SQLite takes for a faulty disk
      throw Fault(Trouble::kNoDatabase, Status::kCorrupt, path_ + ": is a folder, no database");
    }
    if (access_ == Access::kWrite) {
      open_file(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
      execute(std::string("PRAGMA cache_size=-262144; ") + kProbe);
      return;
    }
    // Asked of the file system, since SQLite says the same of all that it cannot open.
    if (!std::filesystem::exists(path_, ignored)) {
      throw Fault(Trouble::kNoDatabase, Status::kNotFound, path_ + ": no such file");
    }
    open_file(path_, SQLITE_OPEN_READONLY);
    int code = sqlite3_exec(db_, kProbe, nullptr, nullptr, nullptr);
    // A log needs a file beside the database. Where none can be made and none is there, nobody is
    // writing; whether somebody has begun to is looked at after each query.
    const bool no_place = (code & 0xff) == SQLITE_CANTOPEN || code == SQLITE_READONLY_DIRECTORY;
    if (no_place && is_written()) {
      throw Fault(Trouble::kNoDatabase, Status::kNotFound,
                  path_ + ": its log (" + path_ +
                      "-wal) is read in a folder alone that may be "
                      "written in");
    }
    if (no_place) {
      sqlite3_close(db_);
      db_ = nullptr;
      as_opened_ = stand();
      open_file(url_of_file(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
      code = sqlite3_exec(db_, kProbe, nullptr, nullptr, nullptr);
    }
    if (code != SQLITE_OK) fail();
    execute("PRAGMA query_only=ON; PRAGMA cache_size=-65536");
    sqlite3_set_authorizer(db_, only_look, nullptr);
    sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, 1 << 28);  // no text of a gigabyte made by a query
  }
  /// Is there anything in the database's log?
  [[nodiscard]] bool is_written() const {
    std::error_code none;
    const auto log = std::filesystem::file_size(path_ + "-wal", none);
    return !none && log > 0;
  }
  using Stand = std::pair<std::uintmax_t, std::filesystem::file_time_type>;
  [[nodiscard]] Stand stand() const {
    std::error_code ignored;
    return {std::filesystem::file_size(path_, ignored),
            std::filesystem::last_write_time(path_, ignored)};
  }
  /// Throws kBusy where a file that is read without its log has been written meanwhile.
  void require_unchanged() const {
    if (!as_opened_ || (*as_opened_ == stand() && !is_written())) return;
    throw Fault(Trouble::kBusy, Status::kUnwritable,
                path_ +
                    ": was written while it was read, and its folder has no room for a reader's "
                    "lock; ask again");
  }
  /// Not before something is written: the file remembers it, and it may be somebody else's, which
  /// whoever opened it sees by its tables.
  void keep_log() {
    if (std::exchange(keeps_log_, true)) return;
    // It is carried over every 128 MB: a load touches most pages of its indices again and again.
    execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=32768");
  }
  void open_file(const std::string& name, int flags) {
    flags |= SQLITE_OPEN_NOMUTEX;  // of one thread at a time
    if (sqlite3_open_v2(name.c_str(), &db_, flags, nullptr) != SQLITE_OK) fail();
    sqlite3_extended_result_codes(db_, 1);
    sqlite3_busy_timeout(db_, wait_ms_);
    // PostgreSQL's name for the order of bytes, so that one query asks both for the same order.
    const auto by_bytes = [](void*, int na, const void* a, int nb, const void* b) {
      const std::string_view x(static_cast<const char*>(a), static_cast<std::size_t>(na));
      return x.compare({static_cast<const char*>(b), static_cast<std::size_t>(nb)});
    };
    if (sqlite3_create_collation(db_, "C", SQLITE_UTF8, nullptr, by_bytes) != SQLITE_OK) fail();
  }

  [[noreturn]] void fail() const {
    if (db_ == nullptr) throw Error(Status::kMemory, path_ + ": no memory to open it");
    const int code = sqlite3_errcode(db_) & 0xff;
    const std::string text = path_ + ": " + sqlite3_errmsg(db_);
    switch (code) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
      case SQLITE_PROTOCOL:
        throw Fault(Trouble::kBusy, Status::kUnwritable, text);
      case SQLITE_NOTADB:
      case SQLITE_CORRUPT:
        throw Fault(Trouble::kNoDatabase, Status::kCorrupt, text);
      case SQLITE_CANTOPEN:
        throw Fault(access_ == Access::kRead ? Trouble::kNoDatabase : Trouble::kUnwritable,
                    access_ == Access::kRead ? Status::kNotFound : Status::kUnwritable, text);
      case SQLITE_FULL:
        throw Fault(Trouble::kUnwritable, Status::kDiskFull, text);
      case SQLITE_CONSTRAINT:
        throw Fault(Trouble::kConstraint, Status::kCorrupt, text);
      case SQLITE_NOMEM:
        throw Error(Status::kMemory, text);
      case SQLITE_IOERR:
      case SQLITE_PERM:
        throw Fault(Trouble::kUnwritable, Status::kUnwritable, text);
      case SQLITE_READONLY:
        if (access_ == Access::kWrite) {
          throw Fault(Trouble::kUnwritable, Status::kUnwritable, text);
        }
        [[fallthrough]];
      default:
        throw Fault(Trouble::kStatement, Status::kUsage, text);
    }
  }

  [[nodiscard]] Statement prepare(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    const char* rest = nullptr;
    if (sqlite3_prepare_v2(db_, sql.c_str(), static_cast<int>(sql.size() + 1), &statement, &rest) !=
        SQLITE_OK) {
      fail();
    }
    Statement out(statement);
    if (!out) throw Fault(Trouble::kStatement, Status::kUsage, path_ + ": no statement");
    sqlite3_stmt* more = nullptr;
    const int code = sqlite3_prepare_v2(db_, rest, -1, &more, nullptr);
    const Statement owner(more);
    if (code != SQLITE_OK || more != nullptr || sql.find('\0') != std::string::npos) {
      throw Fault(Trouble::kStatement, Status::kUsage, path_ + ": more than one statement");
    }
    return out;
  }

  void bind(sqlite3_stmt* statement, int at, const Value& value) const {
    int code = SQLITE_OK;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      code = sqlite3_bind_int64(statement, at, *integer);
    } else if (const auto* number = std::get_if<double>(&value)) {
      code = sqlite3_bind_double(statement, at, *number);  // NaN becomes NULL
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      code = sqlite3_bind_text64(statement, at, text->data(), text->size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
    } else {
      code = sqlite3_bind_null(statement, at);
    }
    if (code != SQLITE_OK) fail();
  }
  void bind_all(sqlite3_stmt* statement, std::span<const Value> values) const {
    if (const int wanted = sqlite3_bind_parameter_count(statement);
        wanted != static_cast<int>(values.size())) {
      throw Fault(Trouble::kStatement, Status::kUsage,
                  path_ + ": " + std::to_string(values.size()) + " values for " +
                      std::to_string(wanted) + " parameters");
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int at = sqlite3_bind_parameter_index(statement, ("$" + std::to_string(i + 1)).c_str());
      if (at == 0) {
        throw Fault(Trouble::kStatement, Status::kUsage,
                    path_ + ": no parameter $" + std::to_string(i + 1));
      }
      bind(statement, at, values[i]);
    }
  }
  void step_through(sqlite3_stmt* statement) const {
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    }
    if (code != SQLITE_DONE) fail();
  }

  void put_rows(const std::string& sql, std::size_t columns, std::size_t rows,
                const RowMaker& make) {
    keep_log();
    const Statement statement = prepare(sql);
    std::vector<Value> row(columns);
    for (std::size_t r = 0; r < rows; ++r) {
      make(r, row);
      for (std::size_t i = 0; i < columns; ++i) {
        bind(statement.get(), static_cast<int>(i + 1), row[i]);
      }
      step_through(statement.get());
      sqlite3_reset(statement.get());
    }
  }

  [[nodiscard]] static Value value(sqlite3_stmt* statement, int i) {
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_INTEGER:
        return std::int64_t{sqlite3_column_int64(statement, i)};
      case SQLITE_FLOAT:
        return sqlite3_column_double(statement, i);
      case SQLITE_NULL:
        return std::monostate{};
      default: {
        const void* const bytes = sqlite3_column_blob(statement, i);
        const auto n = static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
        return n == 0 ? std::string() : std::string(static_cast<const char*>(bytes), n);
      }
    }
  }

  std::string path_;
  Access access_;
  int wait_ms_;
  bool keeps_log_ = false;
  std::optional<Stand> as_opened_;  ///< of a file that is read as one that nobody writes
  sqlite3* db_ = nullptr;
};

}  // namespace

std::unique_ptr<Connection> open_sqlite(const std::string& path, const OpenOptions& options) {
  return std::make_unique<Sqlite>(path, options);
}

bool has_sqlite() noexcept { return true; }

}  // namespace loom::db
