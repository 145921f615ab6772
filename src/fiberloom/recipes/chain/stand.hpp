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

}  // namespace fiberloom::chain
