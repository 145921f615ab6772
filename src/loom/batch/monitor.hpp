// SPDX-License-Identifier: BSD-3-Clause
// Who watches a run: collects what becomes of the tasks, and tells the ledger, the status files
// and whoever listens, every two seconds. The run never waits for it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "loom/batch/ledger.hpp"
#include "loom/batch/pipeline.hpp"
#include "loom/batch/run_status.hpp"

namespace loom::batch {

/// Whether this process keeps ledger and status files: one alone does, that holds the claim.
enum class KeepFiles { kNo, kYes };

struct MonitorOptions {
  std::string title;
  std::vector<std::string> order;  ///< labels by which the status sorts tasks, the first first
  LedgerShape ledger;
  std::string state;  ///< URL of a database in place of the folder's ledger; empty: none
  /// The files that tell of the run, written anew every interval.
  std::function<std::vector<StatusFile>(const RunStatus&)> files;
  KeepFiles keep = KeepFiles::kYes;
  double interval_s = 2;
  int ranks = 1, threads = 1;  ///< of the whole job; threads of all ranks
  double nodes = 1;            ///< machines, for "tasks a node-hour"
  bool watching = false;
  double stuck_s = 60;  ///< told to stop, and nothing has moved for so long: say what is in the way
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

class Monitor {
 public:
  using Progress = std::function<void(const RunStatus&)>;

  Monitor(const TaskList& tasks, const WorkKinds& kinds, const RunFolder& folder,
          MonitorOptions options, Observer observer, Progress progress);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor();

  /// Takes a task's new state; from any thread.
  void changed(const Outcome& outcome);
  /// Starts looking at the stages. `load` is asked from another thread until finish().
  void start(std::function<StageLoad()> load);
  /// Last ledger rows, last status files ("finished"). May be called once.
  void finish();

  [[nodiscard]] bool keeps_files() const noexcept { return options_.keep == KeepFiles::kYes; }
  [[nodiscard]] RunStatus status() const;
  /// By number of task; tasks never heard of are waiting.
  [[nodiscard]] std::vector<Outcome> outcomes() const;

 private:
  void loop();
  void look(double& next_files);
  void sample();
  void write_files();
  /// True when nothing is left to be written.
  bool write_ledger();
  void write_last_rows();
  void tell_if_stuck();
  [[nodiscard]] bool wants_all() const { return ledger_ && ledger_->wants_all(); }
  [[nodiscard]] double now_s() const;
  [[nodiscard]] LedgerRow row_of(const Outcome& outcome) const;
  void announce(const Outcome& outcome) const;
  void fill_rates(RunStatus& status) const;

  const TaskList& tasks_;
  const WorkKinds& kinds_;
  const RunFolder& folder_;
  MonitorOptions options_;
  Observer observer_;
  Progress progress_;
  std::function<StageLoad()> load_;
  std::unique_ptr<Ledger> ledger_;
  std::int64_t started_unix_s_;

  mutable std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false, finished_ = false;
  std::vector<Outcome> outcomes_;
  std::set<std::size_t> dirty_;  ///< tasks whose ledger row is to be written
  std::vector<StatusSample> samples_;
  std::vector<std::string> warnings_;
  double last_change_s_ = 0;  ///< of a task's state, or of the wish to stop
  bool asked_to_stop_ = false;
  StageLoad last_load_;
  double last_sample_s_ = 0;
  std::thread thread_;
};

}  // namespace loom::batch
