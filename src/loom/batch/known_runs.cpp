// SPDX-License-Identifier: BSD-3-Clause
// What a shared ledger knows, for who asks without the folder of a run. Reads, never writes.
#include <algorithm>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/batch/shared_ledger.hpp"
#include "loom/batch/state_tables.hpp"

namespace loom::batch {
namespace {

using db::Value;

std::unique_ptr<db::Connection> open_to_read(const std::string& url, const std::string& prefix) {
  auto connection = db::open(url, {.access = db::Access::kRead});
  require_state_tables(*connection, prefix);
  return connection;
}

template <class T>
T at(const Value& value) {
  const T* found = std::get_if<T>(&value);
  return found == nullptr ? T{} : *found;
}

std::vector<KnownRun> runs_in(db::Connection& connection, const std::string& prefix) {
  std::vector<KnownRun> runs;
  connection.read({.sql = "SELECT run, folder, host, version, updated FROM " + prefix +
                          "run ORDER BY folder, run"},
                  {.row = [&](std::span<const Value> v) {
                    runs.push_back({at<std::string>(v[0]),
                                    at<std::string>(v[1]),
                                    at<std::string>(v[2]),
                                    at<std::string>(v[3]),
                                    at<std::int64_t>(v[4]),
                                    {}});
                    return true;
                  }});
  return runs;
}

/// The one that is meant.
KnownRun chosen(const std::vector<KnownRun>& runs, const std::string& name,
                const std::string& where) {
  const std::string folder =
      std::filesystem::absolute(name + "/.").lexically_normal().parent_path().string();
  std::vector<KnownRun> found;
  for (const KnownRun& run : runs) {
    if (run.folder == folder || run.folder == name || run.id == name) found.push_back(run);
  }
  if (found.empty()) {
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(found),
                 [&](const KnownRun& run) { return !name.empty() && run.id.starts_with(name); });
  }
  if (found.size() == 1) return found.front();
  throw Error(Status::kNotFound,
              where + ": " +
                  (found.empty() ? "no run is" : std::to_string(found.size()) + " runs are") +
                  " named " + name + " here, expected one of its folders or the id of a run");
}

}  // namespace

std::vector<KnownRun> known_runs(const std::string& url, const std::string& program) {
  const std::string prefix = table_prefix(program);
  const auto connection = open_to_read(url, prefix);
  std::vector<KnownRun> runs = runs_in(*connection, prefix);
  for (KnownRun& run : runs) {
    connection->read({.sql = "SELECT state, count(*) FROM " + prefix +
                             "task WHERE run = $1 GROUP BY state ORDER BY state",
                      .values = {run.id}},
                     {.row = [&](std::span<const Value> v) {
                       run.states[at<std::string>(v[0])] =
                           static_cast<std::size_t>(at<std::int64_t>(v[1]));
                       return true;
                     }});
  }
  return runs;
}

std::vector<LedgerRow> known_tasks(const std::string& url, const std::string& program,
                                   const std::string& name,
                                   const std::optional<std::string>& task) {
  const std::string prefix = table_prefix(program);
  const auto connection = open_to_read(url, prefix);
  const KnownRun run = chosen(runs_in(*connection, prefix), name, connection->name());
  std::vector<LedgerRow> rows =
      get_state_rows(*connection, prefix, run.id, task.value_or(""), task.has_value());
  if (task && rows.empty()) {
    throw Error(Status::kNotFound,
                connection->name() + ": no task of " + run.folder + " is named " + *task);
  }
  return rows;
}

}  // namespace loom::batch
