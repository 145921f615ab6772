// SPDX-License-Identifier: BSD-3-Clause
// Phase retrieval of the device, on the CPU in its place, against that of the CPU.
#include "tomoloom/prepare/gpu/device_phase.hpp"

#include <gtest/gtest.h>

#include <random>

#include "loom/device/emulated_device.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kLightRows = 22, kLightColumns = 48, kLight = kLightRows * kLightColumns;

PhaseChoice optics(Phase method) {
  return {
      .method = method, .energy_kev = 20, .distance_cm = 10, .pixel_cm = 1e-4, .delta_beta = 10};
}

std::vector<float> transmissions(std::size_t images) {
  std::mt19937 random(11);
  std::vector<float> out(images * kLight);
  for (float& value : out) value = 0.2F + static_cast<float>(random() % 1000) / 1000;
  return out;
}

void expect_same(const PhaseChoice& choice, std::size_t images, std::size_t first,
                 std::size_t count) {
  ASSERT_TRUE(DevicePhase::knows(choice, kLightRows, kLightColumns));
  const std::vector<float> in = transmissions(images);
  std::vector<float> want(images * count * kLightColumns), got(want.size());
  PhaseFilter filter(choice, kLightRows, kLightColumns);
  for (std::size_t i = 0; i < images; ++i) {
    filter.run({.first_in = {in.data() + i * kLight, kLight},
                .second_in = {},
                .first_out = {want.data() + i * count * kLightColumns, count * kLightColumns},
                .second_out = {}},
               first, count, serial_executor());
  }
  loom::TestThreads threads(3);
  DevicePhase device(choice, kLightRows, kLightColumns,
                     make_emulated_device({.order = GridOrder::kScattered}));
  for (int time = 0; time < 2; ++time) {  // what the first images left does not matter
    device.run(in, first, count, got, threads);
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-6) << i;
  }
}

TEST(DevicePhase, ProjectionsAreThoseOfTheCpu) {
  expect_same(optics(Phase::kPaganin), DevicePhase::kImages, 0, kLightRows);
  expect_same(optics(Phase::kPaganin), 5, 3, 9);
}

TEST(DevicePhase, TomopysFilterIsToo) { expect_same(optics(Phase::kTomopy), 3, 0, kLightRows); }

TEST(DevicePhase, LengthsWithoutATransformAreTheCpus) {
  PhaseChoice choice = optics(Phase::kTomopy);
  choice.unpadded = true;
  EXPECT_FALSE(DevicePhase::knows(choice, kLightRows, kLightColumns));  // 22 rows
  EXPECT_TRUE(DevicePhase::knows(choice, 20, kLightColumns));
}

TEST(DevicePhase, ACardWithoutTheMemorySaysSo) {
  EXPECT_EQ(loom::test::thrown_by([] {
              DevicePhase(optics(Phase::kPaganin), kLightRows, kLightColumns,
                          make_emulated_device({.memory_bytes = 1 << 16}));
            }).status,
            Status::kDevice);
}

}  // namespace
}  // namespace tomoloom
