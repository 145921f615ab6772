// SPDX-License-Identifier: BSD-3-Clause
// Runs the library without the interpreter's lock: other Python threads go on, ctrl-C stops the
// work, messages reach `logging`, progress reaches a callback.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/log.hpp"

namespace fiberloom::python {

namespace py = pybind11;

/// The work runs on a thread of its own, and the calling thread alone enters Python, twenty times a
/// second: so signals and progress do not wait until the work comes by.
///
/// CPython ends a thread that comes for the interpreter's lock too late by unwinding it, which C++
/// answers with abort(). So work that daemon threads (Dask's among them) have under way is stopped
/// and waited for while there still is an interpreter: end_all(). Their calls raise RuntimeError,
/// without running a line of Python on the way.
class Watch {
 public:
  /// progress: a callable (stage, done, total), called once for each unit of work; or None.
  explicit Watch(py::object progress = py::none()) : progress_(std::move(progress)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// For atexit: stops what other threads run, and what they begin later, and waits until it has
  /// ended. Calls of this thread go on as before.
  static void end_all();
  /// For a child of fork(), which has the calls of its parent's other threads on its books alone.
  static void forget_all() noexcept;

  /// Calls work(observer) without the lock. An exception raised by a signal handler or by the
  /// callback comes out instead of the library's kInterrupted.
  template <class Work>
  auto run(Work&& work) {
    const Running counted;
    leave_if_ended();
    std::optional<std::invoke_result_t<Work, const Observer&>> result;
    std::exception_ptr failure;
    std::thread worker([&] {
      try {
        result.emplace(work(observer()));
      } catch (...) {
        failure = std::current_exception();
      }
      finish();
    });
    wait(worker);
    leave_if_ended();
    if (raised_) std::rethrow_exception(raised_);
    report();
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }

  /// As run(), on the calling thread, for work of milliseconds that nobody stops.
  template <class Work>
  auto run_here(Work&& work) {
    const Running counted;
    leave_if_ended();
    auto result = [&] {
      const py::gil_scoped_release release;
      return work(observer());
    }();
    leave_if_ended();
    report();
    return result;
  }

 private:
  struct Stage {
    std::string name;
    std::size_t done = 0, reported = 0, total = 0;
  };

  /// One call in the books of end_all().
  struct Running {
    Running() noexcept;
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
  };

  Observer observer();
  void leave_if_ended() const;  ///< throws what becomes RuntimeError
  void finish();
  void wait(std::thread& worker);  ///< with the lock; gives it away between looks
  void look();                     ///< with the lock: signals, messages, progress
  void report();                   ///< with the lock: messages and progress so far

  py::object progress_;
  std::exception_ptr raised_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::vector<std::pair<LogLevel, std::string>> messages_;
  std::vector<Stage> stages_;
};

}  // namespace fiberloom::python
