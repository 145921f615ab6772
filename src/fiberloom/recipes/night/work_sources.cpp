// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/work_sources.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/recipes/night/fault.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::night {
namespace {

using namespace std::chrono_literals;

constexpr auto kAskAgain = 1s;     // whether another run has finished what it claimed
constexpr auto kNotice = 100ms;    // until a stop is noticed
constexpr double kRarest_s = 600;  // between attempts at a frame that the machine fails

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
                         const Observer& observer, Admit admit)
    : request_(std::move(request)),
      tasks_(tasks),
      options_(options),
      observer_(observer),
      admit_(std::move(admit)) {}

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
  FrameRequest request = request_;
  {
    const std::lock_guard lock(mutex_);
    ready_.insert(ready_.end(), later_.begin(), later_.end());
    later_.clear();
    for (auto& [frame, failed] : failed_) {
      if (failed.again && *failed.again <= Clock::now()) {
        failed.again.reset();
        ready_.push_back(frame);
      } else {
        request.skip.erase(tasks_.at(frame).name);  // its files may have changed
      }
    }
  }
  std::vector<FrameTask> found;
  try {
    found = find_frames(request);
    last_warning_.clear();
  } catch (const Error& error) {  // a folder that is not there yet, say
    if (last_warning_ != error.what()) observer_.warn(error.what());
    last_warning_ = error.what();
  }
  take(std::move(found));
}

/// What is complete of it: frames that are new, or that failed and have other files now.
void WatchSource::take(std::vector<FrameTask> found) {
  std::vector<FrameTask> fresh;
  for (FrameTask& task : found) {
    const auto known = taken_.find(task.name);
    InputStamps stamps = stamp_inputs(task.job);
    if (known != taken_.end() && stamps == known->second.stamps) continue;
    if (!settled(task)) continue;
    seen_.erase(task.name);
    if (known == taken_.end()) {
      fresh.push_back(std::move(task));
    } else {
      known->second.stamps = std::move(stamps);
      take_again(known->second.frame);
    }
  }
  if (!fresh.empty() && admit_) admit_(fresh);
  for (FrameTask& task : fresh) {
    request_.skip.insert(task.name);
    InputStamps stamps = stamp_inputs(task.job);
    const std::string name = task.name;
    const std::size_t frame = tasks_.add(std::move(task));
    taken_[name] = {frame, std::move(stamps)};
    ready_.push_back(frame);
  }
}

void WatchSource::take_again(std::size_t frame) {
  const std::lock_guard lock(mutex_);
  failed_.erase(frame);
  ready_.push_back(frame);
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
  const Status status{outcome.exit_code};
  const bool again = outcome.state == FrameState::kClaimed ||
                     outcome.state == FrameState::kMissing ||
                     (outcome.state == FrameState::kFailed && status == Status::kChanged);
  if (again) {
    later_.push_back(outcome.frame);
  } else if (outcome.state == FrameState::kFailed) {
    Failed& failed = failed_[outcome.frame];
    if (fault_of(status, outcome.system_error) == Fault::kMachine) {
      const double wait = std::min(options_.poll_s * std::exp2(++failed.times), kRarest_s);
      failed.again = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(wait));
    }
  } else {
    failed_.erase(outcome.frame);
  }
  changed_.notify_all();
}

}  // namespace fiberloom::night
