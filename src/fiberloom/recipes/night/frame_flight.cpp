// SPDX-License-Identifier: BSD-3-Clause
// What the stages do to one frame, and what becomes of it when that fails.
#include "fiberloom/recipes/night/frame_flight.hpp"

#include <algorithm>
#include <filesystem>

#include "fiberloom/recipes/frame_memory.hpp"
#include "fiberloom/recipes/frame_outputs.hpp"
#include "fiberloom/recipes/report/report.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/print.hpp"
#include "loom/fits/verify.hpp"
#include "loom/runtime/capped_executor.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;

constexpr auto kRetryAfter = std::chrono::milliseconds(300);  // and more with each attempt

/// A frame is cut by what its PSF held when it was shared out.
void require_as_cut(const WorkUnit& unit, const PreparedFrame& frame) {
  const auto found = static_cast<int>(count_bundles(frame));
  if (found == unit.bundles) return;
  throw Error(Status::kChanged, frame.in.psf->path + ": holds " + std::to_string(found) +
                                    " bundles of the fibres asked for, " +
                                    std::to_string(unit.bundles) +
                                    " when the frame was shared out among the ranks");
}

/// Makes the page of a frame that is written, and tells its receipt. Without it the frame is whole:
/// only what would end the night is thrown.
void add_report(const FrameTask& task, const RunFolder& folder, Receipt receipt, Tracer* tracer,
                FrameOutcome& outcome) {
  const Span span(tracer, "frame/report", task.name);
  try {
    report::ReportJob job;
    job.inputs.resize(1);
    job.inputs[0].frame = task.job.output;
    const auto inputs = stamp_inputs(task.job);  // the frame may have outlived them
    if (inputs.missing.empty()) job.inputs[0].image = inputs.files.front().path;
    job.bundle_size = task.job.options.bundle_size;
    write_text_file(task.report, report::report_html(job));
    const auto stamp = stamp_file(task.report);
    if (!stamp) throw Error(Status::kUnwritable, task.report + ": gone as soon as written");
    receipt.report = {path_below(folder, stamp->path), stamp->size, stamp->mtime_ns};
    write_text_file(folder.receipt(task.name), to_json(receipt));
    outcome.report = receipt.report->path;
  } catch (const std::exception&) {
    const Error error = to_error(std::current_exception(), task.name);
    if (ends_night(error, Engine(), folder)) throw Error(error);
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

/// What receipts and failures say of which frame it is.
template <class Record>
Record record_of(const FrameTask& task, std::vector<FileStamp> inputs) {
  Record r;
  r.name = task.name;
  r.night = task.night;
  r.camera = task.camera;
  r.expid = task.expid;
  r.version = version();
  r.options = options_text(task.job);
  r.inputs = std::move(inputs);
  return r;
}

}  // namespace

void remove_temporaries(const std::string& output, const std::vector<long>& dead_pids,
                        const Claims& claims) {
  const fs::path path(output);
  const std::string start = path.filename().string() + ".tmp-";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path.parent_path(), ignored)) {
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

void FramePipeline::set_state(Flight& flight, FrameState state) {
  flight.outcome.state = state;
  if (context_.changed) context_.changed(flight.outcome);
}

void FramePipeline::finish(Flight& flight, FrameState state) {
  flight.outcome.end_s = now_s();
  if (flight.claimed) context_.claims.release(flight.task.name);
  set_state(flight, state);
  source_.finished(flight.outcome);
  const std::lock_guard lock(mutex_);
  if (state == FrameState::kAbandoned && !end_.fatal) end_.stopped = true;
  --in_flight_;
  settled_.notify_all();
}

/// Claims the frame and looks once more whether there is anything to do.
bool FramePipeline::begin(Flight& flight) {
  flight.order = next_order_++;
  flight.outcome.start_s = now_s();
  if (stopping()) {
    finish(flight, FrameState::kAbandoned);
    return false;
  }
  ClaimResult claim;
  if (flight.whole()) {  // who hands out parts has claimed the frame
    claim = context_.claims.acquire(flight.task.name);
    if (!claim.mine) {
      flight.outcome.message = "in work on " + claim.holder;
      finish(flight, FrameState::kClaimed);
      return false;
    }
    flight.claimed = true;
  }
  Finding finding = inspect_frame(flight.task, context_.folder, options_.check);
  flight.failed_before = finding.state == FrameState::kFailed;
  flight.earlier_attempts = finding.attempts;
  if (finding.state != FrameState::kWaiting && !(flight.failed_before && options_.retry > 0)) {
    leave(flight, finding);
    return false;
  }
  flight.inputs = std::move(finding.inputs);
  {
    const std::lock_guard lock(mutex_);
    const auto known = attempts_.find(flight.unit.frame);
    flight.outcome.attempts =
        1 + flight.earlier_attempts + (known == attempts_.end() ? 0 : known->second);
  }
  if (flight.whole()) {
    if (!claim.dead_pids.empty()) {
      remove_temporaries(flight.task.job.output, claim.dead_pids, context_.claims);
      if (!flight.task.report.empty()) {
        remove_temporaries(flight.task.report, claim.dead_pids, context_.claims);
      }
    }
    make_folders(fs::path(flight.task.job.output).parent_path().string());
    check_outputs(flight.task.job);
  }
  return true;
}

/// Nothing to do but, perhaps, the page of a frame that is there.
void FramePipeline::leave(Flight& flight, const Finding& finding) {
  FrameOutcome outcome = outcome_of(finding);
  outcome.frame = flight.outcome.frame;
  outcome.first_bundle = flight.outcome.first_bundle;
  outcome.rank = flight.outcome.rank;
  outcome.start_s = flight.outcome.start_s;
  flight.outcome = std::move(outcome);
  const bool first = flight.unit.first_bundle == 0;  // of the parts of a frame one makes it
  if (finding.lacks_report && first) {
    if (auto receipt = read_receipt(context_.folder.receipt(flight.task.name))) {
      add_report(flight.task, context_.folder, std::move(*receipt), context_.tracer,
                 flight.outcome);
    }
  }
  finish(flight, finding.state);
}

void FramePipeline::read(Flight& flight) {
  if (flight.threads == 0) {
    const FrameTask& task = flight.task;
    throw Error(Status::kMemory,
                task.job.image + print(": a grid by %g Angstrom needs ", task.job.wave->at(2)) +
                    gigabytes(task.memory_bytes + task.workspace_bytes) +
                    " of memory with one thread, " + gigabytes(options_.memory_bytes) +
                    " is granted (--memory, by default two thirds of what is free); a coarser "
                    "step, a shorter range or fewer fibres need less");
  }
  set_state(flight, FrameState::kReading);
  const Span span(context_.tracer, "frame/read", flight.task.name);
  StageClock clock(CpuOf::kThread);
  const ExtractJob& job = flight.task.job;
  const auto check_unchanged = [&](const std::string& found) {
    const std::string changed = changed_file(stamp_inputs(job), flight.inputs.files);
    if (changed.empty()) return;
    throw Error(Status::kChanged, changed + ": changed while it was read" + found);
  };
  FrameInputs in;
  try {
    in = read_inputs(job, psfs_.get(job.psf, psf_options(job)), {}, context_.tracer);
  } catch (const Error& error) {
    check_unchanged(std::string(" (") + error.what() + ")");
    throw;
  }
  check_unchanged("");
  for (const FileStamp& file : flight.inputs.files) flight.outcome.bytes_in += file.size;
  // Masking belongs to the engine's side, but here it frees the mask, a third of what a frame that
  // waits would hold, and takes no compute slot for a serial pass.
  Observer observer;  // messages alone: what has been begun is finished
  observer.message = context_.observer.message;
  flight.prepared = prepare_frame(job, std::move(in), observer);
  flight.outcome.read = clock.lap();
}

void FramePipeline::compute(Flight& flight) {
  OrderedPool::Job all(pool_, flight.order);
  CappedExecutor job(all, flight.threads);
  set_state(flight, FrameState::kComputing);
  const Span span(context_.tracer, "frame/compute", flight.task.name);
  StageClock clock;
  Observer observer;
  observer.message = context_.observer.message;
  const ExtractJob& task = flight.task.job;
  if (!flight.whole()) require_as_cut(flight.unit, flight.prepared);
  flight.result =
      flight.whole()
          ? compute_frame(task, flight.prepared, context_.engine, job, observer, context_.tracer)
          : compute_bundles(task, flight.prepared,
                            static_cast<std::size_t>(flight.unit.first_bundle),
                            static_cast<std::size_t>(flight.unit.last_bundle), context_.engine, job,
                            observer, context_.tracer);
  flight.outcome.by_cpu = taken_over(flight.result);
  if (task.residual.empty()) flight.prepared.in.preproc.ccd = {};  // most of a frame's memory
  flight.outcome.compute = {clock.lap().wall_s, all.cpu_seconds()};
}

void FramePipeline::write(Flight& flight) {
  set_state(flight, FrameState::kWriting);
  const Span span(context_.tracer, "frame/write", flight.task.name);
  if (!flight.whole()) {
    flight.outcome.end_s = now_s();
    context_.part_done({flight.unit, std::move(flight.prepared), std::move(flight.result),
                        flight.inputs, flight.outcome});
    finish(flight, FrameState::kDone);
    return;
  }
  write_frame_output(flight.task, flight.prepared, std::move(flight.result), flight.inputs.files,
                     context_.folder, context_.tracer, flight.outcome);
  finish(flight, FrameState::kDone);
}

void write_frame_output(const FrameTask& task, const PreparedFrame& frame, ExtractResult result,
                        std::vector<FileStamp> inputs, const RunFolder& folder, Tracer* tracer,
                        FrameOutcome& outcome) {
  StageClock clock(CpuOf::kThread);
  outcome.quality = measure_quality(result);
  write_result(task.job, frame, std::move(result), tracer);
  Receipt receipt = record_of<Receipt>(task, std::move(inputs));
  const auto stamp = stamp_file(task.job.output);
  if (!stamp) throw Error(Status::kUnwritable, task.job.output + ": gone as soon as written");
  receipt.output = {path_below(folder, stamp->path), stamp->size, stamp->mtime_ns};
  receipt.crc32 = fits::file_crc32(task.job.output);  // still in the page cache
  outcome.bytes_out = stamp->size;
  outcome.bundles = static_cast<int>(count_bundles(frame));
  outcome.output_checksum = receipt.crc32;
  outcome.write = clock.lap();
  receipt.read = outcome.read;
  receipt.compute = outcome.compute;
  receipt.write = outcome.write;
  receipt.attempts = outcome.attempts;
  receipt.quality = outcome.quality;
  write_text_file(folder.receipt(task.name), to_json(receipt));
  std::error_code ignored;
  fs::remove(folder.failure(task.name), ignored);
  if (!task.report.empty()) add_report(task, folder, std::move(receipt), tracer, outcome);
}

void write_failure(const FrameTask& task, const InputStamps& inputs, const RunFolder& folder,
                   const FrameOutcome& outcome) {
  Failure failure = record_of<Failure>(task, inputs.files);
  failure.changed_ns = inputs.changed_ns;
  failure.system_error = outcome.system_error;
  failure.message = outcome.message;
  failure.exit_code = outcome.exit_code;
  failure.attempts = outcome.attempts;
  write_text_file(folder.failure(task.name), to_json(failure));
}

/// Throws nothing: a stage that ended here would leave others waiting for what it holds. Who cannot
/// even tell of a failure ends the run.
void FramePipeline::failed(Flight& flight, const std::exception_ptr& thrown) {
  try {
    set_aside(flight, thrown);
  } catch (...) {
    halt(to_error(std::current_exception(), flight.task.name));
  }
}

void FramePipeline::set_aside(Flight& flight, const std::exception_ptr& thrown) {
  const Error error = to_error(thrown, flight.task.name);
  flight.outcome.message = error.what();
  flight.outcome.exit_code = error.exit_code();
  flight.outcome.system_error = error.system_error();
  if (error.status() == Status::kInterrupted ||
      ends_night(error, context_.engine, context_.folder)) {
    if (error.status() != Status::kInterrupted) halt(error);
    finish(flight, FrameState::kAbandoned);
    return;
  }
  int attempts = 0;
  {
    const std::lock_guard lock(mutex_);
    attempts = ++attempts_[flight.unit.frame];
  }
  flight.outcome.attempts = flight.earlier_attempts + attempts;
  if (attempts < options_.retry + (flight.failed_before ? 0 : 1)) {
    context_.observer.warn(flight.task.name + ": attempt " + std::to_string(attempts) +
                           " failed, will be tried again: " + error.what());
    if (flight.claimed) context_.claims.release(flight.task.name);
    set_state(flight, FrameState::kWaiting);
    const std::lock_guard lock(mutex_);
    retries_.push_back({flight.unit, std::chrono::steady_clock::now() + attempts * kRetryAfter});
    --in_flight_;
    settled_.notify_all();
    return;
  }
  try {
    write_failure(flight.task, flight.inputs, context_.folder, flight.outcome);
  } catch (const Error& also) {
    context_.observer.warn(flight.task.name + ": the failure cannot be noted: " + also.what());
  }
  finish(flight, FrameState::kFailed);
}

}  // namespace fiberloom::night
