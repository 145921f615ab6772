// SPDX-License-Identifier: BSD-3-Clause
// Stages of the device as ranges for a profiler: none stays open when a fault ends a frame.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fiberloom/bench/small_case.hpp"
#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "loom/device/emulated_device.hpp"
#include "loom/trace/range.hpp"

namespace fiberloom {
namespace {

/// Of the one thread that the test has.
struct Told {
  std::vector<std::string> open;
  std::map<std::string, int> count;
};
Told& told() {
  static Told all;
  return all;
}
constexpr RangeHook kRecorder{[](const char* name) noexcept {
                                told().open.emplace_back(name);
                                ++told().count[name];
                              },
                              []() noexcept { told().open.pop_back(); }};

class DeviceRanges : public testing::Test {
 protected:
  void SetUp() override {
    told() = {};
    set_range_hook(&kRecorder);
  }
  void TearDown() override { set_range_hook(nullptr); }

  /// Whether the frame came to its end.
  static bool extract(const DeviceFault& fault) {
    SmallFrameOptions o;
    o.nfiber = 4;
    o.nwave = 40;
    o.margin_aa = 110;
    SerialExecutor serial;
    const SmallCase c = make_small_case(o, 2, serial);
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(make_emulated_device());
    Device* only = devices[0].get();
    DeviceEngine engine(std::move(devices), {});
    only->inject(fault);
    try {
      (void)engine.extract(c.ccd, c.psf, c.options, serial);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
};

TEST_F(DeviceRanges, AreTheStagesOfAFrame) {
  ASSERT_TRUE(extract({}));
  EXPECT_TRUE(told().open.empty());
  for (const char* stage : {"compute/device", "copy in", "spots", "normal equations", "prior",
                            "solve", "diagnostics", "sweeps", "bounds", "roots", "copy out"}) {
    EXPECT_GT(told().count[stage], 0) << stage;
  }
}

TEST_F(DeviceRanges, AreClosedWhereverAFaultEndsTheFrame) {
  int ended = 0;
  for (const DeviceOperation operation :
       {DeviceOperation::kCopy, DeviceOperation::kLaunch, DeviceOperation::kSynchronize}) {
    for (const long after : {0L, 1L, 3L, 8L, 40L, 90L}) {
      ended += extract({operation, after}) ? 0 : 1;
      EXPECT_TRUE(told().open.empty()) << after << ": " << told().open.back();
      told().open.clear();
    }
  }
  EXPECT_GT(ended, 8);
}

}  // namespace
}  // namespace fiberloom
