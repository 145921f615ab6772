// SPDX-License-Identifier: BSD-3-Clause
// Runs the library without the interpreter's lock: other Python threads go on, ctrl-C stops the
// work, messages reach `logging`, progress reaches a callback.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fiberloom/base/error.hpp"
#include "fiberloom/base/log.hpp"

namespace fiberloom::python {

namespace py = pybind11;

/// Python is entered by the calling thread alone, a few times a second, when the work polls
/// stop_requested; worker threads only leave notes.
class Watch {
 public:
  /// progress: a callable (stage, done, total), or None.
  explicit Watch(py::object progress = py::none()) : progress_(std::move(progress)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Calls work(observer) without the lock. An exception raised by a signal handler or by the
  /// callback comes out instead of the library's kInterrupted.
  template <class Work>
  auto run(Work&& work) {
    try {
      auto result = released(std::forward<Work>(work));
      report();
      return result;
    } catch (const Error&) {
      if (raised_) std::rethrow_exception(raised_);
      report();
      throw;
    }
  }

 private:
  template <class Work>
  auto released(Work&& work) {
    const py::gil_scoped_release release;
    return work(observer());
  }
  Observer observer();
  bool stop_requested();
  void report();  ///< with the lock: messages and progress so far

  py::object progress_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point last_{};
  std::exception_ptr raised_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> messages_;
  std::string stage_;
  std::size_t done_ = 0, total_ = 0, reported_ = 0;
};

}  // namespace fiberloom::python
