// SPDX-License-Identifier: BSD-3-Clause
// A task's files and attempts are rows with a number; how many of them count stands in the task's
// row, so that nothing has to be taken out where there were more before.
#include "loom/batch/state_tables.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/json/json.hpp"
#include "loom/page/page.hpp"

namespace loom::batch {
namespace {

using db::Value;
using Columns = std::vector<std::string>;

const Columns& task_columns() {
  static const Columns columns{
      "run",     "name",      "labels",  "state",      "message",       "exit_code",   "attempts",
      "version", "options",   "quality", "page",       "inputs",        "outputs",     "tries",
      "read_s",  "compute_s", "write_s", "read_cpu_s", "compute_cpu_s", "write_cpu_s", "updated"};
  return columns;
}
const Columns& attempt_columns() {
  static const Columns columns{"run", "task", "number",    "ended",  "host",
                               "pid", "rank", "exit_code", "message"};
  return columns;
}
const Columns& input_columns() {
  static const Columns columns{"run", "task", "number", "path", "size", "mtime_ns"};
  return columns;
}
const Columns& output_columns() {
  static const Columns columns{"run", "task", "number", "path", "size", "crc32"};
  return columns;
}

/// The type of a column, by its name.
std::string type_of(const std::string& column) {
  static const Columns texts{"run",     "task",    "name",    "labels", "state", "message",
                             "version", "options", "quality", "page",   "host",  "path"};
  if (std::find(texts.begin(), texts.end(), column) != texts.end()) return "TEXT";
  return column.ends_with("_s") ? "DOUBLE PRECISION" : "BIGINT";
}

std::string declared(const std::string& table, const Columns& columns, const std::string& keys) {
  std::string text = "CREATE TABLE IF NOT EXISTS " + table + "(";
  for (const std::string& column : columns) text += column + " " + type_of(column) + " NOT NULL, ";
  return text + "PRIMARY KEY(" + keys + "));";
}

std::string listed(const Columns& columns) {
  std::string text;
  for (const std::string& column : columns) text += (text.empty() ? "" : ", ") + column;
  return text;
}

Value text_value(const std::string& bytes) { return page::to_utf8(bytes); }
template <class T>
Value whole_value(T number) {
  return static_cast<std::int64_t>(number);
}

std::string labels_text(const std::vector<Label>& labels) {
  Json json = Json::object();
  for (const Label& label : labels) {
    std::visit(
        [&](const auto& value) {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
            json[label.name] = page::to_utf8(value);
          } else {
            json[label.name] = value;
          }
        },
        label.value);
  }
  return json.dump(-1);
}

std::vector<Label> labels_of(const std::string& text) {
  std::vector<Label> labels;
  const Json json = Json::parse(text).value_or(Json::object());
  for (const auto& [name, value] : json.members()) {
    if (value.is_integer()) {
      labels.push_back({name, value.get<long>()});
    } else {
      labels.push_back({name, value.get<std::string>()});
    }
  }
  return labels;
}

std::string quality_text(const std::vector<Measure>& measures) {
  Json json = Json::object();
  for (const Measure& m : measures) json[m.name] = m.value;
  return json.dump(-1);
}

std::vector<Measure> measures_of(const std::string& text) {
  std::vector<Measure> measures;
  const Json json = Json::parse(text).value_or(Json::object());
  for (const auto& [name, value] : json.members()) measures.push_back({name, value.get<double>()});
  return measures;
}

void fill_task(const std::string& run, const LedgerRow& r, std::span<Value> out) {
  std::size_t i = 0;
  const auto put = [&](Value value) { out[i++] = std::move(value); };
  put(run), put(r.name), put(labels_text(r.labels)), put(r.state), put(text_value(r.message));
  put(whole_value(r.exit_code)), put(whole_value(r.attempts)), put(r.version);
  put(text_value(r.options)), put(quality_text(r.measures)), put(text_value(r.page));
  put(whole_value(r.input_files.size())), put(whole_value(r.output_files.size()));
  put(whole_value(r.history.size()));
  for (const double s : {r.read.wall_s, r.compute.wall_s, r.write.wall_s, r.read.cpu_s,
                         r.compute.cpu_s, r.write.cpu_s}) {
    put(s);
  }
  put(whole_value(std::time(nullptr)));
}

/// Which row of which task.
using Places = std::vector<std::pair<const LedgerRow*, std::size_t>>;

/// Merges rows that a task has several of; `list`: which of its members.
template <class Member, class Fill>
void merge_numbered(db::Connection& connection, const std::string& table, const Columns& columns,
                    const std::string& run, std::span<const LedgerRow> rows,
                    Member LedgerRow::*list, Fill fill) {
  Places places;
  for (const LedgerRow& row : rows) {
    for (std::size_t k = 0; k < (row.*list).size(); ++k) places.emplace_back(&row, k);
  }
  connection.merge(table, columns, 3, places.size(), [&](std::size_t r, std::span<Value> out) {
    const auto& [row, k] = places[r];
    out[0] = run;
    out[1] = row->name;
    out[2] = whole_value(k);
    fill((row->*list)[k], out.subspan(3));
  });
}

std::string text_at(const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}
std::int64_t whole_at(const Value& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr ? 0 : *number;
}
double number_at(const Value& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return static_cast<double>(whole_at(value));
}

LedgerRow task_at(std::span<const Value> v) {
  LedgerRow r;
  r.name = text_at(v[1]);
  r.labels = labels_of(text_at(v[2]));
  r.state = text_at(v[3]);
  r.message = text_at(v[4]);
  r.exit_code = static_cast<int>(whole_at(v[5]));
  r.attempts = static_cast<int>(whole_at(v[6]));
  r.version = text_at(v[7]);
  r.options = text_at(v[8]);
  r.measures = measures_of(text_at(v[9]));
  r.page = text_at(v[10]);
  r.read = {number_at(v[14]), number_at(v[17])};
  r.compute = {number_at(v[15]), number_at(v[18])};
  r.write = {number_at(v[16]), number_at(v[19])};
  return r;
}

/// Calls take(row, values) for the numbered rows that count of one task.
template <class Take>
void read_numbered(db::Connection& connection, const std::string& table, const Columns& columns,
                   const std::string& run, const std::string& task, std::int64_t count, Take take) {
  connection.read({.sql = "SELECT " + listed(columns) + " FROM " + table +
                          " WHERE run = $1 AND task = $2 AND number < $3 ORDER BY number",
                   .values = {run, task, count}},
                  {.row = [&](std::span<const Value> v) {
                    take(v.subspan(3));
                    return true;
                  }});
}

std::optional<int> schema_of(db::Connection& connection, const std::string& prefix) {
  try {
    const auto row =
        db::first_row(connection, "SELECT value FROM " + prefix + "state WHERE key = 'schema'");
    return row.empty() ? 0 : std::atoi(text_at(row.front()).c_str());
  } catch (const db::Fault& fault) {
    if (fault.trouble() != db::Trouble::kStatement) throw;
    return std::nullopt;  // no such table
  }
}

void require_schema(const db::Connection& connection, int found) {
  if (found == kStateSchema) return;
  throw Error(Status::kUnsupported, connection.name() + ": state of runs with schema " +
                                        std::to_string(found) + ", this program knows " +
                                        std::to_string(kStateSchema));
}

}  // namespace

