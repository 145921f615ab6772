// SPDX-License-Identifier: BSD-3-Clause
// What the files say, as rows; the part of the ledger that needs no database.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/batch/ledger.hpp"
#include "loom/batch/shared_ledger.hpp"

namespace loom::batch {
namespace {

LedgerRow head(const TaskRecord& r, TaskState state) {
  LedgerRow row;
  row.name = r.name;
  row.labels = r.labels;
  row.state = state_name(state);
  row.attempts = r.attempts;
  row.version = r.version;
  row.options = r.options;
  for (const FileStamp& input : r.inputs) row.inputs.push_back(input.path);
  row.input_files = r.inputs;
  row.history = r.history;
  return row;
}

}  // namespace

LedgerRow to_row(const Receipt& r) {
  LedgerRow row = head(r, TaskState::kDone);
  row.output = r.output.stamp.path;
  row.size = r.output.stamp.size;
  row.crc32 = r.output.crc32;
  row.read = r.read;
  row.compute = r.compute;
  row.write = r.write;
  row.measures = r.measures;
  if (r.page) row.page = r.page->path;
  row.output_files.push_back(r.output);
  row.output_files.insert(row.output_files.end(), r.more.begin(), r.more.end());
  return row;
}

LedgerRow to_row(const Failure& f) {
  LedgerRow row = head(f, TaskState::kFailed);
  row.message = f.message;
  row.exit_code = f.exit_code;
  return row;
}

std::vector<LedgerRow> collect_rows(const RunFolder& folder) {
  std::vector<LedgerRow> rows;
  for (const Receipt& receipt : read_receipts(folder)) rows.push_back(to_row(receipt));
  for (const Failure& failure : read_failures(folder)) rows.push_back(to_row(failure));
  // A task that was done and then failed on other inputs or options has both: the failure is news.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LedgerRow& a, const LedgerRow& b) { return a.name < b.name; });
  return rows;
}

std::size_t rebuild_ledger(const RunFolder& folder, const LedgerShape& shape,
                           const std::string& state) {
  if (!state.empty()) {
    SharedLedger ledger(state, folder);
    std::vector<LedgerRow> rows = collect_rows(folder);
    ledger.replace(rows);
    const auto same = [](const LedgerRow& a, const LedgerRow& b) { return a.name == b.name; };
    return static_cast<std::size_t>(std::unique(rows.begin(), rows.end(), same) - rows.begin());
  }
  const std::string fresh = folder.ledger() + ".new";
  namespace fs = std::filesystem;
  std::error_code error;
  fs::remove(fresh, error);
  {
    const auto ledger = Ledger::open(fresh, shape);
    ledger->put(collect_rows(folder));
  }
  fs::remove(folder.ledger() + "-journal", error);
  if (std::rename(fresh.c_str(), folder.ledger().c_str()) != 0) {
    throw Error(Status::kUnwritable, folder.ledger() + ": cannot be replaced");
  }
  return Ledger::open(folder.ledger(), shape)->rows().size();
}

}  // namespace loom::batch
