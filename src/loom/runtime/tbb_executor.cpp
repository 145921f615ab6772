// SPDX-License-Identifier: BSD-3-Clause
// The oneTBB executor: an arena of its own, loops isolated (a waiting loop must not steal another
// frame's tasks and break the memory budget).
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "loom/runtime/executors.hpp"
#include "loom/runtime/thread_count.hpp"

namespace loom {
namespace {

class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(std::size_t threads)
      : limit_(tbb::global_control::max_allowed_parallelism, threads),
        arena_(static_cast<int>(threads)),
        threads_(threads) {}

  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    const tbb::blocked_range<std::size_t> range(0, n, 1);
    arena_.execute([&] {
      tbb::this_task_arena::isolate([&] {
        tbb::parallel_for(
            range,
            [&](const tbb::blocked_range<std::size_t>& r) {
              for (std::size_t i = r.begin(); i != r.end(); ++i) task(i);
            },
            tbb::simple_partitioner());
      });
    });
  }

  [[nodiscard]] std::size_t concurrency() const noexcept override { return threads_; }

 private:
  tbb::global_control limit_;  // oneTBB's own limit is the number of processors
  tbb::task_arena arena_;
  std::size_t threads_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(std::size_t threads) {
  if (threads == 0) threads = default_thread_count();
  if (threads == 1) return std::make_unique<SerialExecutor>();
  return std::make_unique<TbbExecutor>(threads);
}

std::string_view executor_kind() noexcept { return "oneTBB"; }

}  // namespace loom
