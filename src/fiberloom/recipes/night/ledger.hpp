// SPDX-License-Identifier: BSD-3-Clause
// The ledger: a SQLite table beside the outputs, for questions such as "which frames failed?". The
// receipts are the truth; this is a copy of them that may be absent, locked or lost.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/receipt.hpp"

namespace fiberloom::night {

struct LedgerRow {
  std::string name, night, camera, state, message;
  long expid = 0;
  int exit_code = 0, attempts = 0;
  std::string output, image, psf, version, options;
  std::uint64_t size = 0;
  std::uint32_t crc32 = 0;
  StageTime read, compute, write;
  std::optional<FrameQuality> quality;
  std::string report;
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
  [[nodiscard]] static std::unique_ptr<Ledger> open(const std::string& path);
  virtual ~Ledger() = default;
  /// Inserts or replaces, in one transaction. Throws as open() does.
  virtual void put(const std::vector<LedgerRow>& rows) = 0;
  [[nodiscard]] virtual std::vector<LedgerRow> rows() = 0;  ///< by name
};

/// Makes the ledger anew from receipts and failures, beside the old one, then takes its place. How
/// many rows it has.
std::size_t rebuild_ledger(const RunFolder& folder);

}  // namespace fiberloom::night
