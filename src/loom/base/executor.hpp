// SPDX-License-Identifier: BSD-3-Clause
// "Run n numbered tasks": all that the science knows of threads. The bodies live in runtime/.
#pragma once

#include <cstddef>
#include <functional>

namespace loom {

/// Runs task(0) ... task(n-1), in any order, on any thread; returns when all are done. The first
/// exception is rethrown after the others have finished; tasks not yet started may then be skipped.
/// Results must not depend on the order: a task writes only what is its own.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void run(std::size_t n, const std::function<void(std::size_t)>& task) = 0;
  [[nodiscard]] virtual std::size_t concurrency() const noexcept = 0;
  /// Runs `wait`, which waits for something that another caller of this executor may have to do
  /// first. Whoever shares out processors gives the caller's to the others meanwhile.
  virtual void idle(const std::function<void()>& wait) { wait(); }
};

/// The body without threads.
class SerialExecutor final : public Executor {
 public:
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override;
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 1; }
};

/// One thread for whoever was handed none.
[[nodiscard]] Executor& serial_executor() noexcept;

/// Runs task(first, count) over [0, n) in runs of whole `unit`s (the last may be shorter), as many
/// as there are threads, so that what a run has to begin with is paid once a thread.
void run_in_parts(Executor& executor, std::size_t n, std::size_t unit,
                  const std::function<void(std::size_t, std::size_t)>& task);

}  // namespace loom
