// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/frame_joiner.hpp"

#include <algorithm>
#include <filesystem>

#include "fiberloom/recipes/frame_outputs.hpp"
#include "fiberloom/recipes/night/frame_flight.hpp"
#include "loom/runtime/sure_wait.hpp"

namespace fiberloom::night {
namespace {

/// Times of all parts: what they cost together, from the first start to now.
FrameOutcome sum_of(std::size_t frame, const std::vector<PartialFrame>& parts) {
  FrameOutcome sum = parts.front().outcome;
  sum.frame = frame;
  sum.read = sum.compute = sum.write = {};
  sum.bytes_in = 0;
  sum.by_cpu = {};
  for (const PartialFrame& part : parts) {
    const FrameOutcome& o = part.outcome;
    sum.read.wall_s = std::max(sum.read.wall_s, o.read.wall_s);
    sum.read.cpu_s += o.read.cpu_s;
    sum.compute.wall_s = std::max(sum.compute.wall_s, o.compute.wall_s);
    sum.compute.cpu_s += o.compute.cpu_s;
    sum.bytes_in += o.bytes_in;
    sum.start_s = std::min(sum.start_s, o.start_s);
    sum.attempts = std::max(sum.attempts, o.attempts);
    sum.by_cpu.bundles += o.by_cpu.bundles;
    if (sum.by_cpu.failure.empty()) sum.by_cpu.failure = o.by_cpu.failure;
  }
  return sum;
}

bool has_spectra(const PartialFrame& part) { return part.outcome.state == FrameState::kDone; }

/// Of parts that did not all bring spectra: the first that ended the frame, else that it is up to
/// date, with the page that one of them may have made.
void take_state(const std::vector<PartialFrame>& parts, FrameOutcome& outcome) {
  const auto ended = std::find_if(parts.begin(), parts.end(), [](const PartialFrame& part) {
    return ends_frame(part.outcome.state);
  });
  if (ended != parts.end()) {  // its rank has noted a failure
    outcome.state = ended->outcome.state;
    outcome.exit_code = ended->outcome.exit_code;
    outcome.system_error = ended->outcome.system_error;
    outcome.message = ended->outcome.message;
  } else if (std::any_of(parts.begin(), parts.end(), has_spectra)) {
    outcome.state = FrameState::kAbandoned;
    outcome.message = "its files changed while the ranks looked at them";
  } else {
    outcome.state = FrameState::kUpToDate;
  }
  for (const PartialFrame& part : parts) {
    if (outcome.report.empty()) outcome.report = part.outcome.report;
    if (outcome.message.empty()) outcome.message = part.outcome.message;
  }
}

}  // namespace

FrameJoiner::FrameJoiner(RankSource& source, const TaskList& tasks, const RunFolder& folder,
                         const PipelineOptions& options, Tracer* tracer)
    : source_(source), tasks_(tasks), folder_(folder), options_(options), tracer_(tracer) {
  source.set_joined([this](std::size_t frame, std::vector<PartialFrame> parts) {
    {
      const std::lock_guard lock(mutex_);
      joined_.emplace_back(frame, std::move(parts));
    }
    filled_.notify_one();
  });
  thread_ = std::thread([this] { loop(); });
}

FrameJoiner::~FrameJoiner() {
  if (thread_.joinable()) static_cast<void>(finish());
}

void FrameJoiner::part_done(FramePart part) {
  PartialFrame sent;
  sent.unit = part.unit;
  sent.outcome = part.outcome;
  sent.result = std::move(part.result);
  {
    const std::lock_guard lock(mutex_);
    kept_[part.unit.frame] = {std::move(part.frame), std::move(part.inputs)};
  }
  source_.part_done(std::move(sent));
}

std::optional<Error> FrameJoiner::finish() {
  source_.set_joined({});  // a rank that still works may send a part when this one is gone
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  filled_.notify_one();
  thread_.join();
  for (const std::size_t frame : source_.open()) {
    FrameOutcome outcome;
    outcome.frame = frame;
    outcome.state = FrameState::kAbandoned;
    source_.frame_done(outcome);
  }
  return fatal_;
}

void FrameJoiner::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    sure_wait(filled_, lock, [&] { return closing_ || !joined_.empty(); });
    if (joined_.empty()) return;
    Joined next = std::move(joined_.front());
    joined_.pop_front();
    lock.unlock();
    try {
      if (tracer_ != nullptr) tracer_->name_thread("joiner");
      join(next.first, std::move(next.second));
      lock.lock();
    } catch (const std::exception&) {  // no memory for the frame, or to say why
      lock.lock();
      if (!fatal_) fatal_ = no_memory_;
    }
  }
}

void FrameJoiner::join(std::size_t frame, std::vector<PartialFrame> parts) {
  FrameOutcome outcome = sum_of(frame, parts);
  if (std::all_of(parts.begin(), parts.end(), has_spectra)) {
    write(frame, std::move(parts), outcome);
  } else {
    take_state(parts, outcome);
  }
  outcome.end_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - options_.start).count();
  {
    const std::lock_guard lock(mutex_);
    kept_.erase(frame);
  }
  source_.frame_done(outcome);
}

void FrameJoiner::write(std::size_t frame, std::vector<PartialFrame> parts, FrameOutcome& outcome) {
  const FrameTask& task = tasks_.at(frame);
  const Span span(tracer_, "frame/join", task.name);
  Kept kept;
  {
    const std::lock_guard lock(mutex_);
    kept = std::move(kept_[frame]);
  }
  try {
    std::vector<ExtractResult> results;
    for (PartialFrame& part : parts) results.push_back(std::move(part.result));
    make_folders(std::filesystem::path(task.job.output).parent_path().string());
    check_outputs(task.job);
    write_frame_output(task, kept.frame, join_parts(std::move(results), kept.frame),
                       kept.inputs.files, folder_, tracer_, outcome);
    outcome.state = FrameState::kDone;
  } catch (const std::exception&) {
    const Error error = to_error(std::current_exception(), task.name);
    outcome.state = FrameState::kFailed;
    outcome.message = error.what();
    outcome.exit_code = error.exit_code();
    outcome.system_error = error.system_error();
    if (ends_night(error, Engine(), folder_)) {
      outcome.state = FrameState::kAbandoned;
      const std::lock_guard lock(mutex_);
      if (!fatal_) fatal_ = error;
      return;
    }
    try {
      write_failure(task, kept.inputs, folder_, outcome);
    } catch (const Error& also) {
      outcome.message += std::string(" (and the failure cannot be noted: ") + also.what() + ")";
    }
  }
}

}  // namespace fiberloom::night
