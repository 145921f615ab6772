// SPDX-License-Identifier: BSD-3-Clause
// The tasks of a chain as Slurm job arrays, one a step, each after those whose files it needs; and
// their scripts as text. Submits nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loom/batch/explain.hpp"

namespace fiberloom::chain {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): a chain is a batch of steps

/// When an element may start, as to another array.
enum class After {
  kAll,   ///< when all of it has ended, well or not: what is missing then an element says itself
  kTwin,  ///< when the element of its number has ended well: it needs nothing else of the array
};

struct JobArray {
  std::string name;                                  ///< "sky", "fiberflat-2"
  std::vector<std::vector<std::string>> elements;    ///< names of the tasks of each
  std::vector<std::pair<std::size_t, After>> after;  ///< arrays before it, by their place
};

/// Of what is to do, in the order of the steps; tasks of a step that need others of it (a night's
/// flat) are an array of their own. No array has more than `most` elements: an element may be
/// several tasks.
[[nodiscard]] std::vector<JobArray> job_arrays(const BatchPlan& plan,
                                               const std::vector<Forecast>& forecasts,
                                               std::size_t most);

/// What all scripts share.
struct ScriptSetup {
  std::vector<std::string> command;  ///< the program and its arguments; --tasks comes after them
  std::string folder;                ///< where it was given
  std::string jobs;                  ///< folder of scripts, lists of tasks and logs
  std::size_t threads = 1;
  std::string more;  ///< further options of sbatch, as on its command line
};

/// Text of the array's script, and of the list beside it: a line of names for each element.
[[nodiscard]] std::string array_script(const JobArray& array, const ScriptSetup& setup);
[[nodiscard]] std::string array_list(const JobArray& array);
[[nodiscard]] std::string script_path(const JobArray& array, const ScriptSetup& setup);
[[nodiscard]] std::string list_path(const JobArray& array, const ScriptSetup& setup);

/// A word as a shell takes it.
[[nodiscard]] std::string shell_word(const std::string& word);

}  // namespace fiberloom::chain
