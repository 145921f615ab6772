// SPDX-License-Identifier: BSD-3-Clause
// Databases: SQLite files and PostgreSQL servers behind one small interface, both optional. SQL
// text comes from the caller; values never stand in it, they are parameters $1, $2 ... Knows no
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loom/base/error.hpp"

namespace loom::db {

/// NULL, an integer, a number, a text.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class Kind { kSqlite, kPostgres };

/// kRead: nothing that is sent can change the database, whatever the text of a query says.
enum class Access { kRead, kWrite };

/// What went wrong, for callers that act on it.
enum class Trouble {
  kStatement,   ///< the text is no SQL, names what is not there, or may not be run here
  kConstraint,  ///< a row that must not be: its key is taken
  kBusy,        ///< somebody else holds a lock longer than is waited for
  kGone,        ///< the server does not answer, or no longer does
  kNoDatabase,  ///< no such file, or one of another kind
  kUnwritable,  ///< no permission, or no room
  kTooLong,     ///< the query took longer than it may
};

/// An Error with a kind. The message names the database (without a password) and what it said.
class Fault : public Error {
 public:
  Fault(Trouble trouble, Status status, std::string_view message)
      : Error(status, message), trouble_(trouble) {}
  [[nodiscard]] Trouble trouble() const noexcept { return trouble_; }

 private:
  Trouble trouble_;
};

struct Query {
  std::string sql{};            ///< one statement
  std::vector<Value> values{};  ///< of $1, $2 ...
  double seconds = 0;           ///< after which it is given up (kTooLong); 0: never
  /// Asked now and then: true ends the query (Error kInterrupted).
  std::function<bool()> stop{};
};

/// What a table says of a column; nothing of what is computed.
enum class Declared { kNothing, kInteger, kNumber, kText };

/// Who takes the rows of a query.
struct RowTaker {
  std::function<void(std::span<const std::string> names)> columns{};
  /// Returns false when it wants no more.
  std::function<bool(std::span<const Value>)> row{};
  /// After `columns`, before the first row.
  std::function<void(std::span<const Declared>)> types{};
};

/// Rows that are not held by anybody: row r is put into `out`, a value for each column.
using RowMaker = std::function<void(std::size_t r, std::span<Value> out)>;

/// An open database; of one thread at a time. Everything throws Fault.
class Connection {
 public:
  virtual ~Connection() = default;

  [[nodiscard]] virtual Kind kind() const noexcept = 0;
  /// As it stands in messages.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;

  /// Any number of statements without parameters.
  virtual void execute(const std::string& sql) = 0;
  /// One statement; how many rows it changed.
  virtual std::int64_t run(const std::string& sql, std::span<const Value> values = {}) = 0;
  /// Rows of a query, one by one: of SQLite as they are found, of PostgreSQL some thousand at once.
  virtual void read(const Query& query, const RowTaker& taker) = 0;

  /// Adds rows to a table.
  virtual void append(const std::string& table, std::span<const std::string> columns,
                      std::size_t rows, const RowMaker& make) = 0;
  /// Adds rows, or changes those whose key (`columns` beginning with `keys` of them) is there: NULL
  /// leaves what was. No two of the rows may have the same key.
  virtual void merge(const std::string& table, std::span<const std::string> columns,
                     std::size_t keys, std::size_t rows, const RowMaker& make) = 0;

  /// Between these nobody else writes, and nobody sees half of it.
  virtual void begin() = 0;
  virtual void commit() = 0;
  /// Never throws: what cannot be undone by us is by the database.
  virtual void rollback() noexcept = 0;

  /// The one function for another thread: what is under way with a server ends as if the server
  /// had gone (kGone), and so does all that follows. A file's is never in the way for longer than
  /// `wait_s`.
  virtual void cut() noexcept {}
};

/// begin(), `work`, commit(); rollback() where it throws.
void in_transaction(Connection& connection, const std::function<void()>& work);

/// The first row of a query; empty where there is none.
[[nodiscard]] std::vector<Value> first_row(Connection& connection, const std::string& sql,
                                           std::vector<Value> values = {});

/// "postgresql://..." and "postgres://..." are servers; "sqlite:///path", or anything else, a file.
[[nodiscard]] Kind kind_of(const std::string& url);

/// The path of a SQLite URL or path.
[[nodiscard]] std::string sqlite_path(const std::string& url);

/// A URL without the password in it.
[[nodiscard]] std::string without_password(const std::string& url);

struct OpenOptions {
  Access access = Access::kRead;
  double wait_s = 10;  ///< for the locks of others, and for a server to answer
};

/// Opens, or makes a SQLite file where there is none and it may be written. Throws Fault;
/// kUnsupported in a build without the library.
[[nodiscard]] std::unique_ptr<Connection> open(const std::string& url, const OpenOptions& options);

/// Is the library built in?
[[nodiscard]] bool available(Kind kind) noexcept;

/// "name" in double quotes, for a table or column.
[[nodiscard]] std::string quoted(std::string_view name);

}  // namespace loom::db
