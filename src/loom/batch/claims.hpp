// SPDX-License-Identifier: BSD-3-Clause
// Who works on what, between runs that share nothing but a file system.
//
// Only two things are asked of it: link() makes a name or fails when the name is there (true on
// NFS since version 2 and on Lustre, where locks and O_EXCL have been less than that), and a
// file's time stamp can be seen by others. A run has one file, runs/ID, that says which process it
// is and is touched every few seconds. A claim is a hard link to it: one operation makes it, whole,
// and the heartbeat of the run is the heartbeat of all its claims.
//
// Claims have generations: claims/NAME.1, NAME.2, ... Who finds that the holder of the newest one
// is dead makes the next; exactly one can. (A claim that is renamed away or deleted by who thinks
// it stale may be a fresh one by then: that is why nobody ever removes another's live claim.) After
// claiming, ask again whether the work is done: the former holder may have finished it meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "loom/batch/run_folder.hpp"
#include "loom/runtime/process_identity.hpp"

namespace loom::batch {

struct ClaimOptions {
  std::string run_id;      ///< ranks of one job share it; empty: a new one
  int rank = 0;            ///< of an MPI job
  double timeout_s = 120;  ///< a holder on another machine is dead after so long without heartbeat
};

/// What acquire() found.
struct ClaimResult {
  bool mine = false;
  std::string holder;           ///< "host, process 123" of a live holder elsewhere
  std::vector<long> dead_pids;  ///< processes whose claims were taken over
};

/// This process's claims in one folder. Safe from any thread.
class Claims {
 public:
  /// Registers runs/ID and starts the heartbeat. The folder must have been created. Throws
  /// kUnwritable, kDiskFull.
  Claims(const RunFolder& folder, ClaimOptions options);
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;
  /// Stops the heartbeat, removes runs/ID and what is still claimed.
  ~Claims();

  /// Claims `name`, unless a live run has it. What this run (any of its ranks) holds is mine.
  [[nodiscard]] ClaimResult acquire(const std::string& name);
  void release(const std::string& name);
  /// Removes what dead runs left: their run files, and their claims (each by the way of a claim
  /// of our own). The processes that died, by name of what they held.
  std::map<std::string, std::vector<long>> tidy();
  /// A live holder other than this run, without claiming anything.
  [[nodiscard]] std::optional<std::string> holder(const std::string& name) const;

  [[nodiscard]] const std::string& run_id() const noexcept { return options_.run_id; }
  [[nodiscard]] const ProcessIdentity& identity() const noexcept { return me_; }
  [[nodiscard]] double timeout_s() const noexcept { return options_.timeout_s; }
  /// Seconds since a file was last changed, by the file system's clock.
  [[nodiscard]] double age_s(const std::string& path) const;

 private:
  enum class Holder { kNobody, kMine, kDead, kAlive };
  struct Found {
    Holder holder = Holder::kNobody;
    std::string label;
    long pid = 0;
  };
  [[nodiscard]] std::string path(const std::string& name, int generation) const;
  [[nodiscard]] Found look(const std::string& path) const;
  [[nodiscard]] std::optional<ClaimResult> climb(const std::string& name);
  [[nodiscard]] bool make(const std::string& path);
  void drop(const std::string& path);
  void restore();
  void beat();

  RunFolder folder_;
  ClaimOptions options_;
  ProcessIdentity me_;
  std::string run_file_, text_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::map<std::string, int> held_;  ///< name -> generation
  std::vector<std::string> copies_;  ///< claims that are no links (no hard links here)
  std::thread heart_;
};

/// A live holder of `name`, as who does not take part sees it: nothing is registered or touched.
/// Of one on another machine the age of its heartbeat is told by this machine's clock.
[[nodiscard]] std::optional<std::string> seen_holder(const RunFolder& folder,
                                                     const std::string& name);

}  // namespace loom::batch
