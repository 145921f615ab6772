// SPDX-License-Identifier: BSD-3-Clause
// The pipeline of one process: read | compute | write, several tasks in flight. Where its work
// comes from, and what is done with the outcomes, it does not know: a list, a watched folder and
// the ranks of a job use it alike. What a task is, only its kind knows.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/batch/claims.hpp"
#include "loom/batch/inspect.hpp"
#include "loom/batch/memory_budget.hpp"
#include "loom/batch/part_collector.hpp"
#include "loom/batch/receipt.hpp"
#include "loom/batch/stage_load.hpp"
#include "loom/batch/task_list.hpp"
#include "loom/batch/work_kind.hpp"
#include "loom/runtime/ordered_pool.hpp"
#include "loom/runtime/stage_queue.hpp"

namespace loom::batch {

/// How a process runs its pipeline. Zeros: what the machine grants.
struct PipelineOptions {
  std::size_t threads = 0;         ///< that compute
  std::size_t readers = 0;         ///< that read and unpack
  std::size_t writers = 0;         ///< that pack and write
  std::size_t device_places = 0;   ///< tasks on all cards together; 0: the CPU computes
  std::uint64_t kept_bytes = 0;    ///< what computing keeps from task to task, beside them
  std::uint64_t memory_bytes = 0;  ///< for tasks in flight
  int retry = 0;                   ///< further attempts at a task that fails, or has failed before
  int rank = 0;                    ///< of a job over several, for the reader
  Check check = Check::kStamps;    ///< how closely outputs that are there are looked at
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();  ///< of the run
};

/// How hard outputs are to write.
enum class Packing { kNo, kYes };

/// Fills in the zeros.
[[nodiscard]] PipelineOptions complete(PipelineOptions options, Packing packing);

/// What a pipeline works with, and whom it tells. Everything outlives it.
struct PipelineContext {
  const RunFolder& folder;
  const WorkKinds& kinds;
  Claims& claims;
  Observer observer;  ///< stop_requested: nothing new is begun
  Tracer* tracer = nullptr;
  /// every change of a task's state, from any thread
  std::function<void(const Outcome&)> changed;
  /// takes what was computed of a unit that is no whole task, what was read for it, and the stamps
  /// of that; throws as writing does
  std::function<void(PartialTask, std::unique_ptr<Opaque> material, InputStamps)> part_done;
};

/// Makes the folder of the outputs; throws where they cannot be written.
void prepare_outputs(const Task& task, const WorkKind& kind);

/// Writes a task that is computed, then its receipt, removes its failure of earlier, and makes its
/// page where one is asked for. Fills in what the outcome says of it. Throws what its kind throws.
void write_output(const Task& task, Opaque& material, std::vector<std::unique_ptr<Opaque>> pieces,
                  const std::vector<FileStamp>& inputs, const PipelineContext& context,
                  Outcome& outcome);

/// Notes that a task failed, with the message, exit code and attempts of the outcome. Whether that
/// is quarantine follows from them (fault_of).
void write_failure(const Task& task, const InputStamps& inputs, const PipelineContext& context,
                   const Outcome& outcome);

/// How a pipeline ended.
struct PipelineEnd {
  std::optional<Error> fatal;  ///< what made going on useless: disk full, no device left
  bool stopped = false;        ///< on request, with work left
};

class Pipeline {
 public:
  Pipeline(const TaskList& tasks, WorkSource& source, const PipelineOptions& options,
           PipelineContext context);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline();

  /// Works until the source has no more (or a stop, or a fatal fault), then finishes what is in
  /// flight.
  [[nodiscard]] PipelineEnd run();
  [[nodiscard]] StageLoad load() const;

 private:
  struct Flight;  // a task in flight
  using FlightPtr = std::unique_ptr<Flight>;

  void reader();
  void driver();
  void writer();
  [[nodiscard]] std::optional<WorkUnit> take_unit();
  [[nodiscard]] std::optional<WorkUnit> take_retry(std::unique_lock<std::mutex>& lock);
  void take_memory(Flight& flight);
  [[nodiscard]] bool begin(Flight& flight);
  void leave(Flight& flight, const Finding& finding);
  void read(Flight& flight);
  void compute(Flight& flight);
  void write(Flight& flight);
  void finish(Flight& flight, TaskState state);
  void failed(Flight& flight, const std::exception_ptr& thrown);
  void set_aside(Flight& flight, const std::exception_ptr& thrown);
  void set_state(Flight& flight, TaskState state);
  void halt(const Error& error);
  void serve(const char* name, std::size_t i, void (Pipeline::*body)());
  [[nodiscard]] bool stopping() const;
  [[nodiscard]] double now_s() const;

  const TaskList& tasks_;
  WorkSource& source_;
  PipelineOptions options_;
  PipelineContext context_;
  OrderedPool pool_;
  MemoryBudget budget_;
  BusyMeter reading_, writing_;
  StageQueue<FlightPtr> to_compute_, to_write_;
  std::atomic<std::uint64_t> next_order_{0};
  std::mutex source_mutex_;  ///< one reader asks the source at a time

  mutable std::mutex mutex_;  ///< of what follows
  std::condition_variable settled_;
  struct Retry {
    WorkUnit unit;
    std::chrono::steady_clock::time_point due;
  };
  std::vector<Retry> retries_;
  std::map<std::size_t, std::vector<Attempt>> attempts_;  ///< that failed, in this run
  std::size_t in_flight_ = 0;
  bool told_fewer_threads_ = false;
  PipelineEnd end_;
  /// Made while there is memory to make them.
  const Error no_memory_{Status::kMemory, "out of memory"};
  const Error no_thread_{Status::kMemory, "no thread can be started"};
};

}  // namespace loom::batch
