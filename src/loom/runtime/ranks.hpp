// SPDX-License-Identifier: BSD-3-Clause
// The processes of one MPI job as Fiberloom needs them: numbered, sending each other bytes. Knows
// no MPI: the body is a module that is loaded only when an MPI launch is seen (ranks_module.hpp).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace loom {

struct RankMessage {
  int from = 0;
  int tag = 0;
  std::vector<std::byte> bytes;
};

/// This process among the ranks of a job. Only the thread that opened it may call it. Failures are
/// Error (kInternal); whoever catches one calls abort(), since the other ranks would wait for ever.
/// Destroyed without finish() it aborts the job too.
class Ranks {
 public:
  virtual ~Ranks() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Among the ranks that share this machine's memory.
  [[nodiscard]] virtual int local_rank() const = 0;
  [[nodiscard]] virtual int local_size() const = 0;
  /// Machines of the job.
  [[nodiscard]] virtual int nodes() const = 0;
  /// "Open MPI 4.1.4": for the log.
  [[nodiscard]] virtual std::string library() const = 0;

  /// Returns at once; the bytes go out while receive() is called. To itself is allowed. Messages
  /// from one rank to another arrive in order.
  virtual void send(int to, int tag, std::vector<std::byte> bytes) = 0;
  /// What has arrived, or nullopt at once.
  [[nodiscard]] virtual std::optional<RankMessage> receive() = 0;
  /// Messages of send() whose bytes are not yet taken over by MPI.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Wall time inside MPI calls so far, opening left out.
  [[nodiscard]] virtual double seconds_inside() const = 0;

  /// Every rank calls it when nothing is left to be said; waits for all of them.
  virtual void finish() = 0;
  /// Ends all ranks of the job at once with this exit code.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace loom
