// SPDX-License-Identifier: BSD-3-Clause
// What the files say, as rows; the part of the ledger that needs no database.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "fiberloom/recipes/night/ledger.hpp"
#include "fiberloom/recipes/night/night_status.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;

template <class Record>
LedgerRow head(const Record& r, FrameState state) {
  LedgerRow row;
  row.name = r.name;
  row.night = r.night;
  row.camera = r.camera;
  row.expid = r.expid;
  row.state = state_name(state);
  row.attempts = r.attempts;
  row.version = r.version;
  row.options = r.options;
  if (!r.inputs.empty()) row.image = r.inputs[0].path;
  if (r.inputs.size() > 1) row.psf = r.inputs[1].path;
  return row;
}

template <class Record>
void collect(const std::string& folder, std::optional<Record> (*read)(const std::string&),
             std::vector<LedgerRow>& rows) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".json") continue;
    if (const auto record = read(entry.path().string())) rows.push_back(to_row(*record));
  }
}

}  // namespace

LedgerRow to_row(const Receipt& r) {
  LedgerRow row = head(r, FrameState::kDone);
  row.output = r.output.path;
  row.size = r.output.size;
  row.crc32 = r.crc32;
  row.read = r.read;
  row.compute = r.compute;
  row.write = r.write;
  row.quality = r.quality;
  if (r.report) row.report = r.report->path;
  return row;
}

LedgerRow to_row(const Failure& f) {
  LedgerRow row = head(f, FrameState::kFailed);
  row.message = f.message;
  row.exit_code = f.exit_code;
  return row;
}

std::vector<LedgerRow> collect_rows(const RunFolder& folder) {
  std::vector<LedgerRow> rows;
  collect<Receipt>(folder.receipts(), read_receipt, rows);
  collect<Failure>(folder.failures(), read_failure, rows);
  // A frame that was done and then failed on other inputs or options has both: the failure is news.
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LedgerRow& a, const LedgerRow& b) { return a.name < b.name; });
  return rows;
}

std::size_t rebuild_ledger(const RunFolder& folder) {
  const std::string fresh = folder.ledger() + ".new";
  std::error_code error;
  fs::remove(fresh, error);
  {
    const auto ledger = Ledger::open(fresh);
    ledger->put(collect_rows(folder));
  }
  fs::remove(folder.ledger() + "-journal", error);
  if (std::rename(fresh.c_str(), folder.ledger().c_str()) != 0) {
    throw Error(Status::kUnwritable, folder.ledger() + ": cannot be replaced");
  }
  return Ledger::open(folder.ledger())->rows().size();
}

}  // namespace fiberloom::night
