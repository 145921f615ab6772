// SPDX-License-Identifier: BSD-3-Clause
// The calls back into Python.
#include "watch.hpp"

#include <algorithm>
#include <chrono>

namespace fiberloom::python {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);
/// Who has not stopped by then (a file system that hangs) must not keep the process.
constexpr auto kLongestEnd = std::chrono::seconds(30);

// The end of the interpreter is one event of the whole process. No lock: a fork would copy it held.
std::atomic<int> running{0};
std::atomic<bool> ending{false};
std::thread::id ender;  // valid once `ending` is true

// A builtin's exception: to make one of ours would run Python, in which the thread may already end.
// SystemExit, which threads end with in silence, would end asyncio's loop too, and Dask wait 10 s
// for it.
class Ended : public py::builtin_exception {
 public:
  Ended() : py::builtin_exception("interrupted: the interpreter has ended") {}
  void set_error() const override { PyErr_SetString(PyExc_RuntimeError, what()); }
};

bool ended_for(std::thread::id caller) { return ending && caller != ender; }

int logging_level(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return 10;
    case LogLevel::kInfo:
      return 20;
    case LogLevel::kWarning:
      return 30;
    case LogLevel::kError:
      return 40;
  }
  return 40;
}

}  // namespace

Watch::Running::Running() noexcept { ++running; }
Watch::Running::~Running() { --running; }

void Watch::end_all() {
  ender = std::this_thread::get_id();
  ending = true;
  const auto give_up = std::chrono::steady_clock::now() + kLongestEnd;
  while (running > 0 && std::chrono::steady_clock::now() < give_up) {
    {
      const py::gil_scoped_release release;
      std::this_thread::sleep_for(kLookEvery / 5);
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

void Watch::leave_if_ended() const {
  if (ended_for(caller_)) throw Ended();
}

void Watch::forget_all() noexcept { running = 0; }

Observer Watch::observer() {
  Observer observer;
  observer.message = [this](LogLevel level, const std::string& text) {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back(level, text);
  };
  observer.progress = [this](const char* name, std::size_t done, std::size_t total) {
    const std::lock_guard lock(mutex_);
    if (stages_.empty() || stages_.back().name != name) stages_.push_back({name});
    Stage& stage = stages_.back();
    stage.done = std::max(stage.done, done);  // workers overtake each other
    stage.total = total;
  };
  observer.stop_requested = [this] { return stop_ || ended_for(caller_); };
  return observer;
}

void Watch::finish() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_one();
}

void Watch::wait(std::thread& worker) {
  for (;;) {
    {
      const py::gil_scoped_release release;
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, kLookEvery, [this] { return finished_; })) break;
    }
    if (!raised_ && !ended_for(caller_)) look();
  }
  const py::gil_scoped_release release;
  worker.join();
}

void Watch::look() {
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    report();
  } catch (...) {
    raised_ = std::current_exception();
    stop_ = true;
  }
}

void Watch::report() {
  std::vector<std::pair<LogLevel, std::string>> messages;
  std::vector<Stage> stages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(messages_);
    stages = stages_;
    for (Stage& stage : stages_) stage.reported = stage.done;
  }
  if (!messages.empty()) {
    const py::object logger = py::module_::import("logging").attr("getLogger")("fiberloom");
    for (const auto& [level, text] : messages) {
      logger.attr("log")(logging_level(level), "%s", text);
    }
  }
  if (progress_.is_none()) return;
  for (const Stage& stage : stages) {
    for (std::size_t done = stage.reported; done < stage.done; ++done) {
      progress_(stage.name, done + 1, stage.total);
    }
  }
}

}  // namespace fiberloom::python
