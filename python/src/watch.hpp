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
class Watch {
 public:
  /// progress: a callable (stage, done, total), called once for each unit of work; or None.
  explicit Watch(py::object progress = py::none()) : progress_(std::move(progress)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Calls work(observer) without the lock. An exception raised by a signal handler or by the
  /// callback comes out instead of the library's kInterrupted.
  template <class Work>
  auto run(Work&& work) {
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
    if (raised_) std::rethrow_exception(raised_);
    report();
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }

  /// As run(), on the calling thread, for work of milliseconds that nobody stops.
  template <class Work>
  auto run_here(Work&& work) {
    auto result = [&] {
      const py::gil_scoped_release release;
      return work(observer());
    }();
    report();
    return result;
  }

 private:
  struct Stage {
    std::string name;
    std::size_t done = 0, reported = 0, total = 0;
  };

  Observer observer();
  void finish();
  void wait(std::thread& worker);  ///< with the lock; gives it away between looks
  void look();                     ///< with the lock: signals, messages, progress
  void report();                   ///< with the lock: messages and progress so far

  py::object progress_;
  std::exception_ptr raised_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::vector<std::pair<LogLevel, std::string>> messages_;
  std::vector<Stage> stages_;
};

}  // namespace fiberloom::python
