// SPDX-License-Identifier: BSD-3-Clause
// Files and names of tasks, for who finds them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "loom/batch/run_folder.hpp"
#include "loom/batch/task.hpp"

namespace loom::batch {

/// Does this name mean a folder: one that is there, or one that ends in "/"?
[[nodiscard]] bool is_folder_name(const std::string& path);

/// Empty stays empty.
[[nodiscard]] std::string absolute_path(const std::string& path);

/// The name of a task whose output lies at this place below the output folder: what must not be in
/// names becomes "-".
[[nodiscard]] std::string task_name_of(const std::string& place);

/// Names of a run's tasks, each of one file alone.
class TaskNames {
 public:
  /// `outputs`: what would have the same name ("volumes"). Throws kUsage where another file has it.
  void take(const std::string& name, const std::string& file, const char* outputs);

 private:
  std::map<std::string, std::string> file_of_;
};

/// What a run writes of itself beside the outputs of its tasks.
[[nodiscard]] std::vector<NamedFile> own_files(const RunFolder& folder);

/// Throws kUsage where an output of a task, a text that is written beside, the ledger or the status
/// is an input, one of the `sources` that the tasks come from, or another output.
void check_task_files(const RunFolder& folder, std::span<const Task> tasks,
                      std::span<const NamedFile> texts, std::span<const NamedFile> sources = {});

}  // namespace loom::batch
