// SPDX-License-Identifier: BSD-3-Clause
// How the tasks of a run folder of ours stand, and why: what `fiberloom status` asks.
#pragma once

#include <string>
#include <vector>

#include "loom/batch/explain.hpp"

namespace fiberloom::chain {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): a chain is a batch of steps

/// explain_task() and stand_of_tasks() of the folder that a night, an exposure or a survey of
/// redshifts was written to. They throw kNotFound.
[[nodiscard]] Explanation explain(const std::string& output, const std::string& task);
[[nodiscard]] std::vector<Standing> stand(const std::string& output);

/// The step that a task is, or the kind of its work where there are no steps.
[[nodiscard]] std::string step_or_kind(const Task& task);

}  // namespace fiberloom::chain
