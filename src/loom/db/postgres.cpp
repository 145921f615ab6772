// SPDX-License-Identifier: BSD-3-Clause
// PostgreSQL: a server. Rows go in by COPY and come out by a cursor, some thousand at a time.
#include <libpq-fe.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "loom/db/backends.hpp"
#include "loom/db/postgres_text.hpp"

namespace loom::db {
namespace {

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, Clear>;

constexpr int kRowsAtOnce = 5000;
constexpr std::size_t kCopyBytes = 1 << 16;
/// Whoever loads holds this lock of the database: of two that merge the same rows in another order
/// each would wait for the other. ("fiberloom" has no meaning to the server: any number does.)
constexpr const char* kLock = "SELECT pg_advisory_xact_lock(7202691)";

/// Texts and pointers of parameters.
struct Parameters {
  explicit Parameters(std::span<const Value> values) {
    for (const Value& value : values) texts.push_back(to_postgres(value));
    for (const auto& text : texts) pointers.push_back(text ? text->c_str() : nullptr);
  }
  std::vector<std::optional<std::string>> texts;
  std::vector<const char*> pointers;
};

class Postgres final : public Connection {
 public:
  Postgres(const std::string& url, const OpenOptions& options)
      : name_(without_password(url)), access_(options.access), wait_s_(options.wait_s) {
    const std::string wait = std::to_string(std::max(1, static_cast<int>(std::ceil(wait_s_))));
    const char* const keys[] = {"dbname", "connect_timeout", "application_name", "client_encoding",
                                nullptr};
    const char* const values[] = {url.c_str(), wait.c_str(), "loom", "UTF8", nullptr};
    connection_ = PQconnectdbParams(keys, values, 1);
    try {
      if (PQstatus(connection_) != CONNECTION_OK) gone();
      PQsetNoticeProcessor(
          connection_, [](void*, const char*) {}, nullptr);
      execute("SET lock_timeout = " + std::to_string(static_cast<int>(wait_s_ * 1000)) +
              "; SET extra_float_digits = 1; SET DateStyle = ISO" +
              (access_ == Access::kRead ? "; SET default_transaction_read_only = on" : ""));
    } catch (...) {
      PQfinish(connection_);
      throw;
    }
  }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;
  ~Postgres() override { PQfinish(connection_); }

  [[nodiscard]] Kind kind() const noexcept override { return Kind::kPostgres; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }

  void execute(const std::string& sql) override { check(PQexec(connection_, sql.c_str())); }

  std::int64_t run(const std::string& sql, std::span<const Value> values) override {
    const Result result = send(sql, values);
    const std::string changed = PQcmdTuples(result.get());
    return changed.empty() ? 0 : std::stoll(changed);
  }

  /// By a cursor, which takes a SELECT or VALUES alone; of a reader inside a transaction that has
  /// looked at something already: no text can make that one write any more.
  void read(const Query& query, const RowTaker& taker) override {
    const bool own = PQtransactionStatus(connection_) == PQTRANS_IDLE;
    if (own) execute(access_ == Access::kRead ? "BEGIN READ ONLY" : "BEGIN");
    try {
      if (access_ == Access::kRead) execute("SELECT 1");
      if (query.seconds > 0) {
        execute("SET LOCAL statement_timeout = " +
                std::to_string(std::max(1, static_cast<int>(query.seconds * 1000))));
      }
      send("DECLARE rows_wanted NO SCROLL CURSOR FOR " + query.sql, query.values);
      fetch_all(query, taker);
      execute("CLOSE rows_wanted");
    } catch (...) {
      if (own) rollback();
      throw;
    }
    if (own) execute("ROLLBACK");  // a query leaves nothing, no setting either
  }

  void append(const std::string& table, std::span<const std::string> columns, std::size_t rows,
              const RowMaker& make) override {
    if (rows == 0) return;
    const Result begun(PQexec(
        connection_, ("COPY " + table + "(" + column_list(columns) + ") FROM STDIN").c_str()));
    if (PQresultStatus(begun.get()) != PGRES_COPY_IN) fail(begun.get());
    copy_rows(columns.size(), rows, make);
    while (PGresult* const result = PQgetResult(connection_)) check(result);
  }

  void merge(const std::string& table, std::span<const std::string> columns, std::size_t keys,
             std::size_t rows, const RowMaker& make) override {
    if (rows == 0) return;
    const std::string names = column_list(columns);
    execute(
        "DROP TABLE IF EXISTS pg_temp.rows_to_merge; CREATE TEMP TABLE rows_to_merge AS SELECT " +
        names + " FROM " + table + " WHERE false");
    append("rows_to_merge", columns, rows, make);
    execute("INSERT INTO " + table + "(" + names + ") SELECT " + names + " FROM rows_to_merge" +
            on_conflict(table, columns, keys) + "; DROP TABLE rows_to_merge");
  }

  void begin() override {
    execute("BEGIN");
    execute(kLock);
  }
  void commit() override { execute("COMMIT"); }
  void rollback() noexcept override { Result(PQexec(connection_, "ROLLBACK")); }
  void cut() noexcept override { ::shutdown(PQsocket(connection_), SHUT_RDWR); }

