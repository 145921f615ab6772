// SPDX-License-Identifier: BSD-3-Clause
// /proc, kill(pid, 0) and a random number.
#include "loom/runtime/process_identity.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <random>
#include <sstream>

#include "loom/runtime/cgroup.hpp"

namespace loom {
namespace {

/// Field 22 of /proc/PID/stat; the name in field 2 may hold anything, so count from its ')'. A
/// zombie counts as gone: it does no more work. Nothing: this process may not see it (hidepid), or
/// there is no /proc.
std::optional<std::uint64_t> start_time(long pid) {
  const auto line = first_line("/proc/" + std::to_string(pid) + "/stat");
  if (!line) return std::nullopt;
  const auto close = line->rfind(')');
  if (close == std::string::npos) return 0;
  std::istringstream in(line->substr(close + 1));
  std::string field;
  for (int i = 3; i <= 22 && in >> field; ++i) {
    if (i == 3 && (field == "Z" || field == "X")) return 0;
    if (i == 22) return std::stoull(field);
  }
  return 0;
}

std::string machine() {
  std::array<char, 256> name{};
  const auto n = ::readlink("/proc/self/ns/pid", name.data(), name.size());
  return first_line("/proc/sys/kernel/random/boot_id").value_or("") + " " +
         std::string(name.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
}

}  // namespace

ProcessIdentity this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  ProcessIdentity me;
  me.host = host.data();
  me.machine = machine();
  me.pid = ::getpid();
  me.start = start_time(me.pid).value_or(0);
  return me;
}

Liveness liveness(const ProcessIdentity& process) {
  if (process.machine != machine()) return Liveness::kElsewhere;
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return Liveness::kGone;
  return start_time(process.pid).value_or(process.start) == process.start ? Liveness::kAlive
                                                                          : Liveness::kGone;
}

std::string unique_id() {
  std::random_device random;
  char text[17];
  std::snprintf(text, sizeof text, "%08x%08x", random(), random());
  return text;
}

}  // namespace loom
