// SPDX-License-Identifier: BSD-3-Clause
// The ways of slices when one volume is made by several ranks: to rank 0, and there into the file.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tomoloom/recipes/scans/rank_desk.hpp"

namespace tomoloom::scans {

/// Of a message of slices: far below what MPI takes at once, and what is held twice.
inline constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

/// A rank's part of the volume, on its way to rank 0: one block at a time, write() waits for it.
class BlockPost final : public SliceSink {
 public:
  explicit BlockPost(RankDesk& desk) : desk_(desk) {}

  [[nodiscard]] std::size_t slices_done() const override { return 0; }
  [[nodiscard]] bool done(std::size_t /*first*/, std::size_t /*count*/) const override {
    return false;
  }
  void write(std::size_t first, std::span<const float> slices) override {
    desk_.change([&] {
      rest_ = slices;
      granted_ = false;
    });
    desk_.post({0, kTagOffer, to_bytes(BlockOffer{first, slices.size()})});
    desk_.wait([&] { return rest_.empty(); });
  }
  void commit() override {}
  void discard() override {}

  // The main thread's side.
  void grant() {
    desk_.change([&] { granted_ = true; });
  }
  /// The next piece, where rank 0 has room for it.
  [[nodiscard]] std::optional<Bytes> next_piece() {
    std::optional<Bytes> piece;
    desk_.change([&] {
      if (!granted_ || rest_.empty()) return;
      const auto bytes = std::as_bytes(rest_.first(std::min(rest_.size(), kPieceBytes / 4)));
      piece.emplace(bytes.begin(), bytes.end());
      rest_ = rest_.subspan(piece->size() / sizeof(float));
    });
    return piece;
  }

 private:
  RankDesk& desk_;
  std::span<const float> rest_;
  bool granted_ = false;
};

/// The volume on rank 0, written by its own blocks and by those that arrive.
class SharedVolume final : public SliceSink {
 public:
  explicit SharedVolume(std::unique_ptr<SliceSink> volume) : volume_(std::move(volume)) {}
  [[nodiscard]] std::size_t slices_done() const override { return volume_->slices_done(); }
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const override {
    return volume_->done(first, count);
  }
  void write(std::size_t first, std::span<const float> slices) override {
    const std::lock_guard lock(mutex_);
    volume_->write(first, slices);
  }
  void commit() override { volume_->commit(); }
  void discard() override { volume_->discard(); }

 private:
  std::mutex mutex_;
  std::unique_ptr<SliceSink> volume_;
};

/// Blocks of other ranks as they arrive at rank 0: one is being received while one is written.
class Arrivals {
 public:
  explicit Arrivals(RankDesk& desk) : desk_(desk) {}

  // The main thread's side.
  void offered(int rank, std::size_t first, std::size_t size) {
    waiting_.push_back({rank, first, size});
  }
  /// Who may send now, where there is room.
  [[nodiscard]] std::optional<int> next_sender() {
    if (waiting_.empty() || coming_) return std::nullopt;
    coming_ = waiting_.front();
    waiting_.pop_front();
    block_.clear();
    block_.reserve(coming_->size);
    desk_.change([&] { pending_ = true; });
    return coming_->rank;
  }
  void piece(std::span<const std::byte> bytes) {
    const std::size_t count = bytes.size() / sizeof(float), at = block_.size();
    if (!coming_ || at + count > coming_->size) {
      throw Error(Status::kInternal, "slices that nobody asked for");
    }
    block_.resize(at + count);
    std::memcpy(block_.data() + at, bytes.data(), bytes.size());
  }
  /// Gives a block that is whole to write_one(), once the last one is written: that may be after
  /// its rank has said that it is done.
  void hand_over() {
    if (!coming_ || block_.size() < coming_->size) return;
    desk_.change([&] {
      if (full_) return;
      full_ = coming_->first;
      std::swap(block_, written_);
      coming_.reset();
      pending_ = false;
    });
  }

  // The writing thread's side: false when all is said.
  [[nodiscard]] bool write_one(SliceSink& volume, const std::function<void(std::size_t)>& wrote) {
    const auto first =
        desk_.wait([&] { return full_ || (over_ && !pending_); }, [&] { return full_; });
    if (!first) return false;
    volume.write(*first, written_);
    wrote(written_.size());
    desk_.change([&] { full_.reset(); });
    return true;
  }
  void close() {
    desk_.change([&] { over_ = true; });
  }

 private:
  struct Offer {
    int rank;
    std::size_t first, size;
  };
  RankDesk& desk_;
  std::deque<Offer> waiting_;
  std::optional<Offer> coming_;
  std::vector<float> block_, written_;
  std::optional<std::size_t> full_;  ///< first slice of what is in written_
  bool pending_ = false;             ///< a block was asked for and is not in written_ yet
  bool over_ = false;                ///< all ranks have sent what they have
};

}  // namespace tomoloom::scans
