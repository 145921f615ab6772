// SPDX-License-Identifier: BSD-3-Clause
// Costs are kept in integer nanoseconds, so that what is left comes back to zero.
#include "fiberloom/recipes/night/dispatcher.hpp"

#include <algorithm>
#include <cmath>

namespace fiberloom::night {

Dispatcher::Dispatcher(const DispatchOptions& options) : options_(options) {}

void Dispatcher::add(std::size_t index, const TaskCost& cost) {
  Frame frame;
  frame.cost = std::max<Nanoseconds>(1, std::llround(cost.core_s * 1e9));
  frame.bundles = std::max(cost.bundles, 1);
  frame.divisible = cost.divisible;
  frame.priority = cost.priority;
  frame.left = {{0, frame.bundles}};
  if (const auto [known, fresh] = frames_.emplace(index, std::move(frame)); !fresh) {
    if (!known->second.settled) return;
    known->second.settled = false;
    known->second.cost = std::max<Nanoseconds>(1, std::llround(cost.core_s * 1e9));
    known->second.bundles = std::max(cost.bundles, 1);  // a file that was replaced may have others
    ++unsettled_;
    begin_again(index);
    return;
  }
  left_ += frames_.at(index).cost;
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
    Frame& frame = frames_.at(index);
    const int count = bundles_for(frame, taker, room);
    if (count == 0) {  // a cheaper one may fit: among those not begun, the queue knows where
      const auto most = static_cast<Nanoseconds>(std::max(room, 0.0) / scale() * 1e9);
      const auto [begun, priority, cost, number] = *entry;
      entry = begun == 0 || -cost <= most ? std::next(entry)
                                          : queue_.lower_bound({1, priority, -most, 0});
      continue;
    }
    dequeue(index);
    Range& range = frame.left.front();
    const Range taken{range.first, range.first + count};
    range.first = taken.last;
    if (range.first == range.last) frame.left.erase(frame.left.begin());
    if (frame.owner < 0) frame.owner = rank;
    if (!frame.left.empty()) enqueue(index);
    const bool whole = taken.first == 0 && taken.last == frame.bundles;
    const WorkUnit unit{index, taken.first, whole ? -1 : taken.last, frame.bundles};
    assignment = {unit, frame.owner, frame.round};
    left_ -= cost_of(frame, taken.first, taken.last);
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
    return held.unit.frame == assignment.unit.frame &&
           held.unit.first_bundle == assignment.unit.first_bundle && held.round == assignment.round;
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

void Dispatcher::finished_whole(int rank, double now, std::size_t frame) {
  const auto found = ranks_.find(rank);
  if (found == ranks_.end()) return;
  for (const Assignment& held : found->second.held) {
    if (held.unit.frame != frame || held.unit.last_bundle >= 0) continue;
    finished(rank, now, Assignment(held));
    return;
  }
}

void Dispatcher::settled(std::size_t index) {
  withdraw(index);
  if (!frames_.at(index).settled) --unsettled_;
  frames_.at(index).settled = true;
}

void Dispatcher::withdraw(std::size_t index) {
  Frame& frame = frames_.at(index);
  if (frame.left.empty()) return;
  dequeue(index);
  for (const Range& range : frame.left) left_ -= cost_of(frame, range.first, range.last);
  frame.left.clear();
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
    const Frame& frame = frames_.at(held.unit.frame);
    if (frame.settled || held.round != frame.round || frame.owner == rank) continue;
    const int last = held.unit.last_bundle < 0 ? frame.bundles : held.unit.last_bundle;
    give_back(held.unit.frame, {held.unit.first_bundle, last});
  }
  for (const auto& [index, frame] : frames_) {
    if (frame.owner == rank) begin_again(index);
  }
}

void Dispatcher::begin_again(std::size_t index) {
  Frame& frame = frames_.at(index);
  if (frame.settled) return;
  withdraw(index);
  frame.owner = -1;
  ++frame.round;
  give_back(index, {0, frame.bundles});
}

bool Dispatcher::current(const Assignment& assignment) const {
  const auto found = frames_.find(assignment.unit.frame);
  return found != frames_.end() && found->second.round == assignment.round;
}

/// Differences of one function, so that the parts of a frame sum to the whole.
Dispatcher::Nanoseconds Dispatcher::cost_of(const Frame& frame, int first, int last) const {
  return frame.cost * last / frame.bundles - frame.cost * first / frame.bundles;
}

/// How much longer things take than was expected; the expectation itself counts as ten seconds of
/// experience, so that one odd frame at the start means little.
double Dispatcher::scale() const {
  constexpr double kPrior = 10;
  return (took_s_ + kPrior) / (expected_s_ + kPrior);
}

double Dispatcher::seconds_of(const Assignment& assignment) const {
  const WorkUnit& unit = assignment.unit;
  const Frame& frame = frames_.at(unit.frame);
  const int last = unit.last_bundle < 0 ? frame.bundles : unit.last_bundle;
  return 1e-9 * static_cast<double>(cost_of(frame, unit.first_bundle, last)) * scale();
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

/// How many bundles of the first range of `frame` this rank should have now; 0: none.
int Dispatcher::bundles_for(const Frame& frame, const Rank& rank, double room) const {
  const Range range = frame.left.front();
  const int rest = range.last - range.first;
  const double bundle = 1e-9 * static_cast<double>(frame.cost) / frame.bundles * scale();
  const bool fits = bundle * rest <= room * (1 + 1e-9);
  if (fits) return rest;
  if (!rank.held.empty()) return 0;
  if (frame.divisible == Divisible::kNo) return rest;
  const double least = options_.part_overhead_s * rank.cores;
  const int count =
      static_cast<int>(std::ceil(std::min(std::max(room, least) / bundle - 1e-6, 1e6)));
  const int taken = std::clamp(count, 1, rest);
  return bundle * (rest - taken) < least ? rest : taken;
}

void Dispatcher::give_back(std::size_t index, Range range) {
  Frame& frame = frames_.at(index);
  if (!frame.left.empty()) dequeue(index);
  left_ += cost_of(frame, range.first, range.last);
  const auto at = std::find_if(frame.left.begin(), frame.left.end(),
                               [&](const Range& r) { return r.first > range.first; });
  frame.left.insert(at, range);
  enqueue(index);
}

void Dispatcher::enqueue(std::size_t index) { queue_.insert(place_of(index)); }

void Dispatcher::dequeue(std::size_t index) { queue_.erase(place_of(index)); }

Dispatcher::Place Dispatcher::place_of(std::size_t index) const {
  const Frame& frame = frames_.at(index);
  return {frame.owner < 0 ? 1 : 0, -frame.priority, -frame.cost, index};
}

}  // namespace fiberloom::night
