// SPDX-License-Identifier: BSD-3-Clause
// Threads and queues of the pipeline; what is done to one task stands in flight.cpp.
#include "loom/batch/pipeline.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <thread>

#include "loom/base/print.hpp"
#include "loom/batch/flight.hpp"
#include "loom/runtime/memory_limit.hpp"
#include "loom/runtime/thread_count.hpp"

namespace loom::batch {
namespace {

using namespace std::chrono_literals;

// What the process takes beside tasks in flight: the program and the holes between tasks in the
// heap, workspaces of a thread (measured: 0.57 GB with one task in flight, 1.8 GB with five). A
// task that is alone needs no room for holes.
constexpr std::uint64_t kBaseBytes = 360 << 20, kThreadBytes = 24 << 20, kAloneBytes = 24 << 20;

/// That read, or write, where nobody says how many.
constexpr std::size_t kMostFileThreads = 128;

/// Tasks computed at once: one has work for some 20 threads, or a place on a card for itself; one
/// more fills the tail.
std::size_t drivers(const PipelineOptions& o) {
  return 1 + std::max((o.threads + 9) / 10, o.device_places);
}

std::uint64_t task_budget(const PipelineOptions& o) {
  const std::uint64_t base = kBaseBytes + o.threads * kThreadBytes + o.kept_bytes;
  return o.memory_bytes > base ? o.memory_bytes - base : 0;
}

}  // namespace

PipelineOptions complete(PipelineOptions o, Packing packing) {
  if (o.threads == 0) o.threads = default_thread_count();
  // Each stage has as many threads as keep the processors busy, however many these are; what they
  // hold is bounded by memory. Unpacking takes a quarter of what computing takes, packing as much
  // again. Where a card computes, unpacking is most of what is left: 0.65 of 1.1 core-seconds a
  // frame (H200, 16 processors), and so is writing: 16 processors and a card hand over a frame each
  // 45 ms, which takes 0.2 s to write.
  const bool card = o.device_places > 0, packs = packing == Packing::kYes;
  if (o.readers == 0) o.readers = std::min(card ? o.threads : 1 + o.threads / 4, kMostFileThreads);
  if (o.writers == 0)
    o.writers = std::min(1 + o.threads / (card || packs ? 2 : 8), kMostFileThreads);
  if (o.memory_bytes == 0) o.memory_bytes = memory_share(find_memory_limits(process_environment()));
  return o;
}

Pipeline::Pipeline(const TaskList& tasks, WorkSource& source, const PipelineOptions& options,
                   PipelineContext context)
    : tasks_(tasks),
      source_(source),
      options_(options),
      context_(std::move(context)),
      pool_(options.threads),
      budget_(task_budget(options), drivers(options) + options.readers + options.writers + 1) {}

Pipeline::~Pipeline() = default;

double Pipeline::now_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - options_.start).count();
}

bool Pipeline::stopping() const {
  if (context_.observer.stop_requested && context_.observer.stop_requested()) return true;
  const std::lock_guard lock(mutex_);
  return end_.fatal.has_value();
}

void Pipeline::halt(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (!end_.fatal) end_.fatal = error;
  settled_.notify_all();
}

StageLoad Pipeline::load() const {
  StageLoad load;
  load.read_s = reading_.seconds();
  load.compute_s = pool_.busy_seconds();
  load.write_s = writing_.seconds();
  load.readers = options_.readers;
  load.threads = options_.threads;
  load.writers = options_.writers;
  load.to_compute = to_compute_.size();
  load.to_write = to_write_.size();
  load.memory_bytes = budget_.used();
  load.memory_budget_bytes = budget_.bytes();
  return load;
}

std::optional<WorkUnit> Pipeline::take_retry(std::unique_lock<std::mutex>& /*lock*/) {
  const auto now = std::chrono::steady_clock::now();
  const auto due = std::find_if(retries_.begin(), retries_.end(),
                                [&](const Retry& retry) { return retry.due <= now; });
  if (due == retries_.end()) return std::nullopt;
  const WorkUnit unit = due->unit;
  retries_.erase(due);
  ++in_flight_;
  return unit;
}

/// The next unit, counted as in flight. A task that fails may come back, so this waits until
/// nothing is in flight before it says that there is no more.
std::optional<WorkUnit> Pipeline::take_unit() {
  while (!stopping()) {
    {
      std::unique_lock lock(mutex_);
      if (const auto unit = take_retry(lock)) return unit;
    }
    {
      const std::lock_guard asking(source_mutex_);
      if (stopping()) break;
      if (const auto unit = source_.next()) {
        const std::lock_guard lock(mutex_);
        ++in_flight_;
        return unit;
      }
    }
    std::unique_lock lock(mutex_);
    if (in_flight_ == 0 && retries_.empty() && !source_.more_later()) return std::nullopt;
    settled_.wait_for(lock, 100ms);
  }
  const std::lock_guard lock(mutex_);
  if (!end_.fatal) end_.stopped = true;
  return std::nullopt;
}

