// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/explain.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <unordered_map>

#include "loom/base/error.hpp"
#include "loom/batch/claims.hpp"
#include "loom/files/input_file.hpp"

namespace loom::batch {
namespace {

/// Stands for the kinds of a plan: it knows what they said of their options, and does no work.
class RecordedKind final : public WorkKind {
 public:
  RecordedKind(std::string name, const std::unordered_map<std::string, std::string>& options)
      : name_(std::move(name)), options_(options) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string fingerprint(const Task& task) const override {
    return options_.at(task.name);
  }
  [[nodiscard]] std::unique_ptr<Opaque> read(const Task&, const Observer&, Tracer*) override {
    refuse();
  }
  [[nodiscard]] std::unique_ptr<Opaque> compute(const Task&, const WorkUnit&, Opaque&, Executor&,
                                                const Observer&, Tracer*, Outcome&) override {
    refuse();
  }
  void write(const Task&, Opaque&, std::vector<std::unique_ptr<Opaque>>, Tracer*,
             Outcome&) const override {
    refuse();
  }
  void send(WireWriter&, const Opaque&) const override { refuse(); }
  [[nodiscard]] std::shared_ptr<const Opaque> receive(WireReader&) const override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw Error(Status::kInternal, "a task of a record cannot be done");
  }
  std::string name_;
  const std::unordered_map<std::string, std::string>& options_;
};

/// The folder's plan as of now, of the tasks given.
BatchPlan plan_again(const RunFolder& folder, const std::vector<PlannedTask>& planned,
                     const std::vector<std::size_t>& chosen) {
  std::unordered_map<std::string, std::string> options;
  std::set<std::string> names;
  std::vector<Task> tasks;
  for (const std::size_t i : chosen) {
    const Task& task = planned[i].task;
    options[task.name] = planned[i].options;
    names.insert(task.kind);
    tasks.push_back(task);
    tasks.back().page.clear();
  }
  std::vector<std::shared_ptr<WorkKind>> kinds;
  for (const std::string& name : names)
    kinds.push_back(std::make_shared<RecordedKind>(name, options));
  return plan_batch(std::move(tasks), WorkKinds(std::move(kinds)), folder, Check::kStamps);
}

/// Numbers of tasks by name, and by what they make.
struct Directory {
  explicit Directory(const std::vector<PlannedTask>& planned) {
    for (std::size_t i = 0; i < planned.size(); ++i) {
      by_name.emplace(planned[i].task.name, i);
      for (const std::string& path : planned[i].task.outputs) maker.emplace(path, i);
    }
  }
  std::unordered_map<std::string, std::size_t> by_name, maker;
};

/// The task and all that it needs, by way of others too, ascending.
std::vector<std::size_t> with_needs(const std::vector<PlannedTask>& planned,
                                    const Directory& directory, std::size_t task) {
  std::set<std::size_t> found{task};
  std::vector<std::size_t> queue{task};
  const auto add = [&](const auto& map, const std::string& key) {
    const auto at = map.find(key);
    if (at != map.end() && found.insert(at->second).second) queue.push_back(at->second);
  };
  for (std::size_t k = 0; k < queue.size(); ++k) {
    const Task& next = planned[queue[k]].task;
    for (const std::string& path : next.inputs) add(directory.maker, path);
    for (const std::string& path : next.any_inputs) add(directory.maker, path);
    for (const std::string& name : next.after) add(directory.by_name, name);
  }
  return {found.begin(), found.end()};
}

/// Letters to put in, take out or change to make one name of the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t change = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({change, row[k] + 1, diagonal + 1});
    }
  }
  return row.back();
}

[[noreturn]] void unknown_task(const RunFolder& folder, const std::vector<PlannedTask>& planned,
                               const std::string& name) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const PlannedTask& p : planned) near.emplace_back(distance(name, p.task.name), p.task.name);
  const auto shown = std::min(kShown, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(shown), near.end());
  std::string names;
  for (std::size_t i = 0; i < shown; ++i) names += (i > 0 ? ", " : "") + near[i].second;
  throw Error(Status::kNotFound,
              folder.output() + ": no task is named " + name + "; the nearest: " + names);
}

std::vector<PlannedTask> plan_of(const RunFolder& folder) {
  std::vector<PlannedTask> planned = read_plan(folder);
  if (planned.empty()) {
    throw Error(Status::kNotFound, folder.output() + ": no run has left a plan here (" +
                                       folder.plan() + " is not there, or damaged)");
  }
  return planned;
}

