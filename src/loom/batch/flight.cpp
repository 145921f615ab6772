// SPDX-License-Identifier: BSD-3-Clause
// What is done to one task, stage by stage, and what is written down of it.
#include "loom/batch/flight.hpp"

#include <algorithm>
#include <filesystem>

#include "loom/base/print.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"
#include "loom/runtime/capped_executor.hpp"

namespace loom::batch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kRetryAfter = 300ms;  // and more with each attempt

/// Makes the page of a task that is done, and tells its receipt. Without it the task is whole: only
/// what would end the run is thrown.
void add_page(const Task& task, Receipt receipt, const PipelineContext& context, Outcome& outcome) {
  const WorkKind& kind = context.kinds.of(task);
  const RunFolder& folder = context.folder;
  const Span span(context.tracer, kind.stages().page, task.name);
  try {
    kind.make_page(task);
    const auto stamp = stamp_file(task.page);
    if (!stamp) throw Error(Status::kUnwritable, task.page + ": gone as soon as written");
    receipt.page = {path_below(folder, stamp->path), stamp->size, stamp->mtime_ns};
    write_text_file(folder.receipt(task.name), to_json(receipt, folder));
    outcome.page = receipt.page->path;
  } catch (const std::exception&) {
    const Error error = to_error(std::current_exception(), task.name);
    if (ends_run(error, kind, folder)) throw Error(error);
    outcome.message = std::string("no report: ") + error.what();
  }
}

std::string changed_file(const InputStamps& after, const std::vector<FileStamp>& before) {
  for (const FileStamp& file : before) {
    if (std::find(after.files.begin(), after.files.end(), file) == after.files.end()) {
      return file.path;
    }
  }
  return {};
}

/// What receipts and failures say of which task it is.
template <class Record>
Record record_of(const Task& task, const PipelineContext& context,
                 const std::vector<FileStamp>& inputs) {
  Record r;
  r.name = task.name;
  r.labels = task.labels;
  r.version = context.folder.program().version;
  r.options = context.kinds.of(task).fingerprint(task);
  r.inputs = inputs;
  return r;
}

/// An output as it was written.
MadeFile made_file(const std::string& path, const RunFolder& folder) {
  const auto stamp = stamp_file(path);
  if (!stamp) throw Error(Status::kUnwritable, path + ": gone as soon as written");
  return {{path_below(folder, stamp->path), stamp->size, stamp->mtime_ns},
          file_crc32(path)};  // still in the page cache
}

/// CRC-32 of inputs as they were read; none where one has changed since.
std::vector<std::uint32_t> sums_of(const std::vector<FileStamp>& inputs) {
  std::vector<std::uint32_t> sums;
  try {
    for (const FileStamp& input : inputs) {
      sums.push_back(file_crc32(input.path));
      if (stamp_file(input.path) != input) return {};
    }
  } catch (const Error&) {  // gone
    return {};
  }
  return sums;
}

}  // namespace

void remove_temporaries(const std::string& output, const std::vector<long>& dead_pids,
                        const Claims& claims) {
  const fs::path path(output);
  const std::string start = path.filename().string() + ".tmp-";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent_of(output), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(start)) continue;
    const bool dead = std::any_of(dead_pids.begin(), dead_pids.end(), [&](long pid) {
      return name.starts_with(start + std::to_string(pid) + "-");
    });
    if (dead || claims.age_s(entry.path().string()) > claims.timeout_s()) {
      fs::remove(entry.path(), ignored);
    }
  }
}

void remove_temporaries(const Task& task, const std::vector<long>& dead_pids,
                        const Claims& claims) {
  for (const std::string& output : task.outputs) remove_temporaries(output, dead_pids, claims);
  if (!task.page.empty()) remove_temporaries(task.page, dead_pids, claims);
}

void Pipeline::set_state(Flight& flight, TaskState state) {
  flight.outcome.state = state;
  if (context_.changed) context_.changed(flight.outcome);
}

void Pipeline::finish(Flight& flight, TaskState state) {
  flight.outcome.end_s = now_s();
  if (flight.claimed) context_.claims.release(flight.task.name);
  set_state(flight, state);
  source_.finished(flight.outcome);
  const std::lock_guard lock(mutex_);
  if (state == TaskState::kAbandoned && !end_.fatal) end_.stopped = true;
  --in_flight_;
  settled_.notify_all();
}

