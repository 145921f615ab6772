// SPDX-License-Identifier: BSD-3-Clause
// The options that the frames of a run folder are made with: one set for each band, remembered in
// OUT/.fiberloom/options, so that two runs on one folder do not mix grids in silence.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "fiberloom/recipes/night/frame_task.hpp"
#include "loom/batch/run_folder.hpp"

namespace fiberloom::night {

/// May a run take over a folder whose frames were made with other options?
enum class Redo {
  kNo,
  kYes,  ///< its frames are made again with these
};

/// What tells two texts of options_text() apart, as options of the command line: "--psferr 0.01
/// there, 0.02 here"; empty when they are equal.
[[nodiscard]] std::string options_difference(const std::string& there, const std::string& here);

/// Throws kUsage, which names the option, when the folder's frames of any band of `tasks` are made
/// with other options. Writes nothing. Folders of versions that did not remember are judged by
/// their receipts.
void require_same_options(const std::vector<Task>& tasks, const RunFolder& folder);

/// The same, and remembers the options of each band. Of two runs that come at once with different
/// ones, one alone is first. With kYes it replaces what is remembered instead of throwing, and says
/// whether it did.
bool remember_options(const std::vector<Task>& tasks, const RunFolder& folder, Redo redo);

/// How many frames of the folder, beside those named, are made with other options than are
/// remembered for their band: what a run with kYes on some of the frames leaves behind.
[[nodiscard]] std::size_t count_strays(const RunFolder& folder,
                                       const std::set<std::string>& beside);

}  // namespace fiberloom::night
