// SPDX-License-Identifier: BSD-3-Clause
// The pipeline of one process: read | compute | write, several frames in flight. Where its work
// comes from, and what is done with the outcomes, it does not know: a list, a watched folder and
// the ranks of an MPI job use it alike.
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

#include "fiberloom/recipes/frame_steps.hpp"
#include "fiberloom/recipes/night/claims.hpp"
#include "fiberloom/recipes/night/discover.hpp"
#include "fiberloom/recipes/night/frame_task.hpp"
#include "fiberloom/recipes/night/inspect.hpp"
#include "fiberloom/recipes/night/memory_budget.hpp"
#include "fiberloom/recipes/night/psf_cache.hpp"
#include "fiberloom/recipes/night/receipt.hpp"
#include "fiberloom/recipes/night/stage_load.hpp"
#include "fiberloom/recipes/night/task_list.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/ordered_pool.hpp"
#include "loom/runtime/stage_queue.hpp"

namespace fiberloom::night {

/// How a process runs its pipeline. Zeros: what the machine grants.
struct PipelineOptions {
  std::size_t threads = 0;         ///< that compute
  std::size_t readers = 0;         ///< that read and unpack
  std::size_t writers = 0;         ///< that pack and write
  std::size_t device_places = 0;   ///< frames on all cards together; 0: the CPU computes
  std::uint64_t memory_bytes = 0;  ///< for frames in flight
  int retry = 0;                   ///< further attempts at a frame that fails, or has failed before
  int rank = 0;                    ///< of an MPI job, for the reader
  Check check = Check::kStamps;    ///< how closely outputs that are there are looked at
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();  ///< of the run
};

/// Fills in the zeros.
[[nodiscard]] PipelineOptions complete(PipelineOptions options, const FrameRequest& request,
                                       const Engine& engine = Engine());

/// Some bundles of a frame, computed: for who joins them (join_parts, write_result).
struct FramePart {
  WorkUnit unit;
  PreparedFrame frame;  ///< without its image
  ExtractResult result;
  InputStamps inputs;  ///< as they were read
  FrameOutcome outcome;
};

/// Writes a frame that is computed, then its receipt, removes its failure of earlier, and makes its
/// page where one is asked for. Fills in what the outcome says of it. Throws what write_result()
/// throws.
void write_frame_output(const FrameTask& task, const PreparedFrame& frame, ExtractResult result,
                        std::vector<FileStamp> inputs, const RunFolder& folder, Tracer* tracer,
                        FrameOutcome& outcome);

/// Notes that a frame failed, with the message, exit code and attempts of the outcome. Whether that
/// is quarantine follows from them (fault_of).
void write_failure(const FrameTask& task, const InputStamps& inputs, const RunFolder& folder,
                   const FrameOutcome& outcome);

/// What a pipeline works with, and whom it tells. Everything outlives it.
struct PipelineContext {
  const RunFolder& folder;
  Claims& claims;
  Engine engine;
  Observer observer;  ///< stop_requested: nothing new is begun
  Tracer* tracer = nullptr;
  /// every change of a frame's state, from any thread
  std::function<void(const FrameOutcome&)> changed;
  /// takes a part of a frame (units that are not whole frames); throws as writing does
  std::function<void(FramePart)> part_done;
};

/// How a pipeline ended.
struct PipelineEnd {
  std::optional<Error> fatal;  ///< what made going on useless: disk full, no device left
  bool stopped = false;        ///< on request, with work left
};

class FramePipeline {
 public:
  FramePipeline(const TaskList& tasks, WorkSource& source, const PipelineOptions& options,
                PipelineContext context);
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;
  ~FramePipeline();

  /// Works until the source has no more (or a stop, or a fatal fault), then finishes what is in
  /// flight.
  [[nodiscard]] PipelineEnd run();
  [[nodiscard]] StageLoad load() const;

 private:
  struct Flight;  // a frame in flight
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
  void finish(Flight& flight, FrameState state);
  void failed(Flight& flight, const std::exception_ptr& thrown);
  void set_aside(Flight& flight, const std::exception_ptr& thrown);
  void set_state(Flight& flight, FrameState state);
  void halt(const Error& error);
  void serve(const char* name, std::size_t i, void (FramePipeline::*body)());
  [[nodiscard]] bool stopping() const;
  [[nodiscard]] double now_s() const;

  const TaskList& tasks_;
  WorkSource& source_;
  PipelineOptions options_;
  PipelineContext context_;
  OrderedPool pool_;
  MemoryBudget budget_;
  PsfCache psfs_;
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
  std::map<std::size_t, int> attempts_;  ///< of frames that failed, in this run
  std::size_t in_flight_ = 0;
  bool told_fewer_threads_ = false;
  PipelineEnd end_;
  /// Made while there is memory to make them.
  const Error no_memory_{Status::kMemory, "out of memory"};
  const Error no_thread_{Status::kMemory, "no thread can be started"};
};

}  // namespace fiberloom::night
