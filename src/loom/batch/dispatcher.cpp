// SPDX-License-Identifier: BSD-3-Clause
// Costs are kept in integer nanoseconds, so that what is left comes back to zero.
#include "loom/batch/dispatcher.hpp"

#include <algorithm>
#include <cmath>

namespace loom::batch {

Dispatcher::Dispatcher(const DispatchOptions& options) : options_(options) {}

void Dispatcher::add(std::size_t index, const TaskCost& cost) {
  Entry task;
  task.cost = std::max<Nanoseconds>(1, std::llround(cost.core_s * 1e9));
  task.parts = std::max(cost.parts, 1);
  task.priority = cost.priority;
  task.on_first = cost.on_first;
  task.left = {{0, task.parts}};
  if (const auto [known, fresh] = tasks_.emplace(index, std::move(task)); !fresh) {
    if (!known->second.settled) return;
    known->second.settled = false;
    known->second.cost = std::max<Nanoseconds>(1, std::llround(cost.core_s * 1e9));
    known->second.parts = std::max(cost.parts, 1);  // a file that was replaced may have others
    ++unsettled_;
    begin_again(index);
    return;
  }
  left_ += tasks_.at(index).cost;
  ++unsettled_;
  enqueue(index);
}

void Dispatcher::close() { closed_ = true; }

void Dispatcher::join(int rank, double cores) {
  const auto [it, is_new] = ranks_.try_emplace(rank);
  if (!is_new) return;
  it->second.cores = std::max(cores, 0.01);
  cores_ += it->second.cores;
}

Offer Dispatcher::next(int rank, double now, Assignment& assignment) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end() || queue_.empty()) return done() ? Offer::kDone : Offer::kWait;
  Rank& taker = found->second;
  const double room = room_of(taker, now);
  for (auto entry = queue_.begin(); entry != queue_.end();) {
    const std::size_t index = std::get<3>(*entry);
    Entry& task = tasks_.at(index);
    if (task.on_first && rank != 0) {
      ++entry;
      continue;
    }
    const int count = parts_for(task, taker, room);
    if (count == 0) {  // a cheaper one may fit: among those not begun, the queue knows where
      const auto most = static_cast<Nanoseconds>(std::max(room, 0.0) / scale() * 1e9);
      const auto [begun, priority, cost, number] = *entry;
      entry = begun == 0 || -cost <= most ? std::next(entry)
                                          : queue_.lower_bound({1, priority, -most, 0});
      continue;
    }
    dequeue(index);
    Range& range = task.left.front();
    const Range taken{range.first, range.first + count};
    range.first = taken.last;
    if (range.first == range.last) task.left.erase(task.left.begin());
    if (task.owner < 0) task.owner = rank;
    if (!task.left.empty()) enqueue(index);
    const bool whole = taken.first == 0 && taken.last == task.parts;
    const WorkUnit unit{index, taken.first, whole ? -1 : taken.last, task.parts};
    assignment = {unit, task.owner, task.round};
    left_ -= cost_of(task, taken.first, taken.last);
    if (taker.held.empty()) taker.since = now;
    set_free_at(rank, taker, std::max(taker.free_at, now) + seconds_of(assignment) / taker.cores);
    taker.held.push_back(assignment);
    ++in_hand_;
    return Offer::kUnit;
  }
  return Offer::kWait;
}

void Dispatcher::finished(int rank, double now, const Assignment& assignment) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  Rank& holder = found->second;
  const auto same = [&](const Assignment& held) {
    return held.unit.task == assignment.unit.task &&
           held.unit.first_part == assignment.unit.first_part && held.round == assignment.round;
  };
  const auto it = std::find_if(holder.held.begin(), holder.held.end(), same);
  if (it == holder.held.end()) return;
  expected_s_ += seconds_of(*it) / scale();
  took_s_ += (now - holder.since) * holder.cores;
  holder.held.erase(it);
  --in_hand_;
  holder.since = now;
  double free_at = now;
  for (const Assignment& held : holder.held) free_at += seconds_of(held) / holder.cores;
  set_free_at(rank, holder, free_at);
}

void Dispatcher::finished_whole(int rank, double now, std::size_t task) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  for (const Assignment& held : found->second.held) {
    if (held.unit.task != task || held.unit.last_part >= 0) continue;
    finished(rank, now, Assignment(held));
    return;
  }
}

void Dispatcher::settled(std::size_t index) {
  withdraw(index);
  if (!tasks_.at(index).settled) --unsettled_;
  tasks_.at(index).settled = true;
}

bool Dispatcher::is_settled(std::size_t index) const {
  const auto known = tasks_.find(index);
  return known != tasks_.end() && known->second.settled;
}