/// Claims the task and looks once more whether there is anything to do.
bool Pipeline::begin(Flight& flight) {
  flight.order = next_order_++;
  flight.outcome.start_s = now_s();
  if (stopping()) {
    finish(flight, TaskState::kAbandoned);
    return false;
  }
  ClaimResult claim;
  if (flight.whole()) {  // who hands out parts has claimed the task
    claim = context_.claims.acquire(flight.task.name);
    if (!claim.mine) {
      flight.outcome.message = "in work on " + claim.holder;
      finish(flight, TaskState::kClaimed);
      return false;
    }
    flight.claimed = true;
  }
  Finding finding = inspect_task(flight.task, flight.kind, context_.folder, options_.check);
  flight.failed_before = finding.state == TaskState::kFailed;
  flight.earlier_attempts = finding.attempts;
  if (finding.state != TaskState::kWaiting && !(flight.failed_before && options_.retry > 0)) {
    leave(flight, finding);
    return false;
  }
  flight.inputs = std::move(finding.inputs);
  {
    const std::lock_guard lock(mutex_);
    const auto known = attempts_.find(flight.unit.task);
    flight.outcome.attempts =
        1 + flight.earlier_attempts +
        (known == attempts_.end() ? 0 : static_cast<int>(known->second.size()));
    if (known != attempts_.end()) flight.outcome.tried = known->second;
  }
  if (flight.whole()) {
    if (!claim.dead_pids.empty()) {
      remove_temporaries(flight.task, claim.dead_pids, context_.claims);
    }
    prepare_outputs(flight.task, flight.kind);
  }
  return true;
}

/// Nothing to do but, perhaps, the page of a task that is there.
void Pipeline::leave(Flight& flight, const Finding& finding) {
  Outcome outcome = outcome_of(finding);
  outcome.task = flight.outcome.task;
  outcome.first_part = flight.outcome.first_part;
  outcome.rank = flight.outcome.rank;
  outcome.start_s = flight.outcome.start_s;
  flight.outcome = std::move(outcome);
  const bool first = flight.unit.first_part == 0;  // of the parts of a task one makes it
  if (finding.lacks_page && first) {
    if (auto receipt = read_receipt(context_.folder, flight.task.name)) {
      add_page(flight.task, std::move(*receipt), context_, flight.outcome);
    }
  }
  finish(flight, finding.state);
}

void Pipeline::read(Flight& flight) {
  const Task& task = flight.task;
  if (flight.threads == 0) {
    const std::string smaller = flight.kind.smaller();
    throw Error(Status::kMemory,
                flight.kind.size_of(task) + " needs " +
                    gigabytes(task.memory_bytes + task.workspace_bytes) +
                    " of memory with one thread, " + gigabytes(options_.memory_bytes) +
                    " is granted (--memory, by default two thirds of what is free)" +
                    (smaller.empty() ? "" : "; " + smaller));
  }
  set_state(flight, TaskState::kReading);
  const Span span(context_.tracer, flight.kind.stages().read, task.name);
  StageClock clock(CpuOf::kThread);
  const auto check_unchanged = [&](const std::string& found) {
    const std::string changed = changed_file(stamp_inputs(task), flight.inputs.files);
    if (changed.empty()) return;
    throw Error(Status::kChanged, changed + ": changed while it was read" + found);
  };
  Observer observer;  // messages alone: what has been begun is finished
  observer.message = context_.observer.message;
  try {
    flight.material = flight.kind.read(task, observer, context_.tracer);
  } catch (const Error& error) {
    check_unchanged(std::string(" (") + error.what() + ")");
    throw;
  }
  check_unchanged("");
  for (const FileStamp& file : flight.inputs.files) flight.outcome.bytes_in += file.size;
  flight.outcome.read = clock.lap();
}

void Pipeline::compute(Flight& flight) {
  OrderedPool::Job all(pool_, flight.order);
  CappedExecutor job(all, flight.threads);
  set_state(flight, TaskState::kComputing);
  const Span span(context_.tracer, flight.kind.stages().compute, flight.task.name);
  StageClock clock;
  Observer observer;
  observer.message = context_.observer.message;
  flight.piece = flight.kind.compute(flight.task, flight.unit, *flight.material, job, observer,
                                     context_.tracer, flight.outcome);
  flight.outcome.compute = {clock.lap().wall_s, all.cpu_seconds()};
}

void Pipeline::write(Flight& flight) {
  set_state(flight, TaskState::kWriting);
  const Span span(context_.tracer, flight.kind.stages().write, flight.task.name);
  if (!flight.whole()) {
    flight.outcome.end_s = now_s();
    PartialTask part;
    part.unit = flight.unit;
    part.outcome = flight.outcome;
    part.outcome.state = TaskState::kDone;
    part.piece = std::move(flight.piece);
    context_.part_done(std::move(part), std::move(flight.material), flight.inputs);
    finish(flight, TaskState::kDone);
    return;
  }
  std::vector<std::unique_ptr<Opaque>> all;
  all.push_back(std::move(flight.piece));
  write_output(flight.task, *flight.material, std::move(all), flight.inputs.files, context_,
               flight.outcome);
  finish(flight, TaskState::kDone);
}

