// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/part_collector.hpp"

namespace loom::batch {

std::optional<std::vector<PartialTask>> PartCollector::add(PartialTask part) {
  const int parts = part.unit.parts;
  const std::lock_guard lock(mutex_);
  const std::size_t index = part.unit.task;
  if (closed_.contains({index, part.round})) return std::nullopt;
  Begun& task = tasks_[index];
  if (part.round < task.round) return std::nullopt;
  if (part.round > task.round) {
    task.round = part.round;
    task.parts.clear();
  }
  const bool ends = ends_task(part.outcome.state);
  task.parts.push_back(std::move(part));
  int covered = 0;
  for (const PartialTask& p : task.parts) covered += p.unit.last_part - p.unit.first_part;
  if (!ends && covered < parts) return std::nullopt;
  std::vector<PartialTask> all = std::move(task.parts);
  closed_.insert({index, task.round});
  tasks_.erase(index);
  return all;
}

std::vector<std::size_t> PartCollector::open() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::size_t> list;
  for (const auto& [index, task] : tasks_) list.push_back(index);
  return list;
}

}  // namespace loom::batch
