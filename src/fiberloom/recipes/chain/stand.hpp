// SPDX-License-Identifier: BSD-3-Clause
// How the tasks of a run folder of ours stand, and why: what `fiberloom status` asks.
#pragma once

#include <string>
#include <vector>

#include "loom/batch/explain.hpp"
#include "loom/batch/shared_ledger.hpp"

namespace fiberloom::chain {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): a chain is a batch of steps

/// explain_task() and stand_of_tasks() of the folder that a night, an exposure or a survey of
/// redshifts was written to. They throw kNotFound.
[[nodiscard]] Explanation explain(const std::string& output, const std::string& task);
[[nodiscard]] std::vector<Standing> stand(const std::string& output);

/// known_runs() and known_tasks() of fiberloom's runs in a database, `state`.
[[nodiscard]] std::vector<KnownRun> runs_in(const std::string& state);
[[nodiscard]] std::vector<Standing> stand_in(const std::string& state, const std::string& run);
[[nodiscard]] LedgerRow task_in(const std::string& state, const std::string& run,
                                const std::string& task);

/// The step that a task is, or the kind of its work where there are no steps.
[[nodiscard]] std::string step_or_kind(const Task& task);

/// The file `json` of an answer (empty, or "-": none) takes the place of nothing that it tells of:
/// these throw kUsage where it is one of the run folder's own, or the database `state_url`; and a
/// file of one of the tasks.
void spare_state_of(const std::string& output, const std::string& state_url,
                    const std::string& json);
void spare_files_of(const std::vector<Task>& tasks, const std::string& json);

}  // namespace fiberloom::chain
