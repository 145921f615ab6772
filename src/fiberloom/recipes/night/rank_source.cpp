// SPDX-License-Identifier: BSD-3-Clause
// Units in, letters out.
#include "fiberloom/recipes/night/rank_source.hpp"

#include <chrono>

namespace fiberloom::night {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(100);

}  // namespace

RankSource::RankSource(RankMail& mail, TaskList& tasks, int rank)
    : mail_(mail), tasks_(tasks), rank_(rank) {}

std::optional<WorkUnit> RankSource::next() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (!asked_) mail_.post(0, kTagAsk, {});
  asked_ = true;
  const auto ready = [&] { return stopped_ || no_more_ || !inbox_.empty(); };
  // A frame that failed may be due for another attempt: its reader must not be held up for ever.
  while (!changed_.wait_for(lock, kPatience, ready)) {
    if (!in_work_.empty()) break;
  }
  if (stopped_ || inbox_.empty()) return std::nullopt;
  counters_.wait_s +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Assignment assignment = inbox_.front();
  inbox_.pop_front();
  in_work_[{assignment.unit.frame, assignment.unit.first_bundle}] = assignment;
  mail_.post(0, kTagAsk, {});  // the next one is on its way while this one is read
  return assignment.unit;
}

bool RankSource::more_later() const {
  const std::lock_guard lock(mutex_);
  return !stopped_ && (!no_more_ || !inbox_.empty());
}

void RankSource::changed(const FrameOutcome& outcome) {
  const bool in_work = outcome.state == FrameState::kReading ||
                       outcome.state == FrameState::kComputing ||
                       outcome.state == FrameState::kWriting;
  if (in_work) mail_.post(0, kTagState, to_bytes(outcome));
}

void RankSource::finished(const FrameOutcome& outcome) {
  Assignment assignment;
  {
    const std::lock_guard lock(mutex_);
    const auto it = in_work_.find({outcome.frame, outcome.first_bundle});
    if (it == in_work_.end()) return;  // a part: part_done() came before
    assignment = it->second;
    in_work_.erase(it);
  }
  if (assignment.unit.last_bundle < 0) {
    frame_done(outcome);
    return;
  }
  PartialFrame part;
  part.unit = assignment.unit;
  part.outcome = outcome;
  pass_on(std::move(part), assignment);
}

void RankSource::frame_done(const FrameOutcome& outcome) {
  FrameOutcome signed_outcome = outcome;
  signed_outcome.rank = rank_;
  {
    const std::lock_guard lock(mutex_);
    ++counters_.frames;
  }
  mail_.post(0, kTagOutcome, to_bytes(signed_outcome));
}

void RankSource::part_done(PartialFrame part) {
  Assignment assignment;
  {
    const std::lock_guard lock(mutex_);
    const auto it = in_work_.find({part.unit.frame, part.unit.first_bundle});
    if (it == in_work_.end()) return;
    assignment = it->second;
    in_work_.erase(it);
    ++counters_.parts;
  }
  part.outcome.state = FrameState::kDone;
  pass_on(std::move(part), assignment);
}

void RankSource::pass_on(PartialFrame part, const Assignment& assignment) {
  part.round = assignment.round;
  WireWriter writer;
  writer(assignment);
  if (assignment.owner == rank_) {
    collect(std::move(part));
  } else {
    mail_.post(assignment.owner, kTagPart, to_bytes(part));
  }
  mail_.post(0, kTagPartEnd, writer.take());
}

void RankSource::set_joined(Joined joined) {
  const std::lock_guard lock(joined_mutex_);
  joined_ = std::move(joined);
}

void RankSource::deliver(const Assignment& assignment, FrameTask task) {
  tasks_.put(assignment.unit.frame, std::move(task));
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(assignment);
  }
  changed_.notify_all();
}

void RankSource::receive_part(PartialFrame part) { collect(std::move(part)); }

void RankSource::collect(PartialFrame part) {
  const std::size_t frame = part.unit.frame;
  const std::lock_guard lock(joined_mutex_);
  if (!joined_) return;  // told to stop, and what was open is given up
  if (auto all = collector_.add(std::move(part))) joined_(frame, std::move(*all));
}

void RankSource::no_more() {
  {
    const std::lock_guard lock(mutex_);
    no_more_ = true;
  }
  changed_.notify_all();
}

void RankSource::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
}

RankSource::Counters RankSource::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace fiberloom::night
