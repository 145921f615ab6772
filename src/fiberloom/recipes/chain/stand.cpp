// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/stand.hpp"

#include "fiberloom/recipes/night/night.hpp"

namespace fiberloom::chain {

Explanation explain(const std::string& output, const std::string& task) {
  return explain_task(night::run_folder(output), task);
}

std::vector<Standing> stand(const std::string& output) {
  return stand_of_tasks(night::run_folder(output));
}

std::string step_or_kind(const Task& task) {
  const Label* label = find_label(task.labels, "step");
  return label == nullptr ? task.kind : std::get<std::string>(label->value);
}

}  // namespace fiberloom::chain
