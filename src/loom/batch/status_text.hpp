// SPDX-License-Identifier: BSD-3-Clause
// What every kind of run tells of itself in the same words: the head of its status file, the
// values that its page shows.
#pragma once

#include <map>
#include <string>

#include "loom/batch/run_status.hpp"
#include "loom/json/json.hpp"

namespace loom::batch {

/// Milliseconds are enough for an observer, and keep the page small.
[[nodiscard]] double rounded(double value);

/// How many tasks are in each state, by its name; no entry for a state that no task is in.
using StateCounts = std::map<std::string, std::size_t>;

[[nodiscard]] StateCounts count_states(const RunStatus& status);

/// "1 failed, 3 waiting".
[[nodiscard]] std::string counts_text(const StateCounts& counts);

/// An object, an empty one for no counts.
[[nodiscard]] Json counts_json(const StateCounts& counts);

/// The run itself, without its tasks.
[[nodiscard]] Json run_json(const RunStatus& status, const char* schema);

/// title, program, host, css, refresh, counts and warnings of a plain page, ready for HTML; views
/// into them are the page's values.
[[nodiscard]] std::map<std::string, std::string> page_values(const RunStatus& status);

}  // namespace loom::batch
