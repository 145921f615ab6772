// SPDX-License-Identifier: BSD-3-Clause
// N processors' worth of computing shared by several jobs (frames) at once, the oldest job first.
// What the newer jobs get is what the older ones leave idle: the tail of a frame is filled with the
// bundles of the next. Knows nothing of frames.
//
// Why not one pool of tasks (oneTBB has such an arena): loops of different callers share threads
// evenly, so all frames in flight end late and together, and a thread that waits inside a loop
// cannot be given to another.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/runtime/busy_meter.hpp"

namespace loom {

class OrderedPool {
 public:
  explicit OrderedPool(std::size_t threads);
  OrderedPool(const OrderedPool&) = delete;
  OrderedPool& operator=(const OrderedPool&) = delete;
  ~OrderedPool();

  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }
  /// Processor slots in use, integrated over time.
  [[nodiscard]] double busy_seconds() const { return busy_.seconds(); }

  /// One caller's place in the queue. Constructing it waits for a free slot, which the caller's own
  /// code then fills until the Job is destroyed; while it waits in run() or idle() the slot is
  /// given to others. So never more than N threads compute. Used by the thread that made it, and
  /// not from within a task.
  class Job final : public Executor {
   public:
    Job(OrderedPool& pool, std::uint64_t order);  ///< lower orders go first
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;
    ~Job() override;
    void run(std::size_t n, const std::function<void(std::size_t)>& task) override;
    [[nodiscard]] std::size_t concurrency() const noexcept override { return pool_.threads_; }
    void idle(const std::function<void()>& wait) override;
    /// Processor time of the caller since construction and of all tasks so far.
    [[nodiscard]] double cpu_seconds() const noexcept;

   private:
    OrderedPool& pool_;
    std::uint64_t order_;
    double start_cpu_, tasks_cpu_ = 0;
  };

 private:
  struct Batch;
  void serve();
  void stop();
  void work_on(Batch& batch, std::unique_lock<std::mutex>& lock);
  void enter(std::uint64_t order, std::unique_lock<std::mutex>& lock);
  void leave();
  void use_slot(int by);

  const std::size_t threads_;
  BusyMeter busy_;
  std::mutex mutex_;
  std::condition_variable work_, slot_, done_;
  std::multimap<std::uint64_t, Batch*> open_;  ///< batches with numbers left, oldest job first
  std::multiset<std::uint64_t> entering_;      ///< callers that wait for a slot: before any task
  std::size_t running_ = 0;                    ///< slots in use
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace loom
