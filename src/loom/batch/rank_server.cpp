// SPDX-License-Identifier: BSD-3-Clause
// Asks, outcomes, farewells.
#include "loom/batch/rank_server.hpp"

#include <utility>

namespace loom::batch {
namespace {

constexpr double kLookAgainS = 1;  // at tasks that another run has claimed

}  // namespace

RankServer::RankServer(const std::vector<RankHello>& ranks, const DispatchOptions& options,
                       const WorkKinds& kinds, Send send, Hear hear, Claim claim)
    : kinds_(kinds),
      dispatcher_(options),
      send_(std::move(send)),
      hear_(std::move(hear)),
      claim_(std::move(claim)) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    dispatcher_.join(static_cast<int>(r), ranks[r].cores);
    present_.insert(static_cast<int>(r));
  }
}

bool RankServer::handle(int from, int tag, std::span<const std::byte> bytes, double now) {
  switch (tag) {
    case kTagAsk:
      ++waiting_[from];
      break;
    case kTagAdd: {
      std::vector<QueuedTask> tasks;
      from_bytes(bytes, tasks, kinds_);
      for (auto& [number, after, task, any] : tasks) {
        claimed_.erase(number);
        tasks_.insert_or_assign(number, std::move(task));
        if (graph_.add(number, after, any)) offer(number);
      }
      break;
    }
    case kTagClose:
      closed_ = true;
      break;
    case kTagPartEnd: {
      Assignment assignment;
      WireReader reader(bytes);
      reader(assignment);
      dispatcher_.finished(from, now, assignment);
      break;
    }
    case kTagState: {
      Outcome outcome;
      from_bytes(bytes, outcome);
      // A rank may be at a part of a task that has failed by another part.
      if (hear_ && !dispatcher_.is_settled(outcome.task)) hear_(outcome);
      return true;
    }
    case kTagOutcome: {
      Outcome outcome;
      from_bytes(bytes, outcome);
      hear_outcome(from, now, outcome);
      break;
    }
    case kTagBye: {
      RankReport report;
      from_bytes(bytes, report);
      reports_.push_back(std::move(report));
      present_.erase(from);
      waiting_.erase(from);
      dispatcher_.lost(from);  // what it left undone goes back, if anything
      break;
    }
    default:
      return false;
  }
  serve(now);
  return true;
}

void RankServer::offer(std::size_t task) {
  const Task& t = tasks_.at(task);
  dispatcher_.add(task, {t.cost_s, t.parts, t.priority, t.on_first});
}

/// Gives what waited for the task to the dispatcher, or up.
void RankServer::settle(std::size_t task, bool good) {
  const TaskGraph::News news = graph_.settle(task, good);
  for (const std::size_t ready : news.ready) offer(ready);
  for (const std::size_t blocked : news.blocked) {
    if (hear_) hear_(blocked_outcome(blocked, tasks_.at(task).name));
  }
}

void RankServer::hear_outcome(int from, double now, const Outcome& outcome) {
  if (!tasks_.contains(outcome.task)) return;
  dispatcher_.finished_whole(from, now, outcome.task);
  // Left by a rank that was told to stop: another does it.
  if (outcome.state == TaskState::kAbandoned && !stopped_) {
    dispatcher_.begin_again(outcome.task);
    return;
  }
  if (outcome.state == TaskState::kClaimed && !stopped_) {
    elsewhere_[outcome.task] = now + kLookAgainS;
  } else {
    dispatcher_.settled(outcome.task);
  }
  if (hear_) hear_(outcome);
  if (is_settled(outcome.state)) settle(outcome.task, is_good(outcome.state));
}

/// The other run finishes its tasks, or dies and leaves them to us.
void RankServer::look_again(double now) {
  for (auto it = elsewhere_.begin(); it != elsewhere_.end();) {
    if (it->second > now) {
      ++it;
      continue;
    }
    dispatcher_.begin_again(it->first);
    it = elsewhere_.erase(it);
  }
}

void RankServer::serve(double now) {
  if (stopped_ || told_) return;
  look_again(now);
  for (auto& [rank, asks] : waiting_) {
    while (asks > 0 && give(rank, now)) --asks;
  }
  if (closed_ && graph_.held() == 0) dispatcher_.close();
  if (dispatcher_.done()) say_no_more();
}

bool RankServer::give(int rank, double now) {
  Assignment assignment;
  do {
    if (dispatcher_.next(rank, now, assignment) != Offer::kUnit) return false;
  } while (!ours(rank, now, assignment));
  send_(rank, kTagUnit, to_bytes(assignment, tasks_.at(assignment.unit.task), kinds_));
  return true;
}

/// A whole task is claimed by who takes it; one in parts here, once for all of them.
bool RankServer::ours(int rank, double now, const Assignment& assignment) {
  const std::size_t task = assignment.unit.task;
  if (assignment.unit.last_part < 0 || !claim_ || !claimed_.insert(task).second) return true;
  const auto outcome = claim_(task);
  if (!outcome) return true;
  claimed_.erase(task);
  dispatcher_.finished(rank, now, assignment);
  dispatcher_.withdraw(task);
  elsewhere_[task] = now + kLookAgainS;
  if (hear_) hear_(*outcome);
  return false;
}

void RankServer::stop() {
  if (stopped_) return;
  stopped_ = true;
  for (const int rank : present_) send_(rank, kTagStop, {});
}

void RankServer::say_no_more() {
  told_ = true;
  for (const int rank : present_) send_(rank, kTagNoMore, {});
}

}  // namespace loom::batch
