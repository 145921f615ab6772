// SPDX-License-Identifier: BSD-3-Clause
// Who compresses samples: a device, here the CPU in its place, or the CPU where that fails.
#include "skyloom/recipes/compressor.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "loom/device/emulated_device.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/test_maps.hpp"

namespace skyloom {
namespace {

using loom::test::thrown_by;

/// All detectors of a simulation.
struct Compressed {
  std::vector<std::string> messages;
  std::vector<skyloom::Stream> streams;
};

Compressed compress(const TodSource& source, const MapJob& job, Device* device,
                    Executor&& threads = TestThreads(3)) {
  Compressed out;
  std::mutex mutex;
  const Observer observer{.message =
                              [&](LogLevel level, const std::string& text) {
                                const std::lock_guard lock(mutex);
                                if (level == LogLevel::kWarning) out.messages.push_back(text);
                              },
                          .progress = {},
                          .stop_requested = {}};
  Compressor compressor(job, device, observer);
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& observation = source.observation(i);
    const Boresight boresight = source.boresight(i);
    compressor.begin(observation, boresight);
    const std::size_t before = out.streams.size(), n = observation.plane.detectors.size();
    out.streams.resize(before + n);
    threads.run(n / 2, [&](std::size_t pair) {
      PointedGroup work;
      const auto signals = work.room(observation.samples, 2);
      source.read(i, boresight, 2 * pair, signals);
      for (std::size_t d = 0; d < 2; ++d) {
        out.streams[before + 2 * pair + d] = compressor.compress(
            observation.plane.detectors[2 * pair + d], signals[d], work.pointing);
      }
    });
  }
  return out;
}

void expect_alike(const std::vector<skyloom::Stream>& found,
                  const std::vector<skyloom::Stream>& want) {
  ASSERT_EQ(found.size(), want.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    ASSERT_EQ(found[s].runs.size(), want[s].runs.size());
    for (std::size_t r = 0; r < found[s].runs.size(); ++r) {
      EXPECT_EQ(found[s].runs[r].n, want[s].runs[r].n);
      EXPECT_NEAR(found[s].runs[r].q, want[s].runs[r].q, 1e-9);
      EXPECT_NEAR(found[s].products[r].du, want[s].products[r].du, 1e-9);
    }
  }
}

TEST(Compressor, TakesTheDeviceAndWhereThatFailsTheCpuIfItMay) {
  const SimulatedTod source(test::small_simulation(), nullptr);
  MapJob job = test::small_maps("");
  const Compressed want = compress(source, job, nullptr);
  const auto device = make_emulated_device({});
  job.backend = Backend::kEmulate;
  const Compressed found = compress(source, job, device.get());
  EXPECT_TRUE(found.messages.empty());
  expect_alike(found.streams, want.streams);

  // the third detector or so fails, and all that follow
  device->inject({.operation = DeviceOperation::kLaunch, .after = 7});
  EXPECT_EQ(thrown_by([&] { (void)compress(source, job, device.get(), SerialExecutor()); }).status,
            Status::kDevice);
  job.backend = Backend::kAuto;
  device->inject({.operation = DeviceOperation::kLaunch, .after = 7});
  const Compressed rest = compress(source, job, device.get());
  EXPECT_EQ(rest.messages.size(), 1U);
  expect_alike(rest.streams, want.streams);

  const auto small = make_emulated_device({.memory_bytes = 1000});
  const Compressed none = compress(source, job, small.get());
  ASSERT_EQ(none.messages.size(), 1U);
  EXPECT_NE(none.messages[0].find("samples are compressed on the CPU"), std::string::npos);
  expect_alike(none.streams, want.streams);
}

}  // namespace
}  // namespace skyloom
