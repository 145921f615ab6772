// SPDX-License-Identifier: BSD-3-Clause
// The device's slices, on the CPU in its place, against those of the CPU.
#include "tomoloom/reconstruct/gpu/device_slices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "loom/base/executor.hpp"
#include "loom/device/emulated_device.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "tomoloom/reconstruct/direct.hpp"

namespace tomoloom {
namespace {

struct Case {
  std::size_t columns, angles, slices;
};

class DeviceCase : public testing::TestWithParam<Case> {
 protected:
  static Geometry geometry(const Case& of) {
    Geometry out{
        .columns = of.columns, .theta = {}, .centre = static_cast<double>(of.columns) / 2 - 1.3};
    for (std::size_t a = 0; a < of.angles; ++a) {
      out.theta.push_back(std::numbers::pi * static_cast<double>(a) /
                          static_cast<double>(of.angles));
    }
    return out;
  }
  static std::vector<float> numbers(const Case& of) {
    std::mt19937 random(7);
    std::vector<float> out(of.angles * of.slices * of.columns);
    for (float& value : out) value = static_cast<float>(random() % 1000) / 1000;
    return out;
  }
  /// `run` makes slices of `data`.
  template <class Run>
  static std::vector<float> slices_of(const Case& of, const std::vector<float>& data,
                                      const Run& run) {
    const std::size_t n = of.columns;
    std::vector<float> out(of.slices * n * n);
    run(StackView{.data = data.data(),
                  .slices = of.slices,
                  .angle_stride = of.slices * n,
                  .slice_stride = n},
        VolumeView{.data = out.data(), .slice_stride = n * n, .row_stride = n});
    return out;
  }
  static void expect_same(const Case& of, const GridPlan& plan) {
    const std::vector<float> data = numbers(of);
    SerialExecutor serial;
    const auto want = slices_of(of, data, [&](const StackView& in, const VolumeView& out) {
      DirectEngine(plan).reconstruct(in, out, serial);
    });
    DeviceSlices device(plan, make_emulated_device());
    for (int time = 0; time < 2; ++time) {  // what the first group left does not matter
      const auto got = slices_of(of, data, [&](const StackView& in, const VolumeView& out) {
        device.reconstruct(in, out, serial);
      });
      double apart = 0, size = 0;
      for (std::size_t i = 0; i < want.size(); ++i) {
        apart += std::pow(static_cast<double>(got[i] - want[i]), 2);
        size += std::pow(static_cast<double>(want[i]), 2);
      }
      EXPECT_LT(std::sqrt(apart / size), 1e-6);
    }
  }
};

TEST_P(DeviceCase, ExactIsThatOfTheCpu) {
  expect_same(GetParam(), plan_exact(geometry(GetParam()), {}));
}

TEST_P(DeviceCase, GridrecIsThatOfTheCpu) {
  const GridPlan plan = plan_gridrec(geometry(GetParam()), {});
  expect_same(GetParam(), plan);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DeviceCase,
                         testing::Values(Case{24, 20, 32}, Case{33, 140, 5}, Case{90, 16, 17}));

TEST(DeviceSlices, AreTheSameBytesInLittleMemoryAndForAnyThreads) {
  const Geometry of{.columns = 110, .theta = {0, 0.3, 0.7, 1.2, 1.9, 2.6}, .centre = 53.2};
  const GridPlan plan = plan_exact(of, {});
  ASSERT_GT(plan.grid, 128U);  // rows of the grid go through in two batches
  constexpr std::size_t kCount = 19;
  std::vector<float> data(of.theta.size() * kCount * of.columns);
  std::mt19937 random(9);
  for (float& value : data) value = static_cast<float>(random() % 1000) / 1000;
  const auto made = [&](std::size_t memory_bytes, Executor& executor) {
    std::vector<float> out(kCount * of.columns * of.columns);
    DeviceSlices device(plan, make_emulated_device({.memory_bytes = memory_bytes}));
    device.reconstruct(
        {.data = data.data(),
         .slices = kCount,
         .angle_stride = kCount * of.columns,
         .slice_stride = of.columns},
        {.data = out.data(), .slice_stride = of.columns * of.columns, .row_stride = of.columns},
        executor);
    return out;
  };
  loom::TestThreads threads(3);
  const auto want = made(std::size_t{1} << 32, serial_executor());
  EXPECT_EQ(made(DeviceSlices::least_bytes(plan), threads), want);
}

/// A device in place of another, which counts how often it is asked what it is.
class AskedDevice final : public Device {
 public:
  explicit AskedDevice(int& asked) : asked_(asked) {}
  DeviceInfo info() override {
    ++asked_;
    return own_->info();
  }
  std::unique_ptr<Stream> make_stream() override { return own_->make_stream(); }
  void* allocate(std::size_t bytes) override { return own_->allocate(bytes); }
  void release(void* memory) noexcept override { own_->release(memory); }
  void* allocate_host(std::size_t bytes) override { return own_->allocate_host(bytes); }
  void release_host(void* memory) noexcept override { own_->release_host(memory); }

 private:
  std::unique_ptr<Device> own_ = make_emulated_device();
  int& asked_;
};

TEST(DeviceSlices, ACardIsAskedOnceWhatItIs) {
  const Geometry of{.columns = 24, .theta = {0, 0.5, 1, 1.5}, .centre = 11.5};
  const GridPlan plan = plan_exact(of, {});
  const std::vector<float> data(4 * 24, 1);
  std::vector<float> slice(24 * 24);
  int asked = 0;
  DeviceSlices device(plan, std::make_unique<AskedDevice>(asked));
  device.reconstruct({.data = data.data(), .slices = 1, .angle_stride = 24, .slice_stride = 24},
                     {.data = slice.data(), .slice_stride = 24 * 24, .row_stride = 24},
                     serial_executor());
  EXPECT_EQ(asked, 1);
}

TEST(DeviceSlices, ACardWithoutTheMemorySaysSo) {
  const GridPlan plan = plan_exact({.columns = 64, .theta = {0, 1, 2}, .centre = 31.5}, {});
  EXPECT_EQ(loom::test::thrown_by([&] {
              DeviceSlices(plan, make_emulated_device({.memory_bytes = 1 << 20}));
            }).status,
            Status::kDevice);
}

}  // namespace
}  // namespace tomoloom
