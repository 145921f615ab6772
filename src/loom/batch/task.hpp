// SPDX-License-Identifier: BSD-3-Clause
// The nouns of a batch: a task, a unit of work, what became of it. What a task is about only its
// work kind knows (work_kind.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loom/runtime/usage.hpp"

namespace loom::batch {

/// What a task carries for its work kind alone, and what that kind hands from stage to stage.
struct Opaque {
  Opaque() = default;
  Opaque(const Opaque&) = delete;
  Opaque& operator=(const Opaque&) = delete;
  virtual ~Opaque() = default;
};

/// What tells tasks apart for people: "night" = "20261121", "expid" = 12. Columns of the ledger,
/// members of receipts and of the status.
struct Label {
  std::string name;
  std::variant<std::string, long> value;
  friend bool operator==(const Label&, const Label&) = default;
};

/// A number that says how good a result is, for receipts, ledger and status: "chi2" = 1.02.
struct Measure {
  std::string name;
  double value = 0;
};

/// What else is to be told of a task that is done, in the order of its kind: a number or words.
using Fact = std::variant<double, std::string>;

/// One thing to be made of files: a frame's spectra, say. Paths are absolute where they must be.
struct Task {
  std::string name;  ///< unique in a run; names claims, receipts, rows: [A-Za-z0-9._-]
  std::string kind;  ///< name of its WorkKind
  std::vector<Label> labels;
  /// Files that it is made of; where one is another task's output that one is done first.
  std::vector<std::string> inputs;
  /// Files that it is made of as far as they are there, one of them at least where it has no
  /// `inputs`: waited for where tasks make them, and done without where these fail.
  std::vector<std::string> any_inputs;
  /// Is an input the same whose time alone has changed? Then receipts keep sums of inputs.
  bool by_content = false;
  std::vector<std::string> outputs;  ///< files that it makes; the last one to be there comes first
  std::string page;                  ///< made after them, and no part of what "done" means
  std::vector<std::string> after;    ///< names of further tasks that are done first
  /// Of several ranks only the first does it: it writes what processes on several machines must not
  /// write at once, a SQLite file say.
  bool on_first = false;
  /// What ranks can cut it into; counted where it is to be shared out (WorkKind::count_parts). 0:
  /// not counted
  int parts = 0;
  long priority = 0;                  ///< higher ones first, whatever they cost
  double cost_s = 1;                  ///< expected core-seconds; only the order depends on it
  std::uint64_t memory_bytes = 0;     ///< resident while in flight, estimated before it is read
  std::uint64_t workspace_bytes = 0;  ///< of each thread of a CPU that computes it, beside that
  /// page-locked, for each place of a device once
  std::uint64_t staging_bytes = 0;
  std::shared_ptr<const Opaque> content;  ///< what it is about
};

/// Must one of its `any_inputs` be there?
[[nodiscard]] inline bool needs_any(const Task& task) noexcept {
  return task.inputs.empty() && !task.any_inputs.empty();
}

/// Of the same files, into the same ones, by the same kind?
[[nodiscard]] inline bool is_made_alike(const Task& a, const Task& b) {
  return a.inputs == b.inputs && a.any_inputs == b.any_inputs && a.outputs == b.outputs &&
         a.after == b.after && a.kind == b.kind;
}

/// nullptr where there is none of that name.
[[nodiscard]] inline const Label* find_label(const std::vector<Label>& labels,
                                             const std::string& name) noexcept {
  for (const Label& label : labels) {
    if (label.name == name) return &label;
  }
  return nullptr;
}

/// Tasks that one waits for until they are settled, of which one alone has to succeed.
struct AnyOf {
  std::vector<std::size_t> tasks;
  bool enough = false;  ///< one that did is not among them

  friend bool operator==(const AnyOf&, const AnyOf&) = default;
};

/// A task, or some of its parts (when there are more workers than tasks).
struct WorkUnit {
  std::size_t task = 0;  ///< index in the list of tasks
  int first_part = 0;
  int last_part = -1;  ///< one past the last; -1: all of the task
  int parts = 0;       ///< of the whole task, where it is cut
};

enum class TaskState {
  kWaiting,
  kClaimed,  ///< in work in another run
  kReading,
  kComputing,
  kWriting,
  kDone,       ///< written in this run
  kUpToDate,   ///< was there, valid, from the same inputs, options and version
  kFailed,     ///< in quarantine: tried again only with --retry
  kMissing,    ///< an input is not there
  kAbandoned,  ///< stopped before it was finished; nothing is lost but time
  kBlocked,    ///< what it needs failed or is missing
};

/// "done", "failed", ...: the words used in the ledger and the status.
[[nodiscard]] std::string state_name(TaskState state);

/// Is its output there, as it should be?
[[nodiscard]] constexpr bool is_good(TaskState state) noexcept {
  return state == TaskState::kDone || state == TaskState::kUpToDate;
}
/// Will nothing more become of it in this run?
[[nodiscard]] constexpr bool is_settled(TaskState state) noexcept {
  return is_good(state) || state == TaskState::kFailed || state == TaskState::kMissing ||
         state == TaskState::kBlocked;
}
[[nodiscard]] constexpr bool is_in_work(TaskState state) noexcept {
  return state == TaskState::kReading || state == TaskState::kComputing ||
         state == TaskState::kWriting;
}

/// One attempt at a task, for whoever asks later why it is as it is.
struct Attempt {
  std::int64_t unix_s = 0;  ///< when it ended
  std::string host;
  long pid = 0;
  int rank = 0;
  int exit_code = 0;    ///< 0: it succeeded
  std::string message;  ///< of a failure
  friend bool operator==(const Attempt&, const Attempt&) = default;
};

/// What became of a task, and what it took.
struct Outcome {
  std::size_t task = 0;
  int first_part = 0;  ///< of its unit
  TaskState state = TaskState::kWaiting;
  int exit_code = 0;     ///< of Error, where it failed
  int system_error = 0;  ///< of Error, where it failed
  std::string message;   ///< one line, where it failed, or what a task that is done lacks
  int attempts = 1;
  int rank = 0;
  double start_s = 0, end_s = 0;  ///< since the start of the run
  StageTime read, compute, write;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  int parts = 0;  ///< of the task, where it is done
  std::uint32_t output_checksum = 0;
  std::vector<Measure> measures;  ///< of a result that is there; none in records of old
  std::vector<Fact> facts;        ///< of a task that is done in this run
  std::string page;               ///< path as in receipts; empty where there is none
  std::vector<Attempt> tried;     ///< of this run and process, that failed before this one
};

/// Of a task that cannot be done since `needed` failed or is missing.
[[nodiscard]] Outcome blocked_outcome(std::size_t task, const std::string& needed);

/// Where a process gets its work: a list, a watched folder, or a queue over MPI.
class WorkSource {
 public:
  virtual ~WorkSource() = default;
  /// The next unit; waits a while if there may be more. nullopt: none, ask more_later(). Called
  /// from one thread at a time, one that does I/O.
  virtual std::optional<WorkUnit> next() = 0;
  /// Did next() say that there is none only for now? It must not wait for ever: who asked has other
  /// things to look after, a task to try again or a fault that ends the run.
  [[nodiscard]] virtual bool more_later() const { return false; }
  /// Takes what became of a unit of next(). Called from any thread.
  virtual void finished(const Outcome& outcome) = 0;
};

}  // namespace loom::batch
