// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::night {
namespace {

constexpr std::size_t kMostSamples = 400;
constexpr double kProgressEvery_s = 0.5;

bool settled(FrameState state) {
  return state == FrameState::kDone || state == FrameState::kUpToDate ||
         state == FrameState::kFailed || state == FrameState::kMissing;
}

bool in_work(FrameState state) {
  return state == FrameState::kReading || state == FrameState::kComputing ||
         state == FrameState::kWriting;
}

/// A path as receipts keep it, as seen from OUT/status.html.
std::string link_to(const RunFolder& folder, const std::string& path) {
  namespace fs = std::filesystem;
  if (fs::path(path).is_relative()) return page::url_of_path(path);
  const fs::path from = fs::absolute(folder.output()).lexically_normal();
  return page::url_of_path(fs::path(path).lexically_relative(from).string());
}

double busy_fraction(double now, double before, double seconds, std::size_t threads) {
  if (seconds <= 0 || threads == 0) return 0;
  return std::clamp((now - before) / seconds / static_cast<double>(threads), 0.0, 1.0);
}

}  // namespace

Monitor::Monitor(const TaskList& tasks, const RunFolder& folder, MonitorOptions options,
                 Observer observer, Progress progress)
    : tasks_(tasks),
      folder_(folder),
      options_(std::move(options)),
      observer_(std::move(observer)),
      progress_(std::move(progress)),
      started_unix_s_(static_cast<std::int64_t>(std::time(nullptr))) {
  if (options_.keep == KeepFiles::kNo) return;
  try {
    ledger_ = Ledger::open(folder_.ledger());
  } catch (const Error& error) {
    warnings_.push_back(std::string(error.what()) + " (the run goes on without it)");
    observer_.warn(warnings_.back());
  }
}

Monitor::~Monitor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
}

double Monitor::now_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - options_.start).count();
}

void Monitor::announce(const FrameOutcome& o) const {
  const std::string& name = tasks_.at(o.frame).name;
  if (o.state == FrameState::kFailed || o.state == FrameState::kMissing) {
    observer_.log(LogLevel::kError, name + ": " + state_name(o.state) + ": " + o.message);
  } else if ((o.state == FrameState::kDone || o.state == FrameState::kUpToDate) &&
             !o.message.empty()) {  // there, but not all that was asked for
    observer_.warn(name + ": " + o.message);
  } else if (o.state == FrameState::kDone) {
    observer_.log(LogLevel::kDebug, name + ": done");
  } else if (o.state == FrameState::kClaimed) {
    observer_.info(name + ": " + o.message);
  }
}

void Monitor::changed(const FrameOutcome& outcome) {
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = outcomes_.size(); i <= outcome.frame; ++i) {
      outcomes_.emplace_back();
      outcomes_.back().frame = i;
    }
    news = outcomes_[outcome.frame].state != outcome.state;
    outcomes_[outcome.frame] = outcome;
    last_change_s_ = now_s();
    if (settled(outcome.state)) dirty_.insert(outcome.frame);
  }
  if (news) announce(outcome);
}

void Monitor::start(std::function<StageLoad()> load) {
  load_ = std::move(load);
  thread_ = std::thread([this] { loop(); });
}

/// What the monitor's own thread does a few times a second; `next_files`: when files are due again.
void Monitor::look(double& next_files) {
  if (now_s() >= next_files) {
    next_files = now_s() + options_.interval_s;  // also where one of these throws
    sample();
    write_ledger();
    write_files();
    next_files = now_s() + options_.interval_s;
  }
  if (progress_) progress_(status());
  tell_if_stuck();
}

void Monitor::loop() {
  double next_files = 0;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    try {
      look(next_files);
    } catch (const std::bad_alloc&) {  // once more at the next look
    }
    lock.lock();
    stop_.wait_for(lock, std::chrono::duration<double>(kProgressEvery_s),
                   [this] { return stopping_; });
  }
}

void Monitor::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = finished_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
  sample();
  write_ledger();
  write_files();
}

/// A disk or a file server that hangs keeps a run that was told to stop: name the frames.
void Monitor::tell_if_stuck() {
  if (!observer_.stop_requested || !observer_.stop_requested()) return;
  std::string frames;
  {
    const std::lock_guard lock(mutex_);
    const double now = now_s();
    if (!asked_to_stop_) last_change_s_ = now;
    asked_to_stop_ = true;
    if (now - last_change_s_ < options_.stuck_s) return;
    last_change_s_ = now;  // say it again after as long
    for (const FrameOutcome& o : outcomes_) {
      if (!in_work(o.state)) continue;
      frames +=
          (frames.empty() ? "" : ", ") + tasks_.at(o.frame).name + " (" + state_name(o.state) + ")";
    }
  }
  observer_.warn("told to stop, but nothing has moved for " +
                 std::to_string(std::lround(options_.stuck_s)) +
                 " s; in work: " + (frames.empty() ? "nothing" : frames) +
                 ". A second signal ends the process; the same command does the rest");
}

