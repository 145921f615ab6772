// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/growing_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/batch/fault.hpp"

namespace loom::batch {
namespace {

using namespace std::chrono_literals;

constexpr auto kNotice = 100ms;    // until a stop is noticed
constexpr double kRarest_s = 600;  // between attempts at a task that the machine fails

}  // namespace

GrowingSource::GrowingSource(Intake intake, Grow grow, TaskList& tasks, const WatchOptions& options,
                             Observer observer, Admit admit,
                             std::function<void(const Outcome&)> changed)
    : intake_(std::move(intake)),
      grow_(std::move(grow)),
      tasks_(tasks),
      options_(options),
      observer_(std::move(observer)),
      admit_(std::move(admit)),
      changed_state_(std::move(changed)) {}

std::optional<WorkUnit> GrowingSource::next() {
  const bool stop = observer_.stop_requested && observer_.stop_requested();
  if (!stop && intake_.is_due()) look();
  const bool arrives = intake_.waits();
  std::unique_lock lock(mutex_);
  const auto unit = stop ? std::nullopt : best();
  if (unit) {
    ++in_work_;
    return unit;
  }
  if (in_work_ > 0 || arrives) last_work_ = Clock::now();
  const std::chrono::duration<double> idle = Clock::now() - last_work_;
  ended_ = stop || (options_.idle_s >= 0 && idle.count() > options_.idle_s);
  if (!ended_) changed_.wait_for(lock, kNotice);
  return std::nullopt;
}

bool GrowingSource::more_later() const {
  const std::lock_guard lock(mutex_);
  return !ended_;
}

/// Of those that may begin the most urgent, then the dearest. One that is still in work as it was
/// planned before waits for that.
std::optional<WorkUnit> GrowingSource::best() {
  const auto before = [&](std::size_t a, std::size_t b) {
    if (nodes_[a].in_work != nodes_[b].in_work) return nodes_[a].in_work;
    const Task &x = tasks_.at(a), &y = tasks_.at(b);
    return x.priority != y.priority ? x.priority < y.priority : x.cost_s < y.cost_s;
  };
  const auto best = std::max_element(ready_.begin(), ready_.end(), before);
  if (best == ready_.end() || nodes_[*best].in_work) return std::nullopt;
  const std::size_t task = *best;
  ready_.erase(best);
  nodes_[task].in_work = true;
  return WorkUnit{task};
}

void GrowingSource::look() {
  std::set<std::string> again;
  std::set<std::size_t> redo;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].stand == Stand::kBad) again.insert(tasks_.at(i).name);
      if (nodes_[i].again && *nodes_[i].again <= Clock::now()) redo.insert(i);
    }
  }
  Intake::News news = intake_.look(again);
  for (const std::string& name : news.changed) {
    if (const auto found = numbers_.find(name); found != numbers_.end()) redo.insert(found->second);
  }
  std::move(news.fresh.begin(), news.fresh.end(), std::back_inserter(leaves_));
  const std::size_t arriving = intake_.arriving().size();
  const bool others = leaves_.size() != planned_leaves_ || arriving != planned_arriving_;
  if (!leaves_.empty() && (others || !redo.empty())) grow(std::move(redo));
  planned_leaves_ = leaves_.size();
  planned_arriving_ = arriving;
}

/// Plans anew; `redo`: numbers of tasks that are to be done again anyway.
void GrowingSource::grow(std::set<std::size_t> redo) {
  std::vector<Task> plan = grow_(leaves_, intake_.arriving());
  if (plan.empty()) return;
  if (admit_) admit_(plan);
  redo.merge(take_plan(std::move(plan)));
  std::vector<Task> all;
  for (std::size_t i = 0; i < tasks_.size(); ++i) all.push_back(tasks_.at(i));
  after_ = link_tasks(all);
  any_ = link_any(all, after_);
  order_ = sorted_by_need(after_, any_);
  const std::set<std::size_t> fresh = with_what_follows(redo);
  {
    const std::lock_guard lock(mutex_);
    connect(fresh);
    last_work_ = Clock::now();
  }
  changed_.notify_all();
}

