// SPDX-License-Identifier: BSD-3-Clause
// The owner's side of tasks that are cut: collects the parts from all ranks, keeps what writing
// needs of its own part, and once all are here joins and writes them on a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "loom/batch/part_collector.hpp"
#include "loom/batch/pipeline.hpp"

namespace loom::batch {

class Joiner {
 public:
  /// `done` hears what became of each task that is joined here; from any thread.
  using Done = std::function<void(const Outcome&)>;

  Joiner(const TaskList& tasks, const PipelineOptions& options, PipelineContext context, Done done);
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;
  ~Joiner();

  /// What this process has read of a task that it owns. Before its own part is added.
  void keep(std::size_t task, std::unique_ptr<Opaque> material, InputStamps inputs);
  /// A part, of this process or another; from any thread, never waits. After finish() it is
  /// dropped.
  void add(PartialTask part);
  /// After the pipeline: writes what is complete, gives up the rest. The fault that made going on
  /// useless, if there was one.
  [[nodiscard]] std::optional<Error> finish();

 private:
  struct Kept {
    std::unique_ptr<Opaque> material;
    InputStamps inputs;
  };
  using Joined = std::pair<std::size_t, std::vector<PartialTask>>;

  void loop();
  void join(std::size_t task, std::vector<PartialTask> parts);
  void write(std::size_t task, std::vector<PartialTask> parts, Outcome& outcome);

  const TaskList& tasks_;
  PipelineOptions options_;
  PipelineContext context_;
  Done done_;
  PartCollector collector_;
  std::mutex mutex_;
  std::condition_variable filled_;
  bool closing_ = false;
  std::map<std::size_t, Kept> kept_;
  std::deque<Joined> joined_;
  std::optional<Error> fatal_;
  const Error no_memory_{Status::kMemory, "out of memory"};  // made while there is some
  std::thread thread_;
};

}  // namespace loom::batch