std::string table_prefix(const std::string& program) { return program + "_"; }

void make_state_tables(db::Connection& connection, const std::string& prefix) {
  if (const auto found = schema_of(connection, prefix)) return require_schema(connection, *found);
  db::in_transaction(connection, [&] {  // others may make them at the same time
    connection.execute("CREATE TABLE IF NOT EXISTS " + prefix +
                       "state(key TEXT PRIMARY KEY, value TEXT NOT NULL);"
                       "CREATE TABLE IF NOT EXISTS " +
                       prefix +
                       "run(run TEXT PRIMARY KEY, folder TEXT NOT NULL, host TEXT NOT NULL, "
                       "version TEXT NOT NULL, "
                       "updated BIGINT NOT NULL);" +
                       declared(prefix + "task", task_columns(), "run, name") +
                       declared(prefix + "attempt", attempt_columns(), "run, task, number") +
                       declared(prefix + "input", input_columns(), "run, task, number") +
                       declared(prefix + "output", output_columns(), "run, task, number"));
    connection.run("INSERT INTO " + prefix +
                       "state(key, value) VALUES('schema', $1) ON CONFLICT(key) DO NOTHING",
                   std::vector<Value>{std::to_string(kStateSchema)});
  });
}

void require_state_tables(db::Connection& connection, const std::string& prefix) {
  const auto found = schema_of(connection, prefix);
  if (!found) {
    throw Error(
        Status::kNotFound,
        connection.name() + ": no state of runs is kept here (no table " + prefix + "state)");
  }
  require_schema(connection, *found);
}

