// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/intake.hpp"

#include "loom/base/error.hpp"

namespace loom::batch {

bool Intake::is_due() {
  const auto now = Clock::now();
  const std::chrono::duration<double> since = now - last_look_;
  if (last_look_ != Clock::time_point{} && since.count() < options_.poll_s) return false;
  last_look_ = now;
  return true;
}

std::vector<Task> Intake::found(const std::set<std::string>& skip) {
  try {
    std::vector<Task> tasks = find_(skip);
    last_warning_.clear();
    return tasks;
  } catch (const Error& error) {  // a folder that is not there yet, say
    if (last_warning_ != error.what()) observer_.warn(error.what());
    last_warning_ = error.what();
    return {};
  }
}

Intake::News Intake::look(const std::set<std::string>& again) {
  std::set<std::string> skip = skip_;
  for (const std::string& name : again) skip.erase(name);
  News news;
  for (Task& task : found(skip)) {
    const auto told = told_.find(task.name);
    InputStamps stamps = stamp_inputs(task);
    if (told != told_.end() && stamps == told->second) continue;
    if (!settled(task, stamps)) continue;
    seen_.erase(task.name);
    if (told != told_.end()) {
      told->second = std::move(stamps);
      news.changed.push_back(task.name);
    } else {
      skip_.insert(task.name);
      told_[task.name] = std::move(stamps);
      news.fresh.push_back(std::move(task));
    }
  }
  last_look_ = Clock::now();  // a look at a large folder takes its time
  return news;
}

/// All inputs there, and unchanged for long enough.
bool Intake::settled(const Task& task, InputStamps stamps) {
  const auto now = Clock::now();
  const bool complete = stamps.missing.empty();
  const auto [seen, fresh] = seen_.try_emplace(task.name, Seen{task, stamps, now});
  if (!fresh && seen->second.stamps != stamps) seen->second = {task, std::move(stamps), now};
  const std::chrono::duration<double> quiet = now - seen->second.since;
  return complete && quiet.count() >= options_.settle_s;
}

std::vector<Task> Intake::arriving() const {
  std::vector<Task> tasks;
  for (const auto& [name, seen] : seen_) {
    if (seen.stamps.missing.empty()) tasks.push_back(seen.task);
  }
  return tasks;
}

}  // namespace loom::batch
