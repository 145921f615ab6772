// SPDX-License-Identifier: BSD-3-Clause
// For tests: ranks that are threads of one process, so that the thread sanitizer sees a whole job.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/runtime/ranks.hpp"

namespace loom {

class ThreadRanks final : public Ranks {
 public:
  struct World {
    struct Box {
      std::mutex mutex;
      std::deque<RankMessage> messages;
    };
    explicit World(int n) : boxes(static_cast<std::size_t>(n)) {}
    std::vector<Box> boxes;
    std::atomic<int> finished{0};
    std::atomic<int> aborted{0};  ///< exit code
  };

  ThreadRanks(World& world, int rank) : world_(world), rank_(rank) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(world_.boxes.size()); }
  [[nodiscard]] int local_rank() const override { return rank_; }
  [[nodiscard]] int local_size() const override { return size(); }
  [[nodiscard]] int nodes() const override { return 1; }
  [[nodiscard]] std::string library() const override { return "threads"; }
  void send(int to, int tag, std::vector<std::byte> bytes) override {
    World::Box& box = world_.boxes[static_cast<std::size_t>(to)];
    const std::lock_guard lock(box.mutex);
    box.messages.push_back({rank_, tag, std::move(bytes)});
  }
  [[nodiscard]] std::optional<RankMessage> receive() override {
    if (world_.aborted != 0) throw Error(Status::kInternal, "aborted");
    World::Box& box = world_.boxes[static_cast<std::size_t>(rank_)];
    const std::lock_guard lock(box.mutex);
    if (box.messages.empty()) return std::nullopt;
    RankMessage message = std::move(box.messages.front());
    box.messages.pop_front();
    return message;
  }
  [[nodiscard]] std::size_t unsent() const override { return 0; }
  [[nodiscard]] double seconds_inside() const override { return 0; }
  void finish() override {
    ++world_.finished;
    while (world_.finished < size() && world_.aborted == 0) std::this_thread::yield();
  }
  [[noreturn]] void abort(int exit_code) override {
    world_.aborted = exit_code;
    throw Error(Status::kInternal, "aborted");
  }

 private:
  World& world_;
  int rank_;
};

}  // namespace loom