void prepare_outputs(const Task& task, const WorkKind& kind) {
  for (const std::string& output : task.outputs) make_folder_of(output);
  kind.check(task);
}

void write_output(const Task& task, Opaque& material, std::vector<std::unique_ptr<Opaque>> pieces,
                  const std::vector<FileStamp>& inputs, const PipelineContext& context,
                  Outcome& outcome) {
  const RunFolder& folder = context.folder;
  StageClock clock(CpuOf::kThread);
  context.kinds.of(task).write(task, material, std::move(pieces), context.tracer, outcome);
  auto receipt = record_of<Receipt>(task, context, inputs);
  receipt.output = made_file(task.outputs.front(), folder);
  outcome.bytes_out = receipt.output.stamp.size;
  for (std::size_t i = 1; i < task.outputs.size(); ++i) {
    receipt.more.push_back(made_file(task.outputs[i], folder));
    outcome.bytes_out += receipt.more.back().stamp.size;
  }
  outcome.output_checksum = receipt.output.crc32;
  if (task.by_content) receipt.input_sums = sums_of(inputs);
  outcome.write = clock.lap();
  receipt.read = outcome.read;
  receipt.compute = outcome.compute;
  receipt.write = outcome.write;
  receipt.attempts = outcome.attempts;
  receipt.measures = outcome.measures;
  receipt.history = history_of(folder, task.name, outcome);
  write_text_file(folder.receipt(task.name), to_json(receipt, folder));
  std::error_code ignored;
  fs::remove(folder.failure(task.name), ignored);
  if (!task.page.empty()) add_page(task, std::move(receipt), context, outcome);
}

void write_failure(const Task& task, const InputStamps& inputs, const PipelineContext& context,
                   const Outcome& outcome) {
  auto failure = record_of<Failure>(task, context, inputs.files);
  failure.changed_ns = inputs.changed_ns;
  failure.system_error = outcome.system_error;
  failure.message = outcome.message;
  failure.exit_code = outcome.exit_code;
  failure.attempts = outcome.attempts;
  failure.history = history_of(context.folder, task.name, outcome);
  write_text_file(context.folder.failure(task.name), to_json(failure, context.folder));
}

/// Throws nothing: a stage that ended here would leave others waiting for what it holds. Who cannot
/// even tell of a failure ends the run.
void Pipeline::failed(Flight& flight, const std::exception_ptr& thrown) {
  try {
    set_aside(flight, thrown);
  } catch (...) {
    halt(to_error(std::current_exception(), flight.task.name));
  }
}

void Pipeline::set_aside(Flight& flight, const std::exception_ptr& thrown) {
  const Error error = to_error(thrown, flight.task.name);
  flight.outcome.message = error.what();
  flight.outcome.exit_code = error.exit_code();
  flight.outcome.system_error = error.system_error();
  if (error.status() == Status::kInterrupted || ends_run(error, flight.kind, context_.folder)) {
    if (error.status() != Status::kInterrupted) halt(error);
    finish(flight, TaskState::kAbandoned);
    return;
  }
  int attempts = 0;
  {
    const std::lock_guard lock(mutex_);
    std::vector<Attempt>& tried = attempts_[flight.unit.task];
    tried.push_back(attempt_of(flight.outcome));
    attempts = static_cast<int>(tried.size());
  }
  flight.outcome.attempts = flight.earlier_attempts + attempts;
  if (attempts < options_.retry + (flight.failed_before ? 0 : 1)) {
    context_.observer.warn(flight.task.name + ": attempt " + std::to_string(attempts) +
                           " failed, will be tried again: " + error.what());
    if (flight.claimed) context_.claims.release(flight.task.name);
    set_state(flight, TaskState::kWaiting);
    const std::lock_guard lock(mutex_);
    retries_.push_back({flight.unit, std::chrono::steady_clock::now() + attempts * kRetryAfter});
    --in_flight_;
    settled_.notify_all();
    return;
  }
  try {
    write_failure(flight.task, flight.inputs, context_, flight.outcome);
  } catch (const Error& also) {
    context_.observer.warn(flight.task.name + ": the failure cannot be noted: " + also.what());
  }
  finish(flight, TaskState::kFailed);
}

}  // namespace loom::batch
