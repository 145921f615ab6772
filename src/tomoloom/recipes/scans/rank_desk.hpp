// SPDX-License-Identifier: BSD-3-Clause
// What the thread of a rank that speaks MPI shares with the threads that work: mail to be sent, the
// block that is on its way to rank 0, who has failed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/batch/wire_archive.hpp"
#include "tomoloom/exchange/slice_sink.hpp"
#include "tomoloom/recipes/recon_setup.hpp"

namespace tomoloom::scans {

using loom::batch::Bytes;
using loom::batch::WireReader;
using loom::batch::WireWriter;

enum Tag : int {
  kTagHello = 1,  ///< to rank 0: RankHello
  kTagWork,       ///< from it: RankWork
  kTagOffer,      ///< to it: there is a block, BlockOffer
  kTagRoom,       ///< from it: send it
  kTagSlices,     ///< to it: a piece of the block
  kTagDone,       ///< to it: RankDone
  kTagFailed,     ///< to it: status, errno, message
  kTagAlive,      ///< both ways
  kTagTeam,       ///< between ranks that share a block: numbers
  kTagEnd         ///< from rank 0: the volume is there
};

struct RankHello {
  int isa = 0;
};

/// Numbers of a block's slices, and the first slice.
struct BlockOffer {
  std::size_t first = 0, size = 0;
};

/// What a rank is to do, and what rank 0 has found for all.
struct RankWork {
  int isa = 0;  ///< the lowest of all
  Axis axis;
  std::vector<SliceBlock> blocks;
  int team_first = 0, team_size = 1;  ///< ranks that have the same block
};

struct RankDone {
  PixelFlaws flaws;
  StageTime read, compute, write;
  std::size_t threads = 0;
  std::uint64_t memory = 0;
  bool overlap = true, spooled = false;
};

template <class T>
[[nodiscard]] Bytes to_bytes(const T& value) {
  WireWriter writer;
  writer(value);
  return writer.take();
}
template <class T>
[[nodiscard]] T from_bytes(std::span<const std::byte> bytes) {
  T value{};
  WireReader reader(bytes);
  reader(value);
  reader.finish();
  return value;
}

struct Letter {
  int to = 0, tag = 0;
  Bytes bytes;
};

/// Safe from any thread.
class RankDesk {
 public:
  void post(Letter letter) {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
  }
  [[nodiscard]] std::optional<Letter> next_letter() {
    const std::lock_guard lock(mutex_);
    if (letters_.empty()) return std::nullopt;
    Letter letter = std::move(letters_.front());
    letters_.pop_front();
    return letter;
  }

  /// The first failure counts; all that wait here are thrown it.
  void fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = error;
    changed_.notify_all();
  }
  [[nodiscard]] std::optional<Error> failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

  /// Calls `change` under the lock and wakes who waits.
  template <class Change>
  void change(const Change& change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  /// Waits under the lock for `ready`, then calls `take`. Throws the failure.
  template <class Ready, class Take>
  auto wait(const Ready& ready, const Take& take) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || ready(); });
    if (failure_) throw Error(*failure_);
    return take();
  }
  template <class Ready>
  void wait(const Ready& ready) {
    wait(ready, [] {});
  }
  template <class Look>
  [[nodiscard]] auto look(const Look& look) const {
    const std::lock_guard lock(mutex_);
    return look();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Letter> letters_;
  std::optional<Error> failure_;
};

}  // namespace tomoloom::scans
