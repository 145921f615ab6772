// SPDX-License-Identifier: BSD-3-Clause
// Line integrals of the device, on the CPU in its place, against those of the CPU.
#include "tomoloom/prepare/gpu/device_prepare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "loom/device/emulated_device.hpp"
#include "loom/device/send.hpp"
#include "loom/testing/test_executor.hpp"
#include "tomoloom/prepare/air.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kAngles = 140, kRows = 3, kColumns = 37, kPixels = kRows * kColumns;

struct Scan {
  std::vector<std::uint16_t> counts = std::vector<std::uint16_t>(kAngles * kPixels);
  std::vector<float> floats;
  std::vector<Gain> gains;
  std::vector<std::uint32_t> set = std::vector<std::uint32_t>(kAngles);

  Scan() {
    std::mt19937 random(3);
    for (int s = 0; s < 2; ++s) {
      std::vector<float> flat(kPixels), dark(kPixels);
      for (float& value : flat) value = static_cast<float>(20000 + random() % 9000);
      for (float& value : dark) value = static_cast<float>(90 + random() % 20);
      flat[41] = 0;  // blind
      gains.push_back(make_gain(flat, dark));
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t x = i % kColumns;  // columns of their own height, air at the ends
      counts[i] = static_cast<std::uint16_t>(4000 + 300 * (x % 5) + random() % 5000 +
                                             (x < 4 || x > 32 ? 15000 : 0));
    }
    counts[77] = 3;  // below the dark
    for (std::size_t a = 0; a < kAngles; ++a) set[a] = a < 60 ? 0 : 1;
    floats.assign(counts.begin(), counts.end());
    floats[5000] = std::numeric_limits<float>::quiet_NaN();
  }
};

/// prepare_block()'s steps, one after the other.
template <class Counts>
std::vector<float> on_cpu(const Scan& scan, const std::vector<Counts>& counts,
                          const PrepareChoice& choice) {
  std::vector<float> out(kAngles * kPixels);
  for (std::size_t a = 0; a < kAngles; ++a) {
    const std::span<float> frame(out.data() + a * kPixels, kPixels);
    normalize(std::span<const Counts>(counts.data() + a * kPixels, kPixels),
              scan.gains[scan.set[a]], Logarithm::kNone, frame);
    if (choice.air > 0) balance_air(frame, kColumns, choice.air);
    minus_log(frame);
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    remove_stripe({out.data() + r * kColumns, kAngles, kColumns, kPixels}, choice.stripe);
  }
  return out;
}

std::vector<float> on_device(const Scan& scan, const PrepareChoice& choice, GridOrder order) {
  const auto device = make_emulated_device({.order = order});
  const auto stream = device->make_stream();
  const std::size_t bytes = kAngles * kPixels * sizeof(float);
  const DeviceMemory all(*device, bytes);
  HostMemory staging(*device, bytes);
  DevicePrepare prepare(choice, kRows + 1, *device);  // memory for more rows than there are
  loom::TestThreads threads(3);
  std::vector<float> out(kAngles * kPixels);
  for (int time = 0; time < 2; ++time) {  // what the first block left does not matter
    prepare.begin({.rows = kRows,
                   .counts = choice.counts ? scan.counts.data() : nullptr,
                   .floats = choice.counts ? nullptr : scan.floats.data(),
                   .gains = scan.gains},
                  *stream, staging);
    for (std::size_t first = 0; first < kAngles; first += 100) {
      prepare.bring(first, std::min<std::size_t>(100, kAngles - first),
                    static_cast<float*>(all.data()), *stream, staging, threads);
    }
    stream->synchronize();
    fetch(*stream, std::span<float>(out), static_cast<const float*>(all.data()), staging);
  }
  return out;
}

void expect_same(const PrepareChoice& choice) {
  const Scan scan;
  const auto want =
      choice.counts ? on_cpu(scan, scan.counts, choice) : on_cpu(scan, scan.floats, choice);
  for (const GridOrder order : {GridOrder::kInward, GridOrder::kScattered}) {
    const auto got = on_device(scan, choice, order);
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(got[i], want[i], 3e-6 * std::max(1.0F, std::abs(want[i]))) << i;
    }
  }
}

PrepareChoice choice_of(const Scan& scan) {
  return {
      .angles = kAngles, .columns = kColumns, .flat_set = scan.set, .flat_sets = 2, .counts = true};
}

TEST(DevicePrepare, CountsBecomeTheCpusLineIntegrals) { expect_same(choice_of({})); }

TEST(DevicePrepare, FloatsAndTheBeamDoToo) {
  PrepareChoice choice = choice_of({});
  choice.counts = false;
  choice.air = 4;
  expect_same(choice);
  choice.air = 100;  // more than there are
  expect_same(choice);
}

TEST(DevicePrepare, StripesGoAsOnTheCpu) {
  PrepareChoice choice = choice_of({});
  choice.stripe = {.method = Stripe::kSf, .size = 0};
  expect_same(choice);
  choice.stripe.size = 8;
  expect_same(choice);
  choice.stripe = {.method = Stripe::kTi, .alpha = 1.2};
  expect_same(choice);
  choice.stripe.blocks = 3;
  choice.air = 3;
  expect_same(choice);
}

TEST(DevicePrepare, KnowsWhatItDoesNotKnow) {
  EXPECT_TRUE(DevicePrepare::knows(Stripe::kNone));
  EXPECT_FALSE(DevicePrepare::knows(Stripe::kFw));
  EXPECT_FALSE(DevicePrepare::knows(Stripe::kAll));
}

}  // namespace
}  // namespace tomoloom
