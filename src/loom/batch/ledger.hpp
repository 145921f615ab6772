// SPDX-License-Identifier: BSD-3-Clause
// The ledger: a SQLite table beside the outputs, for questions such as "what failed?". The receipts
// are the truth; this is a copy of them that may be absent, locked or lost.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loom/batch/receipt.hpp"

namespace loom::batch {

/// What a program's ledger has beside the columns that all have. Names are SQL's.
struct LedgerShape {
  struct LabelColumn {
    std::string name;
    enum class Type { kText, kInteger } type = Type::kText;
  };
  std::string table = "tasks";
  std::vector<LabelColumn> labels;
  std::vector<std::string> inputs;    ///< columns for the first inputs, in their order
  std::vector<std::string> measures;  ///< may come later than the table did
};

struct LedgerRow {
  std::string name;
  std::vector<Label> labels;
  std::string state, message;
  int exit_code = 0, attempts = 0;
  std::string output;
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
  std::vector<std::string> inputs;
  std::string version, options;
  StageTime read, compute, write;
  std::vector<Measure> measures;
  std::string page;
  // what a shared ledger keeps besides
  std::vector<Attempt> history;
  std::vector<FileStamp> input_files;
  std::vector<MadeFile> output_files;
};

[[nodiscard]] LedgerRow to_row(const Receipt& receipt);
[[nodiscard]] LedgerRow to_row(const Failure& failure);

/// Rows of all receipts and failures in a folder, by name.
[[nodiscard]] std::vector<LedgerRow> collect_rows(const RunFolder& folder);

/// An open ledger. One process alone may have it (the one that holds the claim "ledger").
class Ledger {
 public:
  /// Opens or makes the file. Throws kCorrupt (not a ledger), kUnwritable (locked, no permission,
  /// no locks on this file system), kUnsupported in a build without SQLite.
  [[nodiscard]] static std::unique_ptr<Ledger> open(const std::string& path,
                                                    const LedgerShape& shape);
  virtual ~Ledger() = default;
  /// Inserts or replaces, in one transaction. Throws as open() does.
  virtual void put(const std::vector<LedgerRow>& rows) = 0;
  [[nodiscard]] virtual std::vector<LedgerRow> rows() = 0;  ///< by name
  /// Does it want tasks that wait or are in work too?
  [[nodiscard]] virtual bool wants_all() const noexcept { return false; }
};

/// Makes the ledger anew from receipts and failures, beside the old one, then takes its place; that
/// of a database (`state`, its URL) in one transaction after the old rows are out. How many rows it
/// has.
std::size_t rebuild_ledger(const RunFolder& folder, const LedgerShape& shape,
                           const std::string& state = {});

}  // namespace loom::batch
