// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/joiner.hpp"

#include <algorithm>
#include <chrono>

#include "loom/batch/fault.hpp"
#include "loom/batch/flight.hpp"
#include "loom/runtime/sure_wait.hpp"

namespace loom::batch {
namespace {

/// Times of all parts: what they cost together, from the first start to now.
Outcome sum_of(std::size_t task, const std::vector<PartialTask>& parts) {
  Outcome sum = parts.front().outcome;
  sum.task = task;
  sum.read = sum.compute = sum.write = {};
  sum.bytes_in = 0;
  for (const PartialTask& part : parts) {
    const Outcome& o = part.outcome;
    sum.read.wall_s = std::max(sum.read.wall_s, o.read.wall_s);
    sum.read.cpu_s += o.read.cpu_s;
    sum.compute.wall_s = std::max(sum.compute.wall_s, o.compute.wall_s);
    sum.compute.cpu_s += o.compute.cpu_s;
    sum.bytes_in += o.bytes_in;
    sum.start_s = std::min(sum.start_s, o.start_s);
    sum.attempts = std::max(sum.attempts, o.attempts);
  }
  return sum;
}

bool is_computed(const PartialTask& part) { return part.outcome.state == TaskState::kDone; }

/// Of parts that were not all computed: the first that ended the task, else that it is up to
/// date, with the page that one of them may have made.
void take_state(const std::vector<PartialTask>& parts, Outcome& outcome) {
  const auto ended = std::find_if(parts.begin(), parts.end(), [](const PartialTask& part) {
    return ends_task(part.outcome.state);
  });
  if (ended != parts.end()) {  // its rank has noted a failure
    outcome.state = ended->outcome.state;
    outcome.exit_code = ended->outcome.exit_code;
    outcome.system_error = ended->outcome.system_error;
    outcome.message = ended->outcome.message;
  } else if (std::any_of(parts.begin(), parts.end(), is_computed)) {
    outcome.state = TaskState::kAbandoned;
    outcome.message = "its files changed while the ranks looked at them";
  } else {
    outcome.state = TaskState::kUpToDate;
  }
  for (const PartialTask& part : parts) {
    if (outcome.page.empty()) outcome.page = part.outcome.page;
    if (outcome.message.empty()) outcome.message = part.outcome.message;
  }
}

}  // namespace

Joiner::Joiner(const TaskList& tasks, const PipelineOptions& options, PipelineContext context,
               Done done)
    : tasks_(tasks), options_(options), context_(std::move(context)), done_(std::move(done)) {
  thread_ = std::thread([this] { loop(); });
}

Joiner::~Joiner() {
  if (thread_.joinable()) static_cast<void>(finish());
}

void Joiner::keep(std::size_t task, std::unique_ptr<Opaque> material, InputStamps inputs) {
  const std::lock_guard lock(mutex_);
  kept_[task] = {std::move(material), std::move(inputs)};
}

void Joiner::add(PartialTask part) {
  const std::size_t task = part.unit.task;
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;  // what was open is given up
    auto all = collector_.add(std::move(part));
    if (!all) return;
    joined_.emplace_back(task, std::move(*all));
  }
  filled_.notify_one();
}

std::optional<Error> Joiner::finish() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  filled_.notify_one();
  thread_.join();
  for (const std::size_t task : collector_.open()) {
    Outcome outcome;
    outcome.task = task;
    outcome.state = TaskState::kAbandoned;
    done_(outcome);
  }
  return fatal_;
}

void Joiner::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    sure_wait(filled_, lock, [&] { return closing_ || !joined_.empty(); });
    if (joined_.empty()) return;
    Joined next = std::move(joined_.front());
    joined_.pop_front();
    lock.unlock();
    try {
      if (context_.tracer != nullptr) context_.tracer->name_thread("joiner");
      join(next.first, std::move(next.second));
      lock.lock();
    } catch (const std::exception&) {  // no memory for the task, or to say why
      lock.lock();
      if (!fatal_) fatal_ = no_memory_;
    }
  }
}

void Joiner::join(std::size_t task, std::vector<PartialTask> parts) {
  Outcome outcome = sum_of(task, parts);
  if (std::all_of(parts.begin(), parts.end(), is_computed)) {
    write(task, std::move(parts), outcome);
  } else {
    take_state(parts, outcome);
  }
  outcome.end_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - options_.start).count();
  {
    const std::lock_guard lock(mutex_);
    kept_.erase(task);
  }
  done_(outcome);
}

void Joiner::write(std::size_t number, std::vector<PartialTask> parts, Outcome& outcome) {
  const Task& task = tasks_.at(number);
  const WorkKind& kind = context_.kinds.of(task);
  const Span span(context_.tracer, kind.stages().join, task.name);
  Kept kept;
  {
    const std::lock_guard lock(mutex_);
    kept = std::move(kept_[number]);
  }
  try {
    std::vector<std::unique_ptr<Opaque>> pieces;
    for (PartialTask& part : parts) pieces.push_back(std::move(part.piece));
    prepare_outputs(task, kind);
    write_output(task, *kept.material, std::move(pieces), kept.inputs.files, context_, outcome);
    outcome.state = TaskState::kDone;
  } catch (const std::exception&) {
    const Error error = to_error(std::current_exception(), task.name);
    outcome.state = TaskState::kFailed;
    outcome.message = error.what();
    outcome.exit_code = error.exit_code();
    outcome.system_error = error.system_error();
    if (ends_run(error, kind, context_.folder)) {
      outcome.state = TaskState::kAbandoned;
      const std::lock_guard lock(mutex_);
      if (!fatal_) fatal_ = error;
      return;
    }
    try {
      write_failure(task, kept.inputs, context_, outcome);
    } catch (const Error& also) {
      outcome.message += std::string(" (and the failure cannot be noted: ") + also.what() + ")";
    }
  }
}

}  // namespace loom::batch
