// SPDX-License-Identifier: BSD-3-Clause
// Which process on which machine: enough to tell later, from the same machine, whether it lives.
#pragma once

#include <cstdint>
#include <string>

namespace loom {

struct ProcessIdentity {
  std::string host;     ///< for the reader
  std::string machine;  ///< boot and process-id namespace: equal where pids can be compared
  long pid = 0;
  std::uint64_t start = 0;  ///< clock ticks since boot: a recycled pid has another
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

[[nodiscard]] ProcessIdentity this_process();

enum class Liveness { kAlive, kGone, kElsewhere };

/// kElsewhere: on another machine (or in another container), so that only its heartbeat can tell.
[[nodiscard]] Liveness liveness(const ProcessIdentity& process);

/// 16 hexadecimal digits, different at each call anywhere.
[[nodiscard]] std::string unique_id();

}  // namespace loom
