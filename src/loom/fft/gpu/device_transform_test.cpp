// SPDX-License-Identifier: BSD-3-Clause
// Transforms of a device, on the CPU in its place, against those of the CPU.
#include "loom/fft/gpu/device_transform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "loom/device/emulated_device.hpp"
#include "loom/device/send.hpp"

namespace loom {
namespace {

constexpr std::size_t kElement = fft::kElement<float>;

class TransformOf : public testing::TestWithParam<std::size_t> {};

TEST_P(TransformOf, LinesIsThatOfTheCpu) {
  const std::size_t n = GetParam(), lines = 3, count = n - n / 4;
  std::mt19937 random(5);
  std::vector<float> in(lines * n * kElement);
  for (float& value : in) value = static_cast<float>(random() % 1000) / 500 - 1;
  for (const fft::Sign sign : {fft::Sign::kMinus, fft::Sign::kPlus}) {
    const auto device = make_emulated_device({.order = GridOrder::kScattered});
    const auto stream = device->make_stream();
    HostMemory staging(*device, in.size() * sizeof(float));
    DeviceTransform transform(n, sign, device->info());
    const DeviceMemory twiddles(*device, (transform.twiddle_count() + 1) * sizeof(float));
    transform.send(*stream, static_cast<float*>(twiddles.data()), staging);
    DeviceMemory memory[4];
    for (DeviceMemory& one : memory) one = DeviceMemory(*device, in.size() * sizeof(float));
    send(*stream, static_cast<float*>(memory[2].data()), in, staging);
    float* const work[2] = {static_cast<float*>(memory[0].data()),
                            static_cast<float*>(memory[1].data())};
    // element j of a line stands `lines` elements behind element j - 1
    const float* const result = transform.run(
        *stream, static_cast<long>(lines),
        {.data = static_cast<const float*>(memory[2].data()),
         .line = static_cast<long>(kElement),
         .step = static_cast<long>(lines),
         .count = static_cast<long>(count)},
        work, sign == fft::Sign::kPlus ? static_cast<float*>(memory[3].data()) : nullptr);
    std::vector<float> got(in.size());
    fetch(*stream, std::span<float>(got), result, staging);

    const fft::Plan<float> plan(n, sign);
    std::vector<float> own(plan.work_size());
    for (std::size_t line = 0; line < lines; ++line) {
      const float* const want = plan.run(in.data() + line * kElement, lines, count, own.data());
      for (std::size_t i = 0; i < n * kElement; ++i) {
        ASSERT_NEAR(got[line * n * kElement + i], want[i], 2e-5) << n << ' ' << line << ' ' << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, TransformOf, testing::Values(2, 4, 30, 75, 96, 128, 250));

}  // namespace
}  // namespace loom
