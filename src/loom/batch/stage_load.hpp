// SPDX-License-Identifier: BSD-3-Clause
// How busy the stages of a pipeline are: of one process, or of all ranks of a job together.
#pragma once

#include <cstddef>
#include <cstdint>

namespace loom::batch {

/// Thread-seconds that the stages were busy, and what waits between them.
struct StageLoad {
  double read_s = 0, compute_s = 0, write_s = 0;
  std::size_t readers = 0, threads = 0, writers = 0;
  std::size_t to_compute = 0, to_write = 0;  ///< frames
  std::uint64_t memory_bytes = 0, memory_budget_bytes = 0;

  StageLoad& operator+=(const StageLoad& o) {
    read_s += o.read_s;
    compute_s += o.compute_s;
    write_s += o.write_s;
    readers += o.readers;
    threads += o.threads;
    writers += o.writers;
    to_compute += o.to_compute;
    to_write += o.to_write;
    memory_bytes += o.memory_bytes;
    memory_budget_bytes += o.memory_budget_bytes;
    return *this;
  }
};

}  // namespace loom::batch