void put_state_rows(db::Connection& connection, const std::string& prefix, const std::string& run,
                    std::span<const LedgerRow> rows) {
  connection.merge(prefix + "task", task_columns(), 2, rows.size(),
                   [&](std::size_t r, std::span<Value> out) { fill_task(run, rows[r], out); });
  merge_numbered(connection, prefix + "attempt", attempt_columns(), run, rows, &LedgerRow::history,
                 [](const Attempt& a, std::span<Value> out) {
                   out[0] = whole_value(a.unix_s);
                   out[1] = text_value(a.host);
                   out[2] = whole_value(a.pid);
                   out[3] = whole_value(a.rank);
                   out[4] = whole_value(a.exit_code);
                   out[5] = text_value(a.message);
                 });
  merge_numbered(connection, prefix + "input", input_columns(), run, rows, &LedgerRow::input_files,
                 [](const FileStamp& f, std::span<Value> out) {
                   out[0] = text_value(f.path);
                   out[1] = whole_value(f.size);
                   out[2] = whole_value(f.mtime_ns);
                 });
  merge_numbered(connection, prefix + "output", output_columns(), run, rows,
                 &LedgerRow::output_files, [](const MadeFile& f, std::span<Value> out) {
                   out[0] = text_value(f.stamp.path);
                   out[1] = whole_value(f.stamp.size);
                   out[2] = whole_value(f.crc32);
                 });
}

std::vector<LedgerRow> get_state_rows(db::Connection& connection, const std::string& prefix,
                                      const std::string& run, const std::string& task, bool whole) {
  struct Counts {
    std::int64_t inputs = 0, outputs = 0, tries = 0;
  };
  std::vector<LedgerRow> rows;
  std::vector<Counts> counts;
  db::Query query{.sql = "SELECT " + listed(task_columns()) + " FROM " + prefix +
                         "task WHERE run = $1" + (task.empty() ? "" : " AND name = $2") +
                         " ORDER BY name",
                  .values = {run}};
  if (!task.empty()) query.values.emplace_back(task);
  connection.read(query, {.row = [&](std::span<const Value> v) {
                    rows.push_back(task_at(v));
                    counts.push_back({whole_at(v[11]), whole_at(v[12]), whole_at(v[13])});
                    return true;
                  }});
  for (std::size_t i = 0; whole && i < rows.size(); ++i) {
    LedgerRow& r = rows[i];
    read_numbered(connection, prefix + "attempt", attempt_columns(), run, r.name, counts[i].tries,
                  [&](std::span<const Value> v) {
                    r.history.push_back({whole_at(v[0]), text_at(v[1]), whole_at(v[2]),
                                         static_cast<int>(whole_at(v[3])),
                                         static_cast<int>(whole_at(v[4])), text_at(v[5])});
                  });
    read_numbered(
        connection, prefix + "input", input_columns(), run, r.name, counts[i].inputs,
        [&](std::span<const Value> v) {
          r.input_files.push_back(
              {text_at(v[0]), static_cast<std::uint64_t>(whole_at(v[1])), whole_at(v[2])});
        });
    read_numbered(
        connection, prefix + "output", output_columns(), run, r.name, counts[i].outputs,
        [&](std::span<const Value> v) {
          r.output_files.push_back({{text_at(v[0]), static_cast<std::uint64_t>(whole_at(v[1])), 0},
                                    static_cast<std::uint32_t>(whole_at(v[2]))});
        });
  }
  return rows;
}

}  // namespace loom::batch
