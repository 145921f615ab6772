// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of one job tell each other, as bytes (wire_archive.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loom/batch/dispatcher.hpp"
#include "loom/batch/part_collector.hpp"
#include "loom/batch/task_list.hpp"
#include "loom/batch/wire_archive.hpp"
#include "loom/batch/work_kind.hpp"

namespace loom::batch {

/// A task for the queue: its number in the run's list, and those of the tasks that it waits for.
struct QueuedTask {
  std::size_t number = 0;
  std::vector<std::size_t> after;
  Task task;
  AnyOf any{};
};

/// What a rank says of itself when it comes.
struct RankHello {
  std::string host;
  double cores = 0;             ///< threads that it will run; 0: its share of its processors
  int isa = 0;                  ///< simd/isa.hpp
  std::vector<int> processors;  ///< affinity mask
  int device = 0;  ///< what computes: results of two kinds differ by rounding; 0: the CPU
};

/// What a rank says when it goes.
struct RankReport {
  int rank = 0;
  std::string host;
  double cores = 1;
  double launch_s = 0;      ///< from the start of the process until MPI was to be opened
  double open_s = 0;        ///< MPI_Init and what belongs to it
  double first_unit_s = 0;  ///< from the start of the process until its first unit was there
  double wait_s = 0;        ///< the pipeline waited for units, the wait for the end left out
  double mpi_s = 0;         ///< inside MPI calls
  double loop_cpu_s = 0;    ///< processor time of the thread that speaks MPI, MPI's own included
  double cpu_s = 0;         ///< of the whole process
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t bytes_sent = 0;
  int tasks = 0, parts = 0;
  std::string trace;  ///< events of its timeline
};

// What carries contents and pieces asks the task's kind for their bytes.
[[nodiscard]] Bytes to_bytes(const Outcome& outcome);
[[nodiscard]] Bytes to_bytes(const std::vector<QueuedTask>& tasks, const WorkKinds& kinds);
[[nodiscard]] Bytes to_bytes(const Assignment& assignment, const Task& task,
                             const WorkKinds& kinds);
[[nodiscard]] Bytes to_bytes(const PartialTask& part, const WorkKind& kind);
[[nodiscard]] Bytes to_bytes(const RankHello& hello);
[[nodiscard]] Bytes to_bytes(const RankReport& report);
void from_bytes(std::span<const std::byte> bytes, Outcome& outcome);
void from_bytes(std::span<const std::byte> bytes, std::vector<QueuedTask>& tasks,
                const WorkKinds& kinds);
void from_bytes(std::span<const std::byte> bytes, Assignment& assignment, Task& task,
                const WorkKinds& kinds);
void from_bytes(std::span<const std::byte> bytes, PartialTask& part, const TaskList& tasks,
                const WorkKinds& kinds);
void from_bytes(std::span<const std::byte> bytes, RankHello& hello);
void from_bytes(std::span<const std::byte> bytes, RankReport& report);

}  // namespace loom::batch