/// Waits until the task fits beside those in flight. One that is too large for that goes alone, on
/// fewer threads where their workspaces are what is too large; one that does not even fit so takes
/// nothing and gets no threads.
void Pipeline::take_memory(Flight& flight) {
  const Task& task = flight.task;
  const Span span(context_.tracer, "wait/memory", task.name);
  const std::uint64_t staging = options_.device_places * task.staging_bytes;
  const std::uint64_t alone = kAloneBytes + task.memory_bytes + staging;
  const std::uint64_t room = options_.memory_bytes > alone ? options_.memory_bytes - alone : 0;
  const std::uint64_t workspace = options_.device_places > 0 ? 0 : task.workspace_bytes;
  flight.threads = options_.threads;
  if (workspace > 0 && room < workspace * options_.threads)
    flight.threads = static_cast<std::size_t>(room / workspace);
  if (options_.memory_bytes < alone) flight.threads = 0;
  if (flight.threads == 0) return;
  std::uint64_t own = task.memory_bytes;
  if (flight.threads == options_.threads) {
    const std::uint64_t more = std::max(workspace, kThreadBytes) - kThreadBytes;
    budget_.keep(staging + more * options_.threads);
  } else {
    own += workspace * flight.threads;
  }
  flight.share = budget_.reserve(own);
  const std::lock_guard lock(mutex_);
  if (flight.threads == options_.threads || told_fewer_threads_) return;
  told_fewer_threads_ = true;
  context_.observer.warn(task.name +
                         print(": %zu of %zu threads extract at once: all would need ",
                               flight.threads, options_.threads) +
                         gigabytes(alone + workspace * options_.threads) + " of memory, " +
                         gigabytes(options_.memory_bytes) +
                         " is granted (--memory); so for others like it");
}

void Pipeline::reader() {
  while (const auto unit = take_unit()) {
    const Task& task = tasks_.at(unit->task);
    auto flight = std::make_unique<Flight>(task, context_.kinds.of(task), *unit);
    flight->outcome.rank = options_.rank;
    take_memory(*flight);
    const BusyMeter::Scope busy(reading_);
    try {
      if (!begin(*flight)) continue;
      read(*flight);
    } catch (...) {
      failed(*flight, std::current_exception());
      continue;
    }
    flight->queued = std::chrono::steady_clock::now();
    const std::uint64_t order = flight->order;
    to_compute_.push(order, std::move(flight));
  }
}

void Pipeline::driver() {
  while (auto next = to_compute_.pop()) {
    FlightPtr flight = std::move(*next);
    if (context_.tracer != nullptr) {
      context_.tracer->record("wait/compute", flight->queued, std::chrono::steady_clock::now(),
                              flight->task.name);
    }
    try {
      if (stopping()) {  // read, but not begun: nothing is lost but the reading
        finish(*flight, TaskState::kAbandoned);
        continue;
      }
      compute(*flight);
    } catch (...) {
      failed(*flight, std::current_exception());
      continue;
    }
    flight->queued = std::chrono::steady_clock::now();
    const std::uint64_t order = flight->order;
    to_write_.push(order, std::move(flight));
  }
}

void Pipeline::writer() {
  while (auto next = to_write_.pop()) {
    FlightPtr flight = std::move(*next);
    const BusyMeter::Scope busy(writing_);
    if (context_.tracer != nullptr) {
      context_.tracer->record("wait/write", flight->queued, std::chrono::steady_clock::now(),
                              flight->task.name);
    }
    try {
      write(*flight);
    } catch (...) {
      failed(*flight, std::current_exception());
    }
  }
}

/// What a thread of a stage does: `body` until there is no more, or an error ends the night.
void Pipeline::serve(const char* name, std::size_t i, void (Pipeline::*body)()) {
  try {
    if (context_.tracer != nullptr) {
      context_.tracer->name_thread(std::string(name) + " " + std::to_string(i));
    }
    (this->*body)();
  } catch (const Error& error) {
    halt(error);
  } catch (const std::bad_alloc&) {
    halt(no_memory_);
  } catch (const std::exception& error) {
    halt(Error(Status::kInternal, std::string(name) + ": " + error.what()));
  }
}

// Nothing here may throw while threads work: their vectors would end the process.
PipelineEnd Pipeline::run() {
  const auto start = [this](const char* name, std::size_t n, void (Pipeline::*body)()) {
    std::vector<std::thread> threads;
    const auto work = [this, name, body](std::size_t i) {
      try {
        serve(name, i, body);
      } catch (...) {  // no memory for the words
        halt(no_memory_);
      }
    };
    try {
      for (std::size_t i = 0; i < n; ++i) threads.emplace_back(work, i);
    } catch (const std::exception&) {  // no room for it: fewer do, but none does not
      if (threads.empty()) halt(no_thread_);
    }
    return threads;
  };
  const auto join = [](std::vector<std::thread>& threads) {
    for (std::thread& thread : threads) thread.join();
  };
  // Those who bring work last: where nobody would take it, none is begun.
  auto writers = start("writer", options_.writers, &Pipeline::writer);
  auto computing = start("task", drivers(options_), &Pipeline::driver);
  std::vector<std::thread> readers;
  if (!writers.empty() && !computing.empty()) {
    readers = start("reader", options_.readers, &Pipeline::reader);
  }
  join(readers);
  to_compute_.close();
  join(computing);
  to_write_.close();
  join(writers);
  const std::lock_guard lock(mutex_);
  return end_;
}

}  // namespace loom::batch