std::string state_of(const std::vector<Forecast>& forecasts, std::size_t i) {
  const Forecast& f = forecasts[i];
  if (f.state == Forecast::State::kGood) return "done";
  if (f.state == Forecast::State::kToDo && f.because) {
    const auto& needs = forecasts[*f.because];
    if (needs.state == Forecast::State::kToDo) return "waiting";
  }
  return forecast_name(f.state);
}

/// What is to be said of a task beside its state: of one that waits for its inputs nothing.
std::string message_of(const BatchPlan& plan, const std::vector<Forecast>& forecasts,
                       std::size_t i) {
  const Finding& finding = plan.findings[i];
  const Forecast::State state = forecasts[i].state;
  if (state == Forecast::State::kGood || state == Forecast::State::kBlocked) return {};
  if (state == Forecast::State::kToDo && finding.state == TaskState::kMissing) return {};
  return finding.message;
}

std::vector<Cause> chain_of(const BatchPlan& plan, const std::vector<Forecast>& forecasts,
                            std::size_t task) {
  std::vector<Cause> causes;
  for (auto at = forecasts[task].because; at; at = forecasts[*at].because) {
    causes.push_back(
        {plan.tasks[*at].name, state_of(forecasts, *at), message_of(plan, forecasts, *at)});
  }
  return causes;
}

std::size_t count_unmet(const BatchPlan& plan, const std::vector<Forecast>& forecasts,
                        std::size_t task) {
  std::vector<std::size_t> needs = plan.after[task];
  needs.insert(needs.end(), plan.any[task].begin(), plan.any[task].end());
  return static_cast<std::size_t>(std::count_if(needs.begin(), needs.end(), [&](std::size_t need) {
    return forecasts[need].state != Forecast::State::kGood;
  }));
}

/// The record of the last attempt: of the failure, where there is one, since that is later.
struct Record {
  std::vector<FileStamp> inputs;
  std::vector<std::uint32_t> sums;
  std::vector<Attempt> history;
};

std::optional<Record> last_record(const RunFolder& folder, const std::string& name) {
  if (auto failure = read_failure(folder, name)) {
    return Record{std::move(failure->inputs), {}, std::move(failure->history)};
  }
  if (auto receipt = read_receipt(folder, name)) {
    return Record{std::move(receipt->inputs), std::move(receipt->input_sums),
                  std::move(receipt->history)};
  }
  return std::nullopt;
}

