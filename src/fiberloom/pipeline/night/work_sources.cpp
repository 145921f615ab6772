// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/pipeline/night/work_sources.hpp"

#include <algorithm>

#include "fiberloom/base/error.hpp"

namespace fiberloom::night {
namespace {

using namespace std::chrono_literals;

constexpr auto kAskAgain = 1s;   // whether another run has finished what it claimed
constexpr auto kNotice = 100ms;  // until a stop is noticed

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

ListSource::ListSource(std::vector<std::size_t> frames, std::function<bool()> stop_requested)
    : waiting_(frames.begin(), frames.end()), stop_(std::move(stop_requested)) {}

std::optional<WorkUnit> ListSource::next() {
  std::unique_lock lock(mutex_);
  if (waiting_.empty() && !elsewhere_.empty()) {
    const auto due = std::chrono::steady_clock::now() + kAskAgain;
    while (std::chrono::steady_clock::now() < due) {
      if (stop_ && stop_()) return std::nullopt;
      changed_.wait_for(lock, kNotice);
    }
    waiting_.swap(elsewhere_);
  }
  if (waiting_.empty()) return std::nullopt;
  const std::size_t frame = waiting_.front();
  waiting_.pop_front();
  return WorkUnit{frame};
}

void ListSource::finished(const FrameOutcome& outcome) {
  if (outcome.state != FrameState::kClaimed) return;
  const std::lock_guard lock(mutex_);
  elsewhere_.push_back(outcome.frame);
}

WatchSource::WatchSource(FrameRequest request, TaskList& tasks, const WatchOptions& options,
                         const Observer& observer)
    : request_(std::move(request)), tasks_(tasks), options_(options), observer_(observer) {}

std::optional<WorkUnit> WatchSource::next() {
  const bool stop = observer_.stop_requested && observer_.stop_requested();
  if (!stop && (seconds(Clock::now() - last_look_) >= options_.poll_s ||
                last_look_ == Clock::time_point{})) {
    look();
    last_look_ = Clock::now();
  }
  const auto unit = stop ? std::nullopt : newest();
  std::unique_lock lock(mutex_);
  if (unit) {
    ++in_work_;
    return unit;
  }
  if (in_work_ > 0 || !seen_.empty()) last_work_ = Clock::now();
  ended_ = stop || (options_.idle_s >= 0 && seconds(Clock::now() - last_work_) > options_.idle_s);
  if (!ended_) changed_.wait_for(lock, kNotice);
  return std::nullopt;
}

bool WatchSource::more_later() const {
  const std::lock_guard lock(mutex_);
  return !ended_;
}

std::optional<WorkUnit> WatchSource::newest() {
  if (ready_.empty()) return std::nullopt;
  const auto best =
      std::max_element(ready_.begin(), ready_.end(), [&](std::size_t a, std::size_t b) {
        const FrameTask &x = tasks_.at(a), &y = tasks_.at(b);
        return x.expid != y.expid ? x.expid < y.expid : x.cost_s < y.cost_s;
      });
  const std::size_t frame = *best;
  ready_.erase(best);
  return WorkUnit{frame};
}

void WatchSource::look() {
  {
    const std::lock_guard lock(mutex_);
    ready_.insert(ready_.end(), later_.begin(), later_.end());
    later_.clear();
  }
  try {
    for (FrameTask& task : find_frames(request_)) {
      if (!settled(task)) continue;
      seen_.erase(task.name);
      request_.skip.insert(task.name);
      ready_.push_back(tasks_.add(std::move(task)));
    }
    last_warning_.clear();
  } catch (const Error& error) {  // a folder that is not there yet, say
    if (last_warning_ != error.what()) observer_.warn(error.what());
    last_warning_ = error.what();
  }
}

/// All inputs there, and unchanged for long enough.
bool WatchSource::settled(const FrameTask& task) {
  InputStamps stamps = stamp_inputs(task.job);
  const auto now = Clock::now();
  const bool complete = stamps.missing.empty();
  const auto [seen, fresh] = seen_.try_emplace(task.name, Seen{stamps, now});
  if (!fresh && seen->second.stamps != stamps) seen->second = {std::move(stamps), now};
  return complete && seconds(now - seen->second.since) >= options_.settle_s;
}

void WatchSource::finished(const FrameOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  --in_work_;
  last_work_ = Clock::now();
  const bool again = outcome.state == FrameState::kClaimed ||
                     outcome.state == FrameState::kMissing ||
                     (outcome.state == FrameState::kFailed &&
                      outcome.exit_code == static_cast<int>(Status::kChanged));
  if (again) later_.push_back(outcome.frame);
  changed_.notify_all();
}

}  // namespace fiberloom::night
