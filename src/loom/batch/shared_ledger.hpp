// SPDX-License-Identifier: BSD-3-Clause
// State of runs in a database that several of them share, on one machine or many: a PostgreSQL
// server by its URL (a SQLite file where there is none). What the ledger of a folder is, with all
// tasks, attempts, inputs and outputs. The receipts are the truth here too: a server that is away
// holds nobody up, and is told what it missed when it is back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loom/batch/ledger.hpp"
#include "loom/db/db.hpp"

namespace loom::batch {

/// The name of a run folder in databases: made once, kept in the folder, so that a folder that is
/// moved stays the same run. Throws kUnwritable, kDiskFull.
[[nodiscard]] std::string run_id_of(const RunFolder& folder);

/// Throws kUsage for what is no URL of a database: a bare path would be a file in the way of
/// others.
void check_state_url(const std::string& url);

/// Throws kUsage where a file that a user asks for would take the place of one that a run keeps its
/// state in: below OUT/.PROGRAM, or the file of `state_url` (empty, or a server: none).
void spare_state(const RunFolder& folder, const std::string& state_url, const NamedFile& asked);

struct SharedLedgerOptions {
  double wait_s = 3;     ///< for a server to answer at all, or a lock of others
  double answer_s = 20;  ///< for rows to be taken; a server that hangs is given up then
};

class SharedLedger final : public Ledger {
 public:
  /// Makes the tables where there are none. A server that does not answer is no error (put() tries
  /// again); throws db::Fault or Error where it never will: no such database, one of another
  /// schema, no library in this build.
  SharedLedger(std::string url, const RunFolder& folder, SharedLedgerOptions options = {});
  ~SharedLedger() override;
  SharedLedger(const SharedLedger&) = delete;
  SharedLedger& operator=(const SharedLedger&) = delete;

  void put(const std::vector<LedgerRow>& rows) override;
  [[nodiscard]] std::vector<LedgerRow> rows() override;
  [[nodiscard]] bool wants_all() const noexcept override { return true; }
  /// The run has these rows and no others.
  void replace(const std::vector<LedgerRow>& rows);

 private:
  db::Connection& open();
  void write(db::Connection& connection, const std::vector<LedgerRow>& rows) const;
  /// Runs `work` on the connection; one that failed is let go of, so that the next call begins
  /// anew.
  template <class Work>
  void with_connection(Work work);

  std::string url_, prefix_, run_;
  RunFolder folder_;
  SharedLedgerOptions options_;
  std::unique_ptr<db::Connection> connection_;
};

/// A run as the database knows it.
struct KnownRun {
  std::string id, folder, host, version;
  std::int64_t updated_unix_s = 0;
  std::map<std::string, std::size_t> states;  ///< how many tasks are in which
};

/// Of program `program`, in the order of their folders. Throws db::Fault, Error.
[[nodiscard]] std::vector<KnownRun> known_runs(const std::string& url, const std::string& program);

/// Rows of the run that `name` means: its folder, its id or the beginning of that. With `task` of
/// that task alone, and all of its files and attempts; else without. Throws kNotFound where no run
/// is meant, or more than one, or the run has no such task.
[[nodiscard]] std::vector<LedgerRow> known_tasks(const std::string& url, const std::string& program,
                                                 const std::string& name,
                                                 const std::optional<std::string>& task = {});

/// The folder's own SQLite file, or `state`, a URL, where it is not empty. Throws what opening
/// throws.
[[nodiscard]] std::unique_ptr<Ledger> open_ledger(const RunFolder& folder, const LedgerShape& shape,
                                                  const std::string& state);

}  // namespace loom::batch