 private:
  [[nodiscard]] std::string said(const char* message) const {
    std::string text = message == nullptr ? "" : message;
    // "ERROR:  no such thing\nLINE 1: ...": the first line says what, the others draw it
    text = text.substr(0, text.find('\n'));
    if (const std::size_t at = text.find(":  "); at != std::string::npos) text.erase(0, at + 3);
    return name_ + ": " + (text.empty() ? "the server says nothing" : text);
  }
  [[noreturn]] void gone() const {
    const std::string text = said(PQerrorMessage(connection_));
    const bool unknown = text.find("does not exist") != std::string::npos;
    throw Fault(unknown ? Trouble::kNoDatabase : Trouble::kGone,
                unknown ? Status::kNotFound : Status::kUnwritable, text);
  }
  [[noreturn]] void fail(const PGresult* result) const {
    const char* const code_text = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    // The library's own errors have none: they are of the connection.
    if (PQstatus(connection_) != CONNECTION_OK || code_text == nullptr) gone();
    const std::string code = code_text;
    const std::string text = said(PQresultErrorMessage(result));
    // classes of SQLSTATE: PostgreSQL's appendix A
    if (code == "55P03" || code.starts_with("40")) {
      throw Fault(Trouble::kBusy, Status::kUnwritable, text);
    }
    if (code == "57014") throw Fault(Trouble::kTooLong, Status::kUsage, text);
    if (code.starts_with("57P") || (code.starts_with("08") && code != "08P01")) {
      throw Fault(Trouble::kGone, Status::kUnwritable, text);
    }
    if (code.starts_with("23")) throw Fault(Trouble::kConstraint, Status::kCorrupt, text);
    if (code == "53100") throw Fault(Trouble::kUnwritable, Status::kDiskFull, text);
    if (code.starts_with("53")) throw Fault(Trouble::kBusy, Status::kUnwritable, text);
    if (code == "42501" && access_ == Access::kWrite) {
      throw Fault(Trouble::kUnwritable, Status::kUnwritable, text);
    }
    throw Fault(Trouble::kStatement, Status::kUsage, text);
  }
  Result check(PGresult* raw) const {
    Result result(raw);
    const ExecStatusType status = PQresultStatus(raw);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(raw);
    return result;
  }
  Result send(const std::string& sql, std::span<const Value> values) const {
    if (sql.find('\0') != std::string::npos) {
      throw Fault(Trouble::kStatement, Status::kUsage, name_ + ": a NUL in a statement");
    }
    const Parameters parameters(values);
    return check(PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr,
                              parameters.pointers.data(), nullptr, nullptr, 0));
  }

  void fetch_all(const Query& query, const RowTaker& taker) const {
    const auto start = std::chrono::steady_clock::now();
    const std::string fetch = "FETCH " + std::to_string(kRowsAtOnce) + " FROM rows_wanted";
    for (bool first = true;; first = false) {
      const Result result = check(PQexec(connection_, fetch.c_str()));
      const int columns = PQnfields(result.get()), rows = PQntuples(result.get());
      if (first && taker.columns) {
        std::vector<std::string> names;
        for (int i = 0; i < columns; ++i) names.emplace_back(PQfname(result.get(), i));
        taker.columns(names);
      }
      if (first && taker.types) {
        std::vector<Declared> types;
        for (int i = 0; i < columns; ++i)
          types.push_back(declared_by_oid(PQftype(result.get(), i)));
        taker.types(types);
      }
      std::vector<Value> row(static_cast<std::size_t>(columns));
      for (int r = 0; r < rows; ++r) {
        for (int i = 0; i < columns; ++i) row[static_cast<std::size_t>(i)] = at(result.get(), r, i);
        if (taker.row && !taker.row(row)) return;
      }
      if (rows < kRowsAtOnce) return;
      if (query.stop && query.stop()) {
        throw Error(Status::kInterrupted, name_ + ": the query was interrupted");
      }
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (query.seconds > 0 && spent.count() > query.seconds) {
        throw Fault(Trouble::kTooLong, Status::kUsage, name_ + ": the query takes too long");
      }
    }
  }
  static Value at(const PGresult* result, int row, int column) {
    if (PQgetisnull(result, row, column) != 0) return std::monostate{};
    const std::string_view text(PQgetvalue(result, row, column),
                                static_cast<std::size_t>(PQgetlength(result, row, column)));
    return from_postgres(text, PQftype(result, column));
  }

  void copy_rows(std::size_t columns, std::size_t rows, const RowMaker& make) const {
    std::vector<Value> row(columns);
    std::string lines;
    const auto flush = [&] {
      if (PQputCopyData(connection_, lines.data(), static_cast<int>(lines.size())) != 1) gone();
      lines.clear();
    };
    try {
      for (std::size_t r = 0; r < rows; ++r) {
        make(r, row);
        for (std::size_t i = 0; i < columns; ++i) {
          if (i > 0) lines += '\t';
          append_copy_field(lines, row[i]);
        }
        lines += '\n';
        if (lines.size() > kCopyBytes) flush();
      }
      if (!lines.empty()) flush();
    } catch (...) {
      PQputCopyEnd(connection_, "given up");
      while (PGresult* const result = PQgetResult(connection_)) PQclear(result);
      throw;
    }
    if (PQputCopyEnd(connection_, nullptr) != 1) gone();
  }

  std::string name_;
  Access access_;
  double wait_s_;
  PGconn* connection_ = nullptr;
};

}  // namespace

std::unique_ptr<Connection> open_postgres(const std::string& url, const OpenOptions& options) {
  return std::make_unique<Postgres>(url, options);
}

bool has_postgres() noexcept { return true; }

}  // namespace loom::db