/// Numbers of those that are new or are made of others than they were. What is not planned any more
/// stays: it is made of what is there.
std::set<std::size_t> GrowingSource::take_plan(std::vector<Task> plan) {
  std::set<std::size_t> fresh;
  for (Task& task : plan) {
    const auto known = numbers_.find(task.name);
    if (known == numbers_.end()) {
      const std::string name = task.name;
      fresh.insert(numbers_[name] = tasks_.add(std::move(task)));
    } else if (!is_made_alike(tasks_.at(known->second), task)) {
      fresh.insert(known->second);
      tasks_.replace(known->second, std::move(task));
    }
  }
  return fresh;
}

std::set<std::size_t> GrowingSource::with_what_follows(const std::set<std::size_t>& redo) const {
  std::set<std::size_t> all = redo;
  for (const std::size_t i : order_) {
    const auto is_in = [&](std::size_t need) { return all.contains(need); };
    if (std::any_of(after_[i].begin(), after_[i].end(), is_in) ||
        std::any_of(any_[i].begin(), any_[i].end(), is_in)) {
      all.insert(i);
    }
  }
  return all;
}

/// The graph of what is open now. `redo` is done again, with all that follows from it.
void GrowingSource::connect(const std::set<std::size_t>& redo) {
  nodes_.resize(tasks_.size());
  graph_ = TaskGraph();
  ready_.clear();
  std::vector<bool> lacks(nodes_.size(), false);
  for (const std::size_t i : order_) {
    Node& node = nodes_[i];
    node.lacks.reset();
    if (redo.contains(i)) {
      const bool settled = std::exchange(node.stand, Stand::kOpen) != Stand::kOpen;
      if (settled) tell_stand(i);
      node.stale = node.in_work;
      node.again.reset();
    }
    if (node.stand != Stand::kOpen) {
      lacks[i] = node.stand == Stand::kBad;
      if (graph_.add(i, {})) static_cast<void>(graph_.settle(i, !lacks[i]));
      continue;
    }
    const auto lacking =
        std::find_if(after_[i].begin(), after_[i].end(), [&](std::size_t n) { return lacks[n]; });
    const bool needs = needs_any(tasks_.at(i));
    AnyOf any;
    any.enough = !needs;
    for (const std::size_t want : any_[i]) {
      if (!lacks[want]) any.tasks.push_back(want);
    }
    const bool none = needs && !any_[i].empty() && any.tasks.empty();
    if (lacking != after_[i].end() || none) {
      lacks[i] = true;
      if (graph_.add(i, {})) static_cast<void>(graph_.settle(i, false));
      node.lacks = none ? any_[i].front() : *lacking;
      tell_stand(i);
    } else if (graph_.add(i, after_[i], any) && (!node.in_work || node.stale)) {
      ready_.push_back(i);
    }
  }
}

/// Of a task that is open: it waits, or cannot be begun.
void GrowingSource::tell_stand(std::size_t task) {
  if (!changed_state_) return;
  Outcome waits;
  waits.task = task;
  const auto& lacks = nodes_[task].lacks;
  changed_state_(lacks ? blocked_outcome(task, tasks_.at(*lacks).name) : waits);
}

void GrowingSource::finished(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  --in_work_;
  last_work_ = Clock::now();
  Node& node = nodes_.at(outcome.task);
  node.in_work = false;
  changed_.notify_all();
  if (std::exchange(node.stale, false)) {  // it is among those to be done, or waits for others
    tell_stand(outcome.task);
    return;
  }
  const Status status{outcome.exit_code};
  const bool later = outcome.state == TaskState::kClaimed || !is_settled(outcome.state);
  const bool machine = outcome.state == TaskState::kMissing ||
                       (outcome.state == TaskState::kFailed &&
                        fault_of(status, outcome.system_error) == Fault::kMachine);
  if (later || machine) {
    const double wait = std::min(options_.poll_s * std::exp2(node.times), kRarest_s);
    node.times += machine ? 1 : 0;
    node.again = Clock::now() +
                 std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(wait));
  }
  if (later) return;  // what needs it waits; look() takes it up again
  const bool good = is_good(outcome.state);
  node.stand = good ? Stand::kGood : Stand::kBad;
  if (good) node.times = 0;
  const TaskGraph::News news = graph_.settle(outcome.task, good);
  ready_.insert(ready_.end(), news.ready.begin(), news.ready.end());
  for (const std::size_t task : news.blocked) {
    nodes_.at(task).lacks = outcome.task;
    tell_stand(task);
  }
}

}  // namespace loom::batch
