// SPDX-License-Identifier: BSD-3-Clause
// Members of a team are threads here: any number of them makes the bytes of one.
#include "tomoloom/reconstruct/shared_direct.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numbers>
#include <thread>

#include "loom/base/rng.hpp"

namespace tomoloom {
namespace {

/// Of each pair of members what is on its way.
class Post {
 public:
  explicit Post(std::size_t members) : members_(members), on_the_way_(members * members) {}
  void send(std::size_t from, std::size_t to, const std::vector<float>& numbers) {
    const std::lock_guard lock(mutex_);
    auto& queue = on_the_way_[from * members_ + to];
    queue.insert(queue.end(), numbers.begin(), numbers.end());
    sent_ += numbers.size();
    there_.notify_all();
  }
  void receive(std::size_t from, std::size_t to, std::span<float> numbers) {
    std::unique_lock lock(mutex_);
    auto& queue = on_the_way_[from * members_ + to];
    there_.wait(lock, [&] { return queue.size() >= numbers.size(); });
    std::copy_n(queue.begin(), numbers.size(), numbers.begin());
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(numbers.size()));
  }
  [[nodiscard]] std::size_t sent() const { return sent_; }
  [[nodiscard]] bool empty() const {
    return std::ranges::all_of(on_the_way_, [](const auto& queue) { return queue.empty(); });
  }

 private:
  std::size_t members_, sent_ = 0;
  std::mutex mutex_;
  std::condition_variable there_;
  std::vector<std::deque<float>> on_the_way_;
};

class ThreadLink final : public TeamLink {
 public:
  ThreadLink(Post& post, std::size_t members, std::size_t member)
      : post_(post), members_(members), member_(member) {}
  [[nodiscard]] std::size_t members() const override { return members_; }
  [[nodiscard]] std::size_t member() const override { return member_; }
  void send(std::size_t to, std::vector<float> numbers) override {
    post_.send(member_, to, numbers);
  }
  void receive(std::size_t from, std::span<float> numbers) override {
    post_.receive(from, member_, numbers);
  }

 private:
  Post& post_;
  std::size_t members_, member_;
};

struct Scan {
  Geometry geometry;
  std::vector<float> values;  ///< [angle][slice][column]
  std::size_t slices;
};

Scan random_scan(std::size_t columns, std::size_t angles, std::size_t slices) {
  Scan scan{
      .geometry = {.columns = columns, .theta = {}, .centre = 0.47 * static_cast<double>(columns)},
      .values = {},
      .slices = slices};
  for (std::size_t a = 0; a < angles; ++a) {
    scan.geometry.theta.push_back(std::numbers::pi * static_cast<double>(a) /
                                  static_cast<double>(angles));
  }
  const CounterRng rng(3, 1);
  for (std::size_t i = 0; i < angles * slices * columns; ++i) {
    scan.values.push_back(static_cast<float>(rng.uniform(i)));
  }
  return scan;
}

std::vector<float> alone(const GridPlan& plan, const Scan& scan) {
  DirectEngine engine(plan);
  SerialExecutor serial;
  std::vector<float> slices(scan.slices * plan.image * plan.image);
  engine.reconstruct(
      {.data = scan.values.data(),
       .slices = scan.slices,
       .angle_stride = scan.slices * plan.columns,
       .slice_stride = plan.columns},
      {.data = slices.data(), .slice_stride = plan.image * plan.image, .row_stride = plan.image},
      serial);
  return slices;
}

/// The part of the scan that a member has prepared.
std::vector<float> lines_of(const Scan& scan, const Stretch& lines) {
  const std::size_t columns = scan.geometry.columns;
  std::vector<float> out;
  for (std::size_t a = 0; a < scan.geometry.theta.size(); ++a) {
    const auto at = scan.values.begin() + static_cast<std::ptrdiff_t>(a * scan.slices * columns);
    out.insert(out.end(), at + static_cast<std::ptrdiff_t>(lines.first * columns),
               at + static_cast<std::ptrdiff_t>(lines.end * columns));
  }
  return out;
}

std::vector<float> together(const GridPlan& plan, const Scan& scan, std::size_t members,
                            std::size_t& sent) {
  Post post(members);
  std::vector<float> slices(scan.slices * plan.image * plan.image);
  std::vector<std::thread> threads;
  for (std::size_t m = 0; m < members; ++m) {
    threads.emplace_back([&, m] {
      ThreadLink link(post, members, m);
      DirectEngine engine(plan);
      // what nobody fills is seen
      std::ranges::fill(engine.samples(), std::nanf(""));
      std::ranges::fill(engine.rows(), std::nanf(""));
      SharedDirect shared(engine, link, scan.slices);
      SerialExecutor serial;
      shared.reconstruct(lines_of(scan, shared.lines()),
                         m == 0 ? std::span<float>(slices) : std::span<float>(), serial);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(post.empty());
  sent = post.sent();
  return slices;
}

TEST(SharedDirect, AnyNumberOfMembersMakesTheBytesOfOne) {
  for (const auto& [columns, angles, slices] :
       {std::array<std::size_t, 3>{33, 17, 1}, {40, 24, 3}, {21, 5, 32}}) {
    const Scan scan = random_scan(columns, angles, slices);
    for (const GridPlan& plan : {plan_exact(scan.geometry, {}), plan_gridrec(scan.geometry, {})}) {
      const auto want = alone(plan, scan);
      for (const std::size_t members : {1U, 2U, 3U, 7U, 20U}) {
        std::size_t sent = 0;
        EXPECT_EQ(together(plan, scan, members, sent), want) << columns << " " << members;
        EXPECT_EQ(sent == 0, members == 1);
        EXPECT_LE(sent * sizeof(float), SharedDirect::bytes(plan, slices, members) * members);
      }
    }
  }
}

TEST(SharedDirect, PartsAreAllOfItOnceAndAsLargeAsEachOther) {
  const Scan scan = random_scan(512, 360, 1);
  const GridPlan plan = plan_exact(scan.geometry, {});
  const auto samples = [&](const Stretch& angles, const Stretch& rows) {
    std::size_t count = 0;
    for_samples(plan, angles, rows, [&](std::size_t, std::size_t n) { count += n; });
    return static_cast<double>(count);
  };
  const Stretch all{0, plan.angles};
  for (const std::size_t members : {2U, 4U, 8U}) {
    const TeamShares shares = share_group(plan, 3, members);
    for (const auto* cuts : {&shares.lines, &shares.angles, &shares.grid, &shares.image}) {
      ASSERT_EQ(cuts->size(), members);
      for (std::size_t m = 1; m < members; ++m) EXPECT_EQ((*cuts)[m].first, (*cuts)[m - 1].end);
    }
    EXPECT_EQ(shares.grid.back().end, plan.grid);
    EXPECT_EQ(shares.image.back().end, plan.image);
    double most = 0, sum = 0;
    for (const Stretch& rows : shares.grid) {
      const double cost = samples(all, rows) + static_cast<double>(plan.grid * rows.size());
      most = std::max(most, cost);
      sum += cost;
    }
    EXPECT_LT(most * static_cast<double>(members), 1.25 * sum) << members;
    EXPECT_LT(sum, 1.3 * (2.0 * static_cast<double>(plan.angles * plan.radii) +
                          static_cast<double>(plan.grid * plan.grid)));
  }
}

}  // namespace
}  // namespace tomoloom
