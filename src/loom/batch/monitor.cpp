// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/batch/shared_ledger.hpp"
#include "loom/page/page.hpp"

namespace loom::batch {
namespace {

constexpr std::size_t kMostSamples = 400;
constexpr double kProgressEvery_s = 0.5;

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

Monitor::Monitor(const TaskList& tasks, const WorkKinds& kinds, const RunFolder& folder,
                 MonitorOptions options, Observer observer, Progress progress)
    : tasks_(tasks),
      kinds_(kinds),
      folder_(folder),
      options_(std::move(options)),
      observer_(std::move(observer)),
      progress_(std::move(progress)),
      started_unix_s_(static_cast<std::int64_t>(std::time(nullptr))) {
  if (options_.keep == KeepFiles::kNo) return;
  if (!options_.state.empty()) {  // asked for: where it cannot be, the run does not begin
    ledger_ = std::make_unique<SharedLedger>(options_.state, folder_);
    return;
  }
  try {
    ledger_ = Ledger::open(folder_.ledger(), options_.ledger);
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

void Monitor::announce(const Outcome& o) const {
  const std::string& name = tasks_.at(o.task).name;
  if (is_settled(o.state) && !is_good(o.state)) {
    observer_.log(LogLevel::kError, name + ": " + state_name(o.state) + ": " + o.message);
  } else if (is_good(o.state) && !o.message.empty()) {  // there, but not all that was asked for
    observer_.warn(name + ": " + o.message);
  } else if (o.state == TaskState::kDone) {
    observer_.log(LogLevel::kDebug, name + ": done");
  } else if (o.state == TaskState::kClaimed) {
    observer_.info(name + ": " + o.message);
  }
}

void Monitor::changed(const Outcome& outcome) {
  bool news = false;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = outcomes_.size(); i <= outcome.task; ++i) {
      outcomes_.emplace_back();
      outcomes_.back().task = i;
    }
    news = outcomes_[outcome.task].state != outcome.state;
    outcomes_[outcome.task] = outcome;
    last_change_s_ = now_s();
    if (is_settled(outcome.state) || wants_all()) dirty_.insert(outcome.task);
  }
  if (news) announce(outcome);
}

void Monitor::start(std::function<StageLoad()> load) {
  load_ = std::move(load);
  if (wants_all()) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < tasks_.size(); ++i) dirty_.insert(i);
  }
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
  write_last_rows();
  write_files();
}