void Dispatcher::withdraw(std::size_t index) {
  Entry& task = tasks_.at(index);
  if (task.left.empty()) return;
  dequeue(index);
  for (const Range& range : task.left) left_ -= cost_of(task, range.first, range.last);
  task.left.clear();
}

void Dispatcher::lost(int rank) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  set_free_at(rank, found->second, 0);
  const Rank gone = std::move(found->second);
  cores_ -= gone.cores;
  in_hand_ -= gone.held.size();
  ranks_.erase(found);
  for (const Assignment& held : gone.held) {
    const Entry& task = tasks_.at(held.unit.task);
    if (task.settled || held.round != task.round || task.owner == rank) continue;
    const int last = held.unit.last_part < 0 ? task.parts : held.unit.last_part;
    give_back(held.unit.task, {held.unit.first_part, last});
  }
  for (const auto& [index, task] : tasks_) {
    if (task.owner == rank) begin_again(index);
  }
}

void Dispatcher::begin_again(std::size_t index) {
  Entry& task = tasks_.at(index);
  if (task.settled) return;
  withdraw(index);
  task.owner = -1;
  ++task.round;
  give_back(index, {0, task.parts});
}

bool Dispatcher::current(const Assignment& assignment) const {
  const auto found = tasks_.find(assignment.unit.task);
  return found != tasks_.end() && found->second.round == assignment.round;
}

/// Differences of one function, so that the parts of a task sum to the whole.
Dispatcher::Nanoseconds Dispatcher::cost_of(const Entry& task, int first, int last) const {
  return task.cost * last / task.parts - task.cost * first / task.parts;
}

/// How much longer things take than was expected; the expectation itself counts as ten seconds of
/// experience, so that one odd task at the start means little.
double Dispatcher::scale() const {
  constexpr double kPrior = 10;
  return (took_s_ + kPrior) / (expected_s_ + kPrior);
}

double Dispatcher::seconds_of(const Assignment& assignment) const {
  const WorkUnit& unit = assignment.unit;
  const Entry& task = tasks_.at(unit.task);
  const int last = unit.last_part < 0 ? task.parts : unit.last_part;
  return 1e-9 * static_cast<double>(cost_of(task, unit.first_part, last)) * scale();
}

/// Core-seconds.
double Dispatcher::room_of(const Rank& rank, double now) {
  while (!busy_.empty() && busy_.begin()->first <= now) {
    const Rank& late = ranks_.at(busy_.begin()->second);
    busy_cores_ -= late.cores;
    busy_until_ -= late.cores * late.free_at;
    busy_.erase(busy_.begin());
  }
  if (busy_.empty()) busy_cores_ = busy_until_ = 0;  // rounding ends here
  const double in_work = std::max(busy_until_ - busy_cores_ * now, 0.0);
  const double work = 1e-9 * static_cast<double>(left_) * scale() + in_work;
  return (work / cores_ - std::max(rank.free_at - now, 0.0)) * rank.cores;
}

void Dispatcher::set_free_at(int number, Rank& rank, double when) {
  if (busy_.erase({rank.free_at, number}) > 0) {
    busy_cores_ -= rank.cores;
    busy_until_ -= rank.cores * rank.free_at;
  }
  rank.free_at = when;
  if (when <= 0) return;
  busy_.insert({when, number});
  busy_cores_ += rank.cores;
  busy_until_ += rank.cores * when;
}

/// How many parts of the first range of `task` this rank should have now; 0: none.
int Dispatcher::parts_for(const Entry& task, const Rank& rank, double room) const {
  const Range range = task.left.front();
  const int rest = range.last - range.first;
  const double part = 1e-9 * static_cast<double>(task.cost) / task.parts * scale();
  const bool fits = part * rest <= room * (1 + 1e-9);
  if (fits) return rest;
  if (!rank.held.empty()) return 0;
  const double least = options_.part_overhead_s * rank.cores;
  const int count = static_cast<int>(std::ceil(std::min(std::max(room, least) / part - 1e-6, 1e6)));
  const int taken = std::clamp(count, 1, rest);
  return part * (rest - taken) < least ? rest : taken;
}

void Dispatcher::give_back(std::size_t index, Range range) {
  Entry& task = tasks_.at(index);
  if (!task.left.empty()) dequeue(index);
  left_ += cost_of(task, range.first, range.last);
  const auto at = std::find_if(task.left.begin(), task.left.end(),
                               [&](const Range& r) { return r.first > range.first; });
  task.left.insert(at, range);
  enqueue(index);
}

void Dispatcher::enqueue(std::size_t index) { queue_.insert(place_of(index)); }

void Dispatcher::dequeue(std::size_t index) { queue_.erase(place_of(index)); }

Dispatcher::Place Dispatcher::place_of(std::size_t index) const {
  const Entry& task = tasks_.at(index);
  return {task.owner < 0 ? 1 : 0, -task.priority, -task.cost, index};
}

}  // namespace loom::batch