void Monitor::sample() {
  if (!load_) return;
  const StageLoad load = load_();
  const std::lock_guard lock(mutex_);
  StatusSample s;
  s.t_s = now_s();
  const double seconds = s.t_s - last_sample_s_;
  s.read = busy_fraction(load.read_s, last_load_.read_s, seconds, load.readers);
  s.compute = busy_fraction(load.compute_s, last_load_.compute_s, seconds, load.threads);
  s.write = busy_fraction(load.write_s, last_load_.write_s, seconds, load.writers);
  s.queue = static_cast<double>(load.to_compute);
  for (const FrameOutcome& o : outcomes_) {
    s.done += o.state == FrameState::kDone;
    s.failed += o.state == FrameState::kFailed;
  }
  samples_.push_back(s);
  if (samples_.size() > kMostSamples) {  // every second one tells as much of a long run
    std::size_t kept = 0;
    for (std::size_t i = 1; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
    samples_.resize(kept);
  }
  last_load_ = load;
  last_sample_s_ = s.t_s;
}

LedgerRow Monitor::row_of(const FrameOutcome& o) const {
  const FrameTask& task = tasks_.at(o.frame);
  if (o.state == FrameState::kDone || o.state == FrameState::kUpToDate) {
    if (const auto receipt = read_receipt(folder_.receipt(task.name))) return to_row(*receipt);
  }
  if (o.state == FrameState::kFailed) {
    if (const auto failure = read_failure(folder_.failure(task.name))) return to_row(*failure);
  }
  LedgerRow row;
  row.name = task.name;
  row.night = task.night;
  row.camera = task.camera;
  row.expid = task.expid;
  row.state = state_name(o.state);
  row.message = o.message;
  row.exit_code = o.exit_code;
  row.image = task.job.image;
  row.psf = task.job.psf;
  row.version = version();
  row.options = options_text(task.job);
  return row;
}

void Monitor::write_ledger() {
  std::vector<FrameOutcome> fresh;
  {
    const std::lock_guard lock(mutex_);
    for (const std::size_t frame : dirty_) fresh.push_back(outcomes_[frame]);
    dirty_.clear();
  }
  if (!ledger_ || fresh.empty()) return;
  std::vector<LedgerRow> rows;
  for (const FrameOutcome& outcome : fresh) rows.push_back(row_of(outcome));
  try {
    ledger_->put(rows);
  } catch (const Error& error) {
    const std::lock_guard lock(mutex_);
    const std::string text = std::string(error.what()) +
                             " (the run goes on; --rebuild-ledger "
                             "makes it whole)";
    if (warnings_.empty() || warnings_.back() != text) {
      warnings_.push_back(text);
      observer_.warn(text);
    }
    for (const FrameOutcome& outcome : fresh) dirty_.insert(outcome.frame);  // once more later
  }
}

void Monitor::write_files() {
  if (options_.keep == KeepFiles::kNo) return;
  try {
    const NightStatus now = status();
    write_text_file(folder_.output() + "/status.json", status_json(now));
    write_text_file(folder_.output() + "/status.html", status_html(now));
  } catch (const Error&) {  // a full disk is told of by who writes frames
  }
}

void Monitor::fill_rates(NightStatus& s) const {
  double done_cost = 0, left_cost = 0;
  int done = 0;
  double last_end = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const FrameState state = i < outcomes_.size() ? outcomes_[i].state : FrameState::kWaiting;
    if (state == FrameState::kDone) {
      done_cost += tasks_.at(i).cost_s;
      ++done;
      last_end = std::max(last_end, outcomes_[i].end_s);
    } else if (!settled(state)) {
      left_cost += tasks_.at(i).cost_s;
    }
  }
  if (done == 0) return;
  const double elapsed = options_.watching || finished_ ? std::max(last_end, 1e-3) : s.elapsed_s;
  s.frames_per_node_hour = 3600.0 * done / elapsed / options_.nodes;
  s.frames_per_minute = 60.0 * done / elapsed;
  s.left_s = left_cost / done_cost * s.elapsed_s;
}

NightStatus Monitor::status() const {
  const std::lock_guard lock(mutex_);
  NightStatus s;
  s.title = options_.title;
  s.program = "fiberloom " + std::string(version());
  s.host = this_process().host;
  s.started_unix_s = started_unix_s_;
  s.updated_unix_s = static_cast<std::int64_t>(std::time(nullptr));
  s.finished = finished_;
  s.watching = options_.watching && !finished_;
  s.ranks = options_.ranks;
  s.threads = options_.threads;
  s.elapsed_s = now_s();
  s.memory_bytes = last_load_.memory_bytes;
  s.memory_budget_bytes = last_load_.memory_budget_bytes;
  s.samples = samples_;
  s.warnings = warnings_;
  s.limits = options_.limits;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const FrameTask& task = tasks_.at(i);
    StatusFrame f;
    f.name = task.name;
    f.night = task.night;
    f.camera = task.camera;
    f.expid = task.expid;
    if (i < outcomes_.size()) {
      const FrameOutcome& o = outcomes_[i];
      f.state = o.state;
      f.message = o.message;
      f.exit_code = o.exit_code;
      f.attempts = o.attempts;
      f.rank = o.rank;
      f.quality = o.quality;
      if (!o.report.empty()) f.report = link_to(folder_, o.report);
      f.seconds = std::max(0.0, (in_work(o.state) ? s.elapsed_s : o.end_s) - o.start_s);
      s.bytes_in += o.bytes_in;
      s.bytes_out += o.bytes_out;
    }
    s.frames.push_back(std::move(f));
  }
  std::stable_sort(s.frames.begin(), s.frames.end(),
                   [](const StatusFrame& a, const StatusFrame& b) {
                     return a.expid != b.expid ? a.expid < b.expid : a.camera < b.camera;
                   });
  fill_rates(s);
  return s;
}

std::vector<FrameOutcome> Monitor::outcomes() const {
  const std::lock_guard lock(mutex_);
  std::vector<FrameOutcome> all = outcomes_;
  for (std::size_t i = all.size(); i < tasks_.size(); ++i) {
    all.emplace_back();
    all.back().frame = i;
  }
  return all;
}

}  // namespace fiberloom::night
