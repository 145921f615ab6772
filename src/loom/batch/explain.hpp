// SPDX-License-Identifier: BSD-3-Clause
// Why a task is done, waits, failed or is held back: from what a run folder knows, without the
// run. Reads, never writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loom/batch/plan_file.hpp"
#include "loom/batch/receipt.hpp"
#include "loom/batch/run.hpp"

namespace loom::batch {

/// What will become of a task, as far as it can be known before: nothing that is to be made of what
/// is to be made again stays as it is.
struct Forecast {
  enum class State { kGood, kToDo, kFailed, kMissing, kBlocked } state = State::kGood;
  /// The first of its needs that keeps it from being good, or being begun: one that lacks where it
  /// is blocked, else one to do.
  std::optional<std::size_t> because;

  [[nodiscard]] bool lacks() const noexcept { return state > State::kToDo; }
};

/// Of each task of the plan. `retry` > 0: what failed is tried again.
[[nodiscard]] std::vector<Forecast> forecast(const BatchPlan& plan, int retry);
/// "up-to-date", "to do", "failed", "missing", "blocked".
[[nodiscard]] std::string forecast_name(Forecast::State state);

/// An input against the record of the last attempt.
struct InputNews {
  enum class State {
    kSame,
    kSameContent,  ///< under another time
    kChanged,
    kNew,   ///< not among those of that attempt, or there was none
    kGone,  ///< is not there
  } state = State::kSame;
  std::string path;
  std::string made_by;                     ///< a task; empty: nobody's
  std::optional<std::uint32_t> then, now;  ///< CRC-32, where known
};
[[nodiscard]] std::string news_name(InputNews::State state);

/// A task that stands between another one and its being done.
struct Cause {
  std::string name, state, message;
};

struct Explanation {
  Task task;          ///< as it was planned last
  std::string state;  ///< "done", "to do", "waiting", "in work", "failed", "missing", "blocked"
  std::string message;
  std::vector<Cause> causes;  ///< each is because of the next; the last is the root
  std::size_t unmet = 0;      ///< of all its needs, those that are not done
  std::vector<InputNews> inputs;
  std::vector<std::string> no_more;  ///< inputs of the last attempt that it is not made of now
  std::vector<Attempt> attempts;     ///< oldest first
};

/// Throws kNotFound: there is no plan in the folder, or no such task; the message has names like
/// it.
[[nodiscard]] Explanation explain_task(const RunFolder& folder, const std::string& name);

/// A task in the overview of a folder.
struct Standing {
  Task task;
  std::string state, message;
  std::string root;  ///< of a task that is blocked: the one that failed or lacks an input
};
/// Of all tasks of the folder's plan. Throws kNotFound where there is none.
[[nodiscard]] std::vector<Standing> stand_of_tasks(const RunFolder& folder);

}  // namespace loom::batch
