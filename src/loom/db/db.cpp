// SPDX-License-Identifier: BSD-3-Clause
#include "loom/db/db.hpp"

#include <algorithm>
#include <utility>

#include "loom/db/backends.hpp"

namespace loom::db {
namespace {

constexpr std::string_view kSqliteScheme = "sqlite://";

bool is_server(std::string_view url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

}  // namespace

Kind kind_of(const std::string& url) { return is_server(url) ? Kind::kPostgres : Kind::kSqlite; }

std::string sqlite_path(const std::string& url) {
  if (!url.starts_with(kSqliteScheme)) return url;
  std::string path = url.substr(kSqliteScheme.size());
  // SQLAlchemy's way: three strokes and a relative path, four and an absolute one
  if (path.starts_with("/")) path.erase(0, 1);
  return path;
}

std::string without_password(const std::string& url) {
  if (!is_server(url)) return url;
  const std::size_t from = url.find("://") + 3;
  const std::size_t end = url.find_first_of("/?", from);
  const std::string_view host = std::string_view(url).substr(from, end - from);
  const std::size_t at = host.rfind('@');
  std::string out = url;
  if (at != std::string_view::npos) {
    const std::size_t colon = host.substr(0, at).find(':');
    if (colon != std::string_view::npos) out.erase(from + colon, at - colon);
  }
  const std::size_t word = out.find("password=");
  if (word != std::string::npos) {
    const std::size_t value = word + std::string_view("password=").size();
    out.replace(value, std::min(out.find('&', value), out.size()) - value, "...");
  }
  return out;
}

std::unique_ptr<Connection> open(const std::string& url, const OpenOptions& options) {
  if (kind_of(url) == Kind::kPostgres) return open_postgres(url, options);
  return open_sqlite(sqlite_path(url), options);
}

bool available(Kind kind) noexcept { return kind == Kind::kSqlite ? has_sqlite() : has_postgres(); }

std::string quoted(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

void in_transaction(Connection& connection, const std::function<void()>& work) {
  connection.begin();
  try {
    work();
    connection.commit();
  } catch (...) {
    connection.rollback();
    throw;
  }
}

std::vector<Value> first_row(Connection& connection, const std::string& sql,
                             std::vector<Value> values) {
  std::vector<Value> out;
  Query query{.sql = sql, .values = std::move(values)};
  connection.read(query, {.columns = {}, .row = [&](std::span<const Value> row) {
                            out.assign(row.begin(), row.end());
                            return false;
                          }});
  return out;
}

std::string column_list(std::span<const std::string> columns) {
  std::string out;
  for (const std::string& column : columns) out += (out.empty() ? "" : ", ") + column;
  return out;
}

std::string insert_text(const std::string& table, std::span<const std::string> columns) {
  std::string holes;
  for (std::size_t i = 1; i <= columns.size(); ++i) {
    holes += (i == 1 ? "$" : ", $") + std::to_string(i);
  }
  return "INSERT INTO " + table + "(" + column_list(columns) + ") VALUES(" + holes + ")";
}

std::string on_conflict(const std::string& table, std::span<const std::string> columns,
                        std::size_t keys) {
  std::string set;
  for (const std::string& column : columns.subspan(keys)) {
    set += (set.empty() ? "" : ", ") + column + " = coalesce(excluded." + column + ", " + table +
           "." + column + ")";
  }
  return " ON CONFLICT(" + column_list(columns.first(keys)) + ") DO " +
         (set.empty() ? std::string("NOTHING") : "UPDATE SET " + set);
}

}  // namespace loom::db
