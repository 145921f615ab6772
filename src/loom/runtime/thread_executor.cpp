// SPDX-License-Identifier: BSD-3-Clause
// The executor on std::thread: a list of batches, each with a counter from which threads take
// numbers. A caller works on its own batch only, then waits for the numbers that others have taken
// from it, so nested runs cannot deadlock and never start somebody else's work while they wait.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "loom/runtime/executors.hpp"
#include "loom/runtime/sure_wait.hpp"
#include "loom/runtime/thread_count.hpp"

namespace loom {
namespace {

struct Batch {
  Batch(std::size_t n, const std::function<void(std::size_t)>& body) : count(n), task(&body) {}

  const std::size_t count;
  const std::function<void(std::size_t)>* const task;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::size_t helpers = 0;  ///< workers inside this batch; guarded by the pool's mutex
  std::mutex error_mutex;
  std::exception_ptr error;
  std::size_t error_index = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool open() const noexcept { return !failed && next < count; }

  /// Takes numbers until none is left. Of several exceptions the one of the lowest number is kept.
  void work() {
    while (!failed) {
      const std::size_t i = next.fetch_add(1);
      if (i >= count) return;
      try {
        (*task)(i);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (i < error_index) {
          error_index = i;
          error = std::current_exception();
        }
        failed = true;
      }
    }
  }
};

class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(std::size_t threads) {
    try {
      for (std::size_t i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
    } catch (...) {  // a thread that cannot be started: those that were must not outlive this
      stop();
      throw;
    }
  }
  ThreadExecutor(const ThreadExecutor&) = delete;
  ThreadExecutor& operator=(const ThreadExecutor&) = delete;
  ~ThreadExecutor() override { stop(); }

  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    if (n == 0) return;
    Batch batch(n, task);
    if (n > 1 && !workers_.empty()) {
      {
        const std::lock_guard lock(mutex_);
        batches_.push_back(&batch);
      }
      wake_.notify_all();
      batch.work();
      std::unique_lock lock(mutex_);
      std::erase(batches_, &batch);  // from here on nobody enters
      sure_wait(left_, lock, [&] { return batch.helpers == 0; });
    } else {
      batch.work();
    }
    if (batch.error) std::rethrow_exception(batch.error);
  }

  [[nodiscard]] std::size_t concurrency() const noexcept override { return workers_.size() + 1; }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  /// The newest batch that still has numbers: nested work is what its caller waits for.
  Batch* find_open() {
    const auto it =
        std::find_if(batches_.rbegin(), batches_.rend(), [](const Batch* b) { return b->open(); });
    return it == batches_.rend() ? nullptr : *it;
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      Batch* batch = nullptr;
      sure_wait(wake_, lock, [&] { return stopping_ || (batch = find_open()) != nullptr; });
      if (batch == nullptr) return;
      ++batch->helpers;
      lock.unlock();
      batch->work();
      lock.lock();
      if (--batch->helpers == 0) left_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, left_;
  std::vector<Batch*> batches_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace

std::unique_ptr<Executor> make_executor(std::size_t threads) {
  if (threads == 0) threads = default_thread_count();
  if (threads == 1) return std::make_unique<SerialExecutor>();
  return std::make_unique<ThreadExecutor>(threads);
}

}  // namespace loom
