// SPDX-License-Identifier: BSD-3-Clause
// The last step of a night: what the others make goes into a catalogue.
#pragma once

#include <string>
#include <vector>

#include "loom/batch/task.hpp"

namespace fiberloom::chain {

/// The database of a night without a choice.
[[nodiscard]] std::string default_catalogue(const std::string& output);

/// What says in the run's folder which database it is (note_catalogue).
[[nodiscard]] std::string catalogue_note(const std::string& output);

/// A task for each exposure and for each file of redshifts that `steps` make, which are all tasks
/// of a night. `output`: of the run; `database`: path or URL;
/// `afresh`: what was done before is of another one.
[[nodiscard]] std::vector<loom::batch::Task> catalogue_tasks(
    const std::vector<loom::batch::Task>& steps, const std::string& output,
    const std::string& database, bool afresh);

}  // namespace fiberloom::chain
