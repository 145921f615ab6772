// SPDX-License-Identifier: BSD-3-Clause
// The tables of a shared ledger: their columns, and how rows get in and out of them. Internal to
// shared_ledger.cpp and known_runs.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "loom/batch/ledger.hpp"
#include "loom/db/db.hpp"

namespace loom::batch {

/// Tables PROGRAM_run, PROGRAM_task, PROGRAM_attempt, PROGRAM_input, PROGRAM_output.
inline constexpr int kStateSchema = 1;

/// "fiberloom_" of "fiberloom".
[[nodiscard]] std::string table_prefix(const std::string& program);

/// Makes what is not there, in one transaction. Throws kUnsupported where the schema is newer.
void make_state_tables(db::Connection& connection, const std::string& prefix);
/// Throws kNotFound where there are none, kUnsupported where the schema is newer.
void require_state_tables(db::Connection& connection, const std::string& prefix);

/// Puts rows of one run; inside a transaction of the caller's.
void put_state_rows(db::Connection& connection, const std::string& prefix, const std::string& run,
                    std::span<const LedgerRow> rows);
/// Rows of a run by name, of one task alone where `task` is not empty; files and attempts of those
/// only where `whole`.
[[nodiscard]] std::vector<LedgerRow> get_state_rows(db::Connection& connection,
                                                    const std::string& prefix,
                                                    const std::string& run, const std::string& task,
                                                    bool whole);

}  // namespace loom::batch
