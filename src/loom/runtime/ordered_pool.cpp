// SPDX-License-Identifier: BSD-3-Clause
// One mutex: tasks take milliseconds and more, so it is not where time goes.
#include "loom/runtime/ordered_pool.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "loom/runtime/sure_wait.hpp"
#include "loom/runtime/usage.hpp"

namespace loom {

struct OrderedPool::Batch {
  std::size_t count;
  const std::function<void(std::size_t)>* task;
  std::multimap<std::uint64_t, Batch*>::iterator place;
  bool listed = true;      ///< in open_
  std::size_t next = 0;    ///< the number to take
  std::size_t active = 0;  ///< tasks running
  double cpu = 0;
  std::exception_ptr error;
  std::size_t error_index = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool finished() const noexcept { return !listed && active == 0; }
};

OrderedPool::OrderedPool(std::size_t threads) : threads_(std::max<std::size_t>(threads, 1)) {
  try {
    for (std::size_t i = 0; i < threads_; ++i) workers_.emplace_back([this] { serve(); });
  } catch (...) {  // a thread that cannot be started: those that were must not outlive this
    stop();
    throw;
  }
}

OrderedPool::~OrderedPool() { stop(); }

void OrderedPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void OrderedPool::use_slot(int by) {
  running_ = by > 0 ? running_ + 1 : running_ - 1;
  busy_.change(by);
}

void OrderedPool::enter(std::uint64_t order, std::unique_lock<std::mutex>& lock) {
  const auto mine = entering_.insert(order);
  sure_wait(slot_, lock, [&] { return running_ < threads_ && *entering_.begin() == order; });
  entering_.erase(mine);
  use_slot(+1);
  if (running_ < threads_) entering_.empty() ? work_.notify_all() : slot_.notify_all();
}

void OrderedPool::leave() {
  use_slot(-1);
  entering_.empty() ? work_.notify_all() : slot_.notify_all();
}

/// Runs one task of the batch. Of several exceptions the one of the lowest number is kept.
void OrderedPool::work_on(Batch& batch, std::unique_lock<std::mutex>& lock) {
  const std::size_t i = batch.next++;
  const auto unlist = [&] {
    if (batch.listed) open_.erase(batch.place);
    batch.listed = false;
  };
  if (batch.next == batch.count) unlist();
  ++batch.active;
  use_slot(+1);
  lock.unlock();
  std::exception_ptr error;
  const double start = thread_cpu_seconds();
  try {
    (*batch.task)(i);
  } catch (...) {
    error = std::current_exception();
  }
  const double took = thread_cpu_seconds() - start;
  lock.lock();
  batch.cpu += took;
  if (error && i < batch.error_index) {
    batch.error_index = i;
    batch.error = error;
    unlist();
  }
  --batch.active;
  leave();
  if (batch.finished()) done_.notify_all();
}

void OrderedPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    sure_wait(work_, lock, [&] {
      return stopping_ || (running_ < threads_ && entering_.empty() && !open_.empty());
    });
    if (stopping_) return;
    work_on(*open_.begin()->second, lock);
  }
}

OrderedPool::Job::Job(OrderedPool& pool, std::uint64_t order) : pool_(pool), order_(order) {
  std::unique_lock lock(pool_.mutex_);
  pool_.enter(order_, lock);
  start_cpu_ = thread_cpu_seconds();
}

OrderedPool::Job::~Job() {
  const std::lock_guard lock(pool_.mutex_);
  pool_.leave();
}

void OrderedPool::Job::run(std::size_t n, const std::function<void(std::size_t)>& task) {
  if (n == 0) return;
  Batch batch{.count = n, .task = &task, .place = {}, .error = {}};
  std::unique_lock lock(pool_.mutex_);
  batch.place = pool_.open_.emplace(order_, &batch);
  pool_.leave();
  pool_.work_.notify_all();
  sure_wait(pool_.done_, lock, [&] { return batch.finished(); });
  tasks_cpu_ += batch.cpu;
  pool_.enter(order_, lock);
  lock.unlock();
  if (batch.error) std::rethrow_exception(batch.error);
}

void OrderedPool::Job::idle(const std::function<void()>& wait) {
  {
    const std::lock_guard lock(pool_.mutex_);
    pool_.leave();
  }
  std::exception_ptr error;
  try {
    wait();
  } catch (...) {
    error = std::current_exception();
  }
  std::unique_lock lock(pool_.mutex_);
  pool_.enter(order_, lock);
  lock.unlock();
  if (error) std::rethrow_exception(error);
}

double OrderedPool::Job::cpu_seconds() const noexcept {
  return thread_cpu_seconds() - start_cpu_ + tasks_cpu_;
}

}  // namespace loom
