// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/work_sources.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/batch/fault.hpp"

namespace loom::batch {
namespace {

using namespace std::chrono_literals;

constexpr auto kAskAgain = 1s;     // whether another run has finished what it claimed
constexpr auto kNotice = 100ms;    // until a stop is noticed
constexpr double kRarest_s = 600;  // between attempts at a task that the machine fails

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

ListSource::ListSource(const std::vector<ListedTask>& tasks, const TaskList& names,
                       std::function<bool()> stop_requested,
                       std::function<void(const Outcome&)> changed)
    : names_(names), stop_(std::move(stop_requested)), changed_state_(std::move(changed)) {
  for (const ListedTask& task : tasks) {
    if (graph_.add(task.task, task.after, task.any)) waiting_.push_back(task.task);
  }
}

std::optional<WorkUnit> ListSource::next() {
  std::unique_lock lock(mutex_);
  if (waiting_.empty() && !elsewhere_.empty()) {
    const auto due = std::chrono::steady_clock::now() + kAskAgain;
    while (waiting_.empty() && std::chrono::steady_clock::now() < due) {
      if (stop_ && stop_()) return std::nullopt;
      changed_.wait_for(lock, kNotice);
    }
    if (waiting_.empty()) waiting_.swap(elsewhere_);
  }
  if (waiting_.empty()) return std::nullopt;
  const std::size_t task = waiting_.front();
  waiting_.pop_front();
  return WorkUnit{task};
}

bool ListSource::more_later() const {
  const std::lock_guard lock(mutex_);
  return !(stop_ && stop_()) && (graph_.held() > 0 || !waiting_.empty() || !elsewhere_.empty());
}

void ListSource::finished(const Outcome& outcome) {
  std::vector<std::size_t> blocked;
  {
    const std::lock_guard lock(mutex_);
    if (outcome.state == TaskState::kClaimed) elsewhere_.push_back(outcome.task);
    if (!is_settled(outcome.state)) return;
    TaskGraph::News news = graph_.settle(outcome.task, is_good(outcome.state));
    waiting_.insert(waiting_.end(), news.ready.begin(), news.ready.end());
    blocked = std::move(news.blocked);
  }
  changed_.notify_all();
  for (const std::size_t task : blocked) {
    if (changed_state_) changed_state_(blocked_outcome(task, names_.at(outcome.task).name));
  }
}

WatchSource::WatchSource(Find find, TaskList& tasks, const WatchOptions& options,
                         const Observer& observer, Admit admit)
    : intake_(std::move(find), options, observer),
      tasks_(tasks),
      options_(options),
      observer_(observer),
      admit_(std::move(admit)) {}

std::optional<WorkUnit> WatchSource::next() {
  const bool stop = observer_.stop_requested && observer_.stop_requested();
  if (!stop && intake_.is_due()) look();
  const auto unit = stop ? std::nullopt : best();
  std::unique_lock lock(mutex_);
  if (unit) {
    ++in_work_;
    return unit;
  }
  if (in_work_ > 0 || intake_.waits()) last_work_ = Clock::now();
  ended_ = stop || (options_.idle_s >= 0 && seconds(Clock::now() - last_work_) > options_.idle_s);
  if (!ended_) changed_.wait_for(lock, kNotice);
  return std::nullopt;
}

bool WatchSource::more_later() const {
  const std::lock_guard lock(mutex_);
  return !ended_;
}

std::optional<WorkUnit> WatchSource::best() {
  if (ready_.empty()) return std::nullopt;
  const auto best =
      std::max_element(ready_.begin(), ready_.end(), [&](std::size_t a, std::size_t b) {
        const Task &x = tasks_.at(a), &y = tasks_.at(b);
        return x.priority != y.priority ? x.priority < y.priority : x.cost_s < y.cost_s;
      });
  const std::size_t task = *best;
  ready_.erase(best);
  return WorkUnit{task};
}

/// What is complete: tasks that are new, or that failed and have other files now.
void WatchSource::look() {
  std::set<std::string> again;  // their files may have changed
  {
    const std::lock_guard lock(mutex_);
    ready_.insert(ready_.end(), later_.begin(), later_.end());
    later_.clear();
    for (auto& [task, failed] : failed_) {
      if (failed.again && *failed.again <= Clock::now()) {
        failed.again.reset();
        ready_.push_back(task);
      } else {
        again.insert(tasks_.at(task).name);
      }
    }
  }
  Intake::News news = intake_.look(again);
  for (const std::string& name : news.changed) {
    const std::lock_guard lock(mutex_);
    failed_.erase(taken_.at(name));
    ready_.push_back(taken_.at(name));
  }
  if (!news.fresh.empty() && admit_) admit_(news.fresh);
  for (Task& task : news.fresh) {
    const std::string name = task.name;
    ready_.push_back(taken_[name] = tasks_.add(std::move(task)));
  }
}

void WatchSource::finished(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  --in_work_;
  last_work_ = Clock::now();
  const Status status{outcome.exit_code};
  const bool again = outcome.state == TaskState::kClaimed || outcome.state == TaskState::kMissing ||
                     (outcome.state == TaskState::kFailed && status == Status::kChanged);
  if (again) {
    later_.push_back(outcome.task);
  } else if (outcome.state == TaskState::kFailed) {
    Failed& failed = failed_[outcome.task];
    if (fault_of(status, outcome.system_error) == Fault::kMachine) {
      const double wait = std::min(options_.poll_s * std::exp2(++failed.times), kRarest_s);
      failed.again = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(wait));
    }
  } else {
    failed_.erase(outcome.task);
  }
  changed_.notify_all();
}

}  // namespace loom::batch
