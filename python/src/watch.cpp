// SPDX-License-Identifier: BSD-3-Clause
// The calls back into Python.
#include "watch.hpp"

namespace fiberloom::python {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(50);

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

Observer Watch::observer() {
  Observer observer;
  observer.message = [this](LogLevel level, const std::string& text) {
    const std::lock_guard lock(mutex_);
    messages_.emplace_back(level, text);
  };
  observer.progress = [this](const char* stage, std::size_t done, std::size_t total) {
    const std::lock_guard lock(mutex_);
    if (stage_ != stage) done_ = reported_ = 0;
    stage_ = stage;
    done_ = std::max(done_, done);
    total_ = total;
  };
  observer.stop_requested = [this] { return stop_requested(); };
  return observer;
}

bool Watch::stop_requested() {
  if (stop_) return true;
  if (std::this_thread::get_id() != caller_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kPollEvery) return false;
  last_ = now;
  const py::gil_scoped_acquire acquire;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    report();
  } catch (...) {
    raised_ = std::current_exception();
    stop_ = true;
  }
  return stop_;
}

void Watch::report() {
  std::vector<std::pair<LogLevel, std::string>> messages;
  std::string stage;
  std::size_t done = 0, total = 0;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(messages_);
    stage = stage_;
    if (done_ != reported_) done = reported_ = done_;
    total = total_;
  }
  if (!messages.empty()) {
    const py::object logger = py::module_::import("logging").attr("getLogger")("fiberloom");
    for (const auto& [level, text] : messages) {
      logger.attr("log")(logging_level(level), "%s", text);
    }
  }
  if (done > 0 && !progress_.is_none()) progress_(stage, done, total);
}

}  // namespace fiberloom::python
