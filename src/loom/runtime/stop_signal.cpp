// SPDX-License-Identifier: BSD-3-Clause
// A signal handler can reach nothing but a global; this is the one of the program.
#include "loom/runtime/stop_signal.hpp"

#include <atomic>
#include <csignal>

namespace loom {
namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void set_stop_flag(int /*signal*/) { stop_flag = true; }

}  // namespace

void catch_stop_signals() noexcept {
  struct sigaction action {};
  action.sa_handler = set_stop_flag;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // the second one is not caught
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};  // nohup's wish to outlive the terminal stands
  if (sigaction(SIGHUP, nullptr, &before) != 0 || before.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, nullptr);
  }
}

void ignore_write_signals() noexcept {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool stop_signal_received() noexcept { return stop_flag; }

}  // namespace loom
