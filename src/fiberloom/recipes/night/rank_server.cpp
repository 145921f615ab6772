// SPDX-License-Identifier: BSD-3-Clause
// Asks, outcomes, farewells.
#include "fiberloom/recipes/night/rank_server.hpp"

#include <utility>

namespace fiberloom::night {
namespace {

constexpr double kLookAgainS = 1;  // at frames that another run has claimed

}  // namespace

RankServer::RankServer(const std::vector<RankHello>& ranks, const DispatchOptions& options,
                       Send send, Hear hear, Claim claim)
    : dispatcher_(options),
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
      from_bytes(bytes, tasks);
      for (auto& [number, priority, task] : tasks) {
        claimed_.erase(number);
        const auto cut = divisible(task.job) ? Divisible::kYes : Divisible::kNo;
        dispatcher_.add(number, {task.cost_s, task.bundles, cut, priority});
        tasks_.insert_or_assign(number, std::move(task));
      }
      break;
    }
    case kTagClose:
      dispatcher_.close();
      break;
    case kTagPartEnd: {
      Assignment assignment;
      WireReader reader(bytes);
      reader(assignment);
      dispatcher_.finished(from, now, assignment);
      break;
    }
    case kTagState: {
      FrameOutcome outcome;
      from_bytes(bytes, outcome);
      if (hear_) hear_(outcome);
      return true;
    }
    case kTagOutcome: {
      FrameOutcome outcome;
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

void RankServer::hear_outcome(int from, double now, const FrameOutcome& outcome) {
  if (!tasks_.contains(outcome.frame)) return;
  // Left by a rank that was told to stop: another does it.
  if (outcome.state == FrameState::kAbandoned && !stopped_) {
    dispatcher_.finished_whole(from, now, outcome.frame);
    dispatcher_.begin_again(outcome.frame);
    return;
  }
  dispatcher_.finished_whole(from, now, outcome.frame);
  if (outcome.state == FrameState::kClaimed && !stopped_) {
    elsewhere_[outcome.frame] = now + kLookAgainS;
  } else {
    dispatcher_.settled(outcome.frame);
  }
  if (hear_) hear_(outcome);
}

/// The other run finishes its frames, or dies and leaves them to us.
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
  if (dispatcher_.done()) say_no_more();
}

bool RankServer::give(int rank, double now) {
  Assignment assignment;
  do {
    if (dispatcher_.next(rank, now, assignment) != Offer::kUnit) return false;
  } while (!ours(rank, now, assignment));
  send_(rank, kTagUnit, to_bytes(assignment, tasks_.at(assignment.unit.frame)));
  return true;
}

/// A whole frame is claimed by who takes it; one in parts here, once for all of them.
bool RankServer::ours(int rank, double now, const Assignment& assignment) {
  const std::size_t frame = assignment.unit.frame;
  if (assignment.unit.last_bundle < 0 || !claim_ || !claimed_.insert(frame).second) return true;
  const auto outcome = claim_(frame);
  if (!outcome) return true;
  claimed_.erase(frame);
  dispatcher_.finished(rank, now, assignment);
  dispatcher_.withdraw(frame);
  elsewhere_[frame] = now + kLookAgainS;
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

}  // namespace fiberloom::night