/// A server that is just being started again gets a while to come back.
void Monitor::write_last_rows() {
  constexpr double kPatience_s = 15;
  const double last = now_s() + kPatience_s;
  while (!write_ledger() && wants_all() && now_s() < last) {
    if (observer_.stop_requested && observer_.stop_requested()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

/// A disk or a file server that hangs keeps a run that was told to stop: name the tasks.
void Monitor::tell_if_stuck() {
  if (!observer_.stop_requested || !observer_.stop_requested()) return;
  std::string names;
  {
    const std::lock_guard lock(mutex_);
    const double now = now_s();
    if (!asked_to_stop_) last_change_s_ = now;
    asked_to_stop_ = true;
    if (now - last_change_s_ < options_.stuck_s) return;
    last_change_s_ = now;  // say it again after as long
    for (const Outcome& o : outcomes_) {
      if (!is_in_work(o.state)) continue;
      names +=
          (names.empty() ? "" : ", ") + tasks_.at(o.task).name + " (" + state_name(o.state) + ")";
    }
  }
  observer_.warn("told to stop, but nothing has moved for " +
                 std::to_string(std::lround(options_.stuck_s)) +
                 " s; in work: " + (names.empty() ? "nothing" : names) +
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
  for (const Outcome& o : outcomes_) {
    s.done += o.state == TaskState::kDone;
    s.failed += o.state == TaskState::kFailed;
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

LedgerRow Monitor::row_of(const Outcome& o) const {
  const Task& task = tasks_.at(o.task);
  if (is_good(o.state)) {
    if (const auto receipt = read_receipt(folder_, task.name)) return to_row(*receipt);
  }
  if (o.state == TaskState::kFailed) {
    if (const auto failure = read_failure(folder_, task.name)) return to_row(*failure);
  }
  LedgerRow row;
  row.name = task.name;
  row.labels = task.labels;
  row.state = state_name(o.state);
  row.message = o.message;
  row.exit_code = o.exit_code;
  row.inputs = task.inputs;
  row.version = folder_.program().version;
  row.options = kinds_.of(task).fingerprint(task);
  return row;
}

bool Monitor::write_ledger() {
  std::vector<Outcome> fresh;
  {
    const std::lock_guard lock(mutex_);
    for (const std::size_t task : dirty_) {
      fresh.push_back(task < outcomes_.size() ? outcomes_[task] : Outcome{});
      fresh.back().task = task;
    }
    dirty_.clear();
  }
  if (!ledger_ || fresh.empty()) return true;
  std::vector<LedgerRow> rows;
  for (const Outcome& outcome : fresh) rows.push_back(row_of(outcome));
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
    for (const Outcome& outcome : fresh) dirty_.insert(outcome.task);  // once more later
    return false;
  }
  return true;
}

void Monitor::write_files() {
  if (options_.keep == KeepFiles::kNo || !options_.files) return;
  try {
    for (const StatusFile& file : options_.files(status())) {
      write_text_file(folder_.output() + "/" + file.name, file.text);
    }
  } catch (const Error&) {  // a full disk is told of by who does the tasks
  }
}

void Monitor::fill_rates(RunStatus& s) const {
  double done_cost = 0, left_cost = 0;
  int done = 0;
  double last_end = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const TaskState state = i < outcomes_.size() ? outcomes_[i].state : TaskState::kWaiting;
    if (state == TaskState::kDone) {
      done_cost += tasks_.at(i).cost_s;
      ++done;
      last_end = std::max(last_end, outcomes_[i].end_s);
    } else if (!is_settled(state)) {
      left_cost += tasks_.at(i).cost_s;
    }
  }
  if (done == 0) return;
  const double elapsed = options_.watching || finished_ ? std::max(last_end, 1e-3) : s.elapsed_s;
  s.tasks_per_node_hour = 3600.0 * done / elapsed / options_.nodes;
  s.tasks_per_minute = 60.0 * done / elapsed;
  s.left_s = left_cost / done_cost * s.elapsed_s;
}

RunStatus Monitor::status() const {
  const std::lock_guard lock(mutex_);
  RunStatus s;
  s.title = options_.title;
  s.program = folder_.program().name + " " + folder_.program().version;
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
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const Task& task = tasks_.at(i);
    StatusTask f;
    f.name = task.name;
    f.labels = task.labels;
    if (i < outcomes_.size()) {
      const Outcome& o = outcomes_[i];
      f.state = o.state;
      f.message = o.message;
      f.exit_code = o.exit_code;
      f.attempts = o.attempts;
      f.rank = o.rank;
      f.measures = o.measures;
      if (!o.page.empty()) f.page = link_to(folder_, o.page);
      f.seconds = std::max(0.0, (is_in_work(o.state) ? s.elapsed_s : o.end_s) - o.start_s);
      s.bytes_in += o.bytes_in;
      s.bytes_out += o.bytes_out;
    }
    s.tasks.push_back(std::move(f));
  }
  const auto before = [&](const StatusTask& a, const StatusTask& b) {
    for (const std::string& name : options_.order) {
      const Label *const x = find_label(a.labels, name), *const y = find_label(b.labels, name);
      if (x == nullptr || y == nullptr || x->value == y->value) continue;
      return x->value < y->value;
    }
    return false;
  };
  std::stable_sort(s.tasks.begin(), s.tasks.end(), before);
  fill_rates(s);
  return s;
}

std::vector<Outcome> Monitor::outcomes() const {
  const std::lock_guard lock(mutex_);
  std::vector<Outcome> all = outcomes_;
  for (std::size_t i = all.size(); i < tasks_.size(); ++i) {
    all.emplace_back();
    all.back().task = i;
  }
  return all;
}

}  // namespace loom::batch
