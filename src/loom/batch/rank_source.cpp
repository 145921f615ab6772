// SPDX-License-Identifier: BSD-3-Clause
// Units in, letters out.
#include "loom/batch/rank_source.hpp"

#include <chrono>

namespace loom::batch {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(100);

}  // namespace

RankSource::RankSource(RankMail& mail, TaskList& tasks, const WorkKinds& kinds, int rank)
    : mail_(mail), tasks_(tasks), kinds_(kinds), rank_(rank) {}

std::optional<WorkUnit> RankSource::next() {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (!asked_) mail_.post(0, kTagAsk, {});
  asked_ = true;
  const auto ready = [&] { return stopped_ || no_more_ || !inbox_.empty(); };
  // A task that failed may be due for another attempt: its reader must not be held up for ever.
  while (!changed_.wait_for(lock, kPatience, ready)) {
    if (!in_work_.empty()) break;
  }
  if (stopped_ || inbox_.empty()) return std::nullopt;
  counters_.wait_s +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Assignment assignment = inbox_.front();
  inbox_.pop_front();
  in_work_[{assignment.unit.task, assignment.unit.first_part}] = assignment;
  mail_.post(0, kTagAsk, {});  // the next one is on its way while this one is read
  return assignment.unit;
}

bool RankSource::more_later() const {
  const std::lock_guard lock(mutex_);
  return !stopped_ && (!no_more_ || !inbox_.empty());
}

void RankSource::changed(const Outcome& outcome) {
  if (is_in_work(outcome.state)) mail_.post(0, kTagState, to_bytes(outcome));
}

/// What was handed out of the task at this part, which is in nobody's hands from now on.
std::optional<Assignment> RankSource::take_back(std::size_t task, int first_part) {
  const std::lock_guard lock(mutex_);
  const auto it = in_work_.find({task, first_part});
  if (it == in_work_.end()) return std::nullopt;
  const Assignment assignment = it->second;
  in_work_.erase(it);
  return assignment;
}

bool RankSource::owns(const WorkUnit& unit) const {
  const std::lock_guard lock(mutex_);
  const auto it = in_work_.find({unit.task, unit.first_part});
  return it != in_work_.end() && it->second.owner == rank_;
}

void RankSource::finished(const Outcome& outcome) {
  const auto assignment = take_back(outcome.task, outcome.first_part);
  if (!assignment) return;  // a part: part_done() came before
  if (assignment->unit.last_part < 0) {
    task_done(outcome);
    return;
  }
  PartialTask part;
  part.unit = assignment->unit;
  part.outcome = outcome;
  pass_on(std::move(part), *assignment);
}

void RankSource::task_done(const Outcome& outcome) {
  Outcome signed_outcome = outcome;
  signed_outcome.rank = rank_;
  {
    const std::lock_guard lock(mutex_);
    ++counters_.tasks;
  }
  mail_.post(0, kTagOutcome, to_bytes(signed_outcome));
}

void RankSource::part_done(PartialTask part) {
  const auto assignment = take_back(part.unit.task, part.unit.first_part);
  if (!assignment) return;
  {
    const std::lock_guard lock(mutex_);
    ++counters_.parts;
  }
  pass_on(std::move(part), *assignment);
}

void RankSource::pass_on(PartialTask part, const Assignment& assignment) {
  part.round = assignment.round;
  WireWriter writer;
  writer(assignment);
  if (assignment.owner == rank_) {
    receive_part(std::move(part));
  } else {
    const WorkKind& kind = kinds_.of(tasks_.at(assignment.unit.task));
    mail_.post(assignment.owner, kTagPart, to_bytes(part, kind));
  }
  mail_.post(0, kTagPartEnd, writer.take());
}

void RankSource::set_joiner(TakePart take) {
  const std::lock_guard lock(joiner_mutex_);
  joiner_ = std::move(take);
}

void RankSource::deliver(const Assignment& assignment, Task task) {
  if (rank_ == 0) {  // whose list it is: one that is planned anew meanwhile must not go back
    tasks_.put(assignment.unit.task, std::move(task));
  } else {
    tasks_.learn(assignment.unit.task, std::move(task));
  }
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back(assignment);
  }
  changed_.notify_all();
}

void RankSource::receive_part(PartialTask part) {
  const std::lock_guard lock(joiner_mutex_);
  if (joiner_) joiner_(std::move(part));
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

}  // namespace loom::batch