std::optional<std::uint32_t> sum_of(const std::string& path) {
  try {
    return file_crc32(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

InputNews news_of(const FileStamp& now, const std::optional<Record>& record) {
  InputNews news;
  news.path = now.path;
  news.state = InputNews::State::kNew;
  if (!record) return news;
  const auto then = std::find_if(record->inputs.begin(), record->inputs.end(),
                                 [&](const FileStamp& s) { return s.path == now.path; });
  if (then == record->inputs.end()) return news;
  const auto at = static_cast<std::size_t>(then - record->inputs.begin());
  if (record->sums.size() == record->inputs.size()) news.then = record->sums[at];
  news.state = *then == now ? InputNews::State::kSame : InputNews::State::kChanged;
  if (news.state == InputNews::State::kSame) {
    news.now = news.then;
  } else if (news.then) {
    news.now = sum_of(now.path);
    if (then->size == now.size && news.now == news.then)
      news.state = InputNews::State::kSameContent;
  }
  return news;
}

void fill_inputs(Explanation& why, const std::optional<Record>& record,
                 const std::vector<PlannedTask>& planned, const Directory& directory) {
  const InputStamps stamps = stamp_inputs(why.task);
  std::set<std::string> ours;
  for (const FileStamp& stamp : stamps.files) {
    why.inputs.push_back(news_of(stamp, record));
    ours.insert(stamp.path);
  }
  const auto missing = [&](const std::string& path) {
    if (ours.contains(path) || ours.contains(path + ".gz")) return;
    InputNews news;
    news.state = InputNews::State::kGone;
    news.path = path;
    why.inputs.push_back(std::move(news));
  };
  for (const std::string& path : why.task.inputs) missing(path);
  for (const std::string& path : why.task.any_inputs) missing(path);
  for (InputNews& news : why.inputs) {
    const auto maker = directory.maker.find(news.path);
    if (maker != directory.maker.end()) news.made_by = planned[maker->second].task.name;
  }
  if (!record) return;
  for (const FileStamp& stamp : record->inputs) {
    if (!ours.contains(stamp.path)) why.no_more.push_back(stamp.path);
  }
}

}  // namespace

std::string forecast_name(Forecast::State state) {
  switch (state) {
    case Forecast::State::kGood:
      return state_name(TaskState::kUpToDate);
    case Forecast::State::kToDo:
      return "to do";
    case Forecast::State::kFailed:
      return state_name(TaskState::kFailed);
    case Forecast::State::kMissing:
      return state_name(TaskState::kMissing);
    case Forecast::State::kBlocked:
      return state_name(TaskState::kBlocked);
  }
  return "unknown";
}

std::string news_name(InputNews::State state) {
  switch (state) {
    case InputNews::State::kSame:
      return "unchanged";
    case InputNews::State::kSameContent:
      return "same content";
    case InputNews::State::kChanged:
      return "changed";
    case InputNews::State::kNew:
      return "new";
    case InputNews::State::kGone:
      return "not there";
  }
  return "unknown";
}

std::vector<Forecast> forecast(const BatchPlan& plan, int retry) {
  using State = Forecast::State;
  std::vector<Forecast> all(plan.tasks.size());
  for (const std::size_t i : sorted_by_need(plan.after, plan.any)) {
    const Finding& finding = plan.findings[i];
    std::optional<std::size_t> lacking, fresh;
    const auto first = [](std::optional<std::size_t>& at, std::size_t need) {
      if (!at) at = need;
    };
    for (const std::size_t need : plan.after[i]) {
      if (all[need].lacks()) first(lacking, need);
      if (all[need].state == State::kToDo) first(fresh, need);
    }
    bool any = plan.any[i].empty() || !needs_any(plan.tasks[i]);
    for (const std::size_t want : plan.any[i]) {
      if (all[want].state == State::kToDo) first(fresh, want);
      any = any || !all[want].lacks();
    }
    if (!any) first(lacking, plan.any[i].front());
    const bool again = finding.state == TaskState::kFailed && retry > 0;
    if (lacking) {
      all[i] = {State::kBlocked, lacking};
    } else if (finding.state == TaskState::kWaiting || again || fresh) {
      all[i] = {State::kToDo, fresh};
    } else if (!is_good(finding.state)) {
      all[i].state = finding.state == TaskState::kMissing ? State::kMissing : State::kFailed;
    }
  }
  return all;
}

Explanation explain_task(const RunFolder& folder, const std::string& name) {
  const std::vector<PlannedTask> planned = plan_of(folder);
  const Directory directory(planned);
  const auto found = directory.by_name.find(name);
  if (found == directory.by_name.end()) unknown_task(folder, planned, name);
  const std::vector<std::size_t> chosen = with_needs(planned, directory, found->second);
  const auto at = static_cast<std::size_t>(
      std::lower_bound(chosen.begin(), chosen.end(), found->second) - chosen.begin());
  const BatchPlan plan = plan_again(folder, planned, chosen);
  const std::vector<Forecast> forecasts = forecast(plan, 0);

  Explanation why;
  why.task = planned[found->second].task;
  why.state = state_of(forecasts, at);
  why.message = message_of(plan, forecasts, at);
  why.causes = chain_of(plan, forecasts, at);
  why.unmet = count_unmet(plan, forecasts, at);
  const auto in_work = [&](std::string& state, std::string& message, const std::string& task) {
    if (state == "done") return;
    const auto holder = seen_holder(folder, task);
    if (!holder) return;
    state = "in work";
    message = "on " + *holder;
  };
  in_work(why.state, why.message, name);
  for (Cause& cause : why.causes) in_work(cause.state, cause.message, cause.name);
  const auto record = last_record(folder, name);
  if (record) why.attempts = record->history;
  fill_inputs(why, record, planned, directory);
  return why;
}

std::vector<Standing> stand_of_tasks(const RunFolder& folder) {
  const std::vector<PlannedTask> planned = plan_of(folder);
  std::vector<std::size_t> all(planned.size());
  std::iota(all.begin(), all.end(), 0);
  const BatchPlan plan = plan_again(folder, planned, all);
  const std::vector<Forecast> forecasts = forecast(plan, 0);
  std::vector<Standing> out;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    Standing standing{plan.tasks[i], state_of(forecasts, i), message_of(plan, forecasts, i), {}};
    if (forecasts[i].state == Forecast::State::kBlocked) {
      standing.root = chain_of(plan, forecasts, i).back().name;
    } else if (forecasts[i].state == Forecast::State::kToDo) {
      if (const auto holder = seen_holder(folder, standing.task.name)) {
        standing.state = "in work";
        standing.message = "on " + *holder;
      }
    }
    out.push_back(std::move(standing));
  }
  return out;
}

}  // namespace loom::batch
