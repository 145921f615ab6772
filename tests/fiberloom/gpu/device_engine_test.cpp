// SPDX-License-Identifier: BSD-3-Clause
// The device's algorithm, whole, on the CPU in place of a card, against the CPU engine. (Frames
// with defects: device_defects_test.cpp.)
#include "fiberloom/extract/exact/gpu/device_engine.hpp"

#include <future>
#include <span>
#include <thread>
#include <utility>

#include "fiberloom/extract/exact/gpu/problem.hpp"
#include "tests/fiberloom/gpu/device_case.hpp"

namespace fiberloom {
namespace {

TEST(DeviceEngine, AgreesWithTheCpuEngineOnACleanFrameOfSeveralWindows) {
  const Case c = make_case(6, 3, 0, 260);
  const auto [cpu, device] = by_both(c);
  EXPECT_GT(cpu.bundles[0].windows, 1);
  expect_equal_within(cpu, device, allowed(cpu));
  expect_same_decisions(cpu, device);
}

TEST(DeviceEngine, AgreesAtATightToleranceWithTheModelImageAndARangeOfFibers) {
  Case c = make_case(6, 3, 0.001);
  c.options.tolerance = 1e-8;
  c.options.want_model = true;
  c.options.spec_min = 1;
  c.options.nspec = 4;
  const auto [cpu, device] = by_both(c);
  expect_equal_within(cpu, device, allowed(cpu));
  ASSERT_EQ(cpu.model.size(), device.model.size());
  for (std::size_t i = 0; i < cpu.model.size(); ++i) {
    ASSERT_NEAR(cpu.model.data()[i], device.model.data()[i],
                1e-5 * (1 + std::abs(cpu.model.data()[i])));
  }
}

/// Multiplies all pixels by `factor`, weights such that the signal-to-noise ratios stay.
void scale_light(Case& c, double factor) {
  auto& image = std::get<Array2D<double>>(c.ccd.image.data());
  for (double& pixel : std::span(image.data(), image.size())) pixel *= factor;
  for (double& w : std::span(ivar_of(c).data(), image.size())) w /= factor * factor;
}

TEST(DeviceEngine, MakesNoMoreLightOfAnyInputThanTheCpu) {
  Case c = make_case(3, 3);
  scale_light(c, 1e31);
  const auto [cpu, device] = by_both(c);
  EXPECT_GT(*std::max_element(cpu.chi2pix.data(), cpu.chi2pix.data() + cpu.chi2pix.size()), 100);
  expect_equal_within(cpu, device, allowed(cpu));
}

TEST(DeviceEngine, StoresAsManyDiagonalsAsAnyBandHas) {
  for (const int ndiag : {25, 65, 97, 129}) {
    Case c = make_case(3, 3);
    c.options.ndiag = ndiag;
    const auto [cpu, device] = by_both(c);
    EXPECT_GE(device.bundles[0].half_bandwidth, ndiag / 2);
    expect_equal_within(cpu, device, allowed(cpu));
    if (ndiag < 129) continue;
    const ExtractResult little = by_device(c, *emulated({.shared_bytes = 64 << 10}));
    EXPECT_EQ(little.device.cpu_bundles.size(), 1U);
    EXPECT_TRUE(same_bytes(cpu, little)) << "a block may not share what the first band takes";
  }
}

TEST(DeviceEngine, StopsAfterAsManyIterationsAsItMay) {
  const Case c = make_case(6, 3, 0.001);
  exact::Tuning tuning = exact::tuning_of(c.options);
  tuning.most_iterations = by_cpu(c).bundles[0].cg_iterations - 1;
  SerialExecutor serial;
  const ExtractResult cpu =
      exact::extract(c.ccd, c.psf, c.options, tuning, active_isa(), serial, {}, nullptr);
  const ExtractResult device =
      emulated()->extract(c.ccd, c.psf, c.options, tuning, serial, {}, nullptr);
  EXPECT_TRUE(device.device.cpu_bundles.empty());
  EXPECT_EQ(device.bundles[0].cg_iterations, tuning.most_iterations);
  EXPECT_NEAR(device.bundles[0].solve_sigma / cpu.bundles[0].solve_sigma, 1, 1e-3);
  EXPECT_GT(device.bundles[0].solve_sigma, exact::kSolveShare * tuning.tolerance_sigma);
}

TEST(DeviceEngine, HasTheWidestBandOrLeavesABundleToTheCpuWhereABlockMayNotShareEnough) {
  Case c = make_case(6, 3);
  c.options.tolerance = 1e-10;
  kill_block(c, 14, 9);
  const auto [there, here] = by_both(c);
  EXPECT_GT(here.bundles[0].half_bandwidth, 32);
  expect_equal_within(there, here, allowed(there));
  const auto engine = emulated({.shared_bytes = 64 << 10});
  std::string said;
  Observer observer;
  observer.message = [&](LogLevel, const std::string& text) { said += text + '\n'; };
  SerialExecutor serial;
  const ExtractResult device = engine->extract(c.ccd, c.psf, c.options, serial, observer);
  ASSERT_FALSE(device.device.cpu_bundles.empty());
  for (const CpuBundle& bundle : device.device.cpu_bundles) {
    EXPECT_EQ(bundle.reason.substr(0, 9), "a band of") << bundle.reason;
  }
  EXPECT_NE(said.find("go to the CPU: a band of"), std::string::npos) << said;
  const ExtractResult cpu = by_cpu(c);
  expect_equal_within(cpu, device, allowed(cpu));
}

TEST(DeviceEngine, IteratesEveryFibreWhereSecondNeighboursShareLight) {
  for (const double crosstalk : {0.0, 1e-3}) {
    const Case c = make_case(7, 7, crosstalk);
    SerialExecutor serial;
    exact::gpu::GeometryStore store;
    const exact::gpu::Problem p = exact::gpu::make_problem(
        c.psf, c.options, exact::tuning_of(c.options), active_isa(), store, serial, {});
    ASSERT_EQ(p.reach, crosstalk > 0 ? 2 : 1);
    const ExtractResult cpu = by_cpu_as_there(c), device = by_device(c, *emulated());
    ASSERT_TRUE(device.device.cpu_bundles.empty());
    expect_equal_within(cpu, device, allowed(cpu));
    expect_same_decisions(cpu, device);
  }
}

TEST(DeviceEngine, LeavesBundlesWhoseSecondNeighboursMatterToTheCpuAndSaysSo) {
  const Case c = make_case(5, 5, 0.05);
  const ExtractResult device = by_device(c, *emulated());
  ASSERT_EQ(device.device.cpu_bundles.size(), 1U);
  EXPECT_EQ(device.device.cpu_bundles[0].reason, "second neighbours matter");
  EXPECT_TRUE(same_bytes(by_cpu(c), device));
}

TEST(DeviceEngine, GivesTheSameBytesForAnyOrderOfThreadsTimingAndContentsOfFreshMemory) {
  Case c = make_case(6, 3);
  kill_block(c, 8, 6);
  const ExtractResult one = by_device(c, *emulated());
  for (const GridOrder order : {GridOrder::kForward, GridOrder::kBackward, GridOrder::kScattered}) {
    EXPECT_TRUE(same_bytes(one, by_device(c, *emulated({.order = order}))));
  }
  for (const StreamTiming timing : {StreamTiming::kEager, StreamTiming::kSideFirst}) {
    EXPECT_TRUE(same_bytes(one, by_device(c, *emulated({.timing = timing}))));
  }
  for (const int rubbish : {0x00, 0x3f, 0x7b}) {  // 0, 5e-4, 1e286
    EmulatedDeviceOptions options;
    options.rubbish = static_cast<unsigned char>(rubbish);
    EXPECT_TRUE(same_bytes(one, by_device(c, *emulated(options)))) << rubbish;
  }
}

TEST(DeviceEngine, GivesTheSameBytesForAnyThreadsAndFramesInFlight) {
  Case c = make_case(5, 2);
  kill_block(c, 8, 6);  // several bands
  const ExtractResult one = by_device(c, *emulated());
  EXPECT_TRUE(same_bytes(one, by_device(c, *emulated({.threads = 3}))));
  DeviceEngineOptions options;
  options.frames_in_flight = 3;
  const auto engine = emulated({}, options);
  std::vector<ExtractResult> results(3);
  std::vector<std::thread> threads;
  for (auto& r : results) threads.emplace_back([&] { r = by_device(c, *engine); });
  for (auto& t : threads) t.join();
  for (const auto& r : results) EXPECT_TRUE(same_bytes(one, r));
}

TEST(DeviceEngine, SweepsBesideTheSolveWhereTheMemoryHoldsBothAndGivesTheSameBytes) {
  const Case c = make_case(50, 1, 0, 250);
  const EmulatedDeviceOptions at_once{.timing = StreamTiming::kEager};
  const ExtractResult beside = by_device(c, *emulated(at_once)),
                      last = by_device(c, *emulated());  // sides as late as they may
  EXPECT_LE(stage_of(beside, "sweeps").end, stage_of(beside, "solve").begin);
  EXPECT_GE(stage_of(last, "sweeps").begin, stage_of(last, "solve").end);
  EXPECT_GE(stage_of(last, "diagnostics").begin, stage_of(last, "roots").end);
  EXPECT_TRUE(same_bytes(beside, last));
  DeviceEngineOptions little;
  little.frames_in_flight = 1;
  little.memory_bytes = beside.device.memory_bytes / 10 * 7;
  const ExtractResult in_turn = by_device(c, *emulated(at_once, little));
  EXPECT_LE(in_turn.device.memory_bytes, little.memory_bytes);
  EXPECT_GE(stage_of(in_turn, "sweeps").begin, stage_of(in_turn, "diagnostics").end);
  EXPECT_TRUE(same_bytes(beside, in_turn));
}

TEST(DeviceEngine, AStopRequestEndsTheWaitForAPlace) {
  const Case c = make_case(5, 2);
  DeviceEngineOptions options;
  options.frames_in_flight = 1;
  const auto engine = emulated({}, options);
  std::promise<void> taken, go_on;
  std::thread first([&] {
    Observer observer;
    observer.stop_requested = [&, asked = false]() mutable {  // asked while it has the place
      if (!std::exchange(asked, true)) {
        taken.set_value();
        go_on.get_future().wait();
      }
      return false;
    };
    SerialExecutor serial;
    (void)engine->extract(c.ccd, c.psf, c.options, serial, observer);
  });
  taken.get_future().wait();
  Observer observer;
  observer.stop_requested = [] { return true; };
  SerialExecutor serial;
  std::future<Status> second = std::async(std::launch::async, [&] {
    try {
      (void)engine->extract(c.ccd, c.psf, c.options, serial, observer);
    } catch (const Error& error) {
      return error.status();
    }
    return Status::kOk;
  });
  EXPECT_EQ(second.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  go_on.set_value();
  EXPECT_EQ(second.get(), Status::kInterrupted);
  first.join();
}

TEST(DeviceEngine, GivesTheSameBytesWithSpotsKeptAndMadeAgain) {
  const Case c = make_case(5, 2);
  const auto engine = emulated();
  const ExtractResult kept = by_device(c, *engine);
  exact::Tuning tuning;
  tuning.tolerance_sigma = c.options.tolerance;
  tuning.device_spots = exact::DeviceSpots::kMadeAgain;
  SerialExecutor serial;
  const ExtractResult again = engine->extract(c.ccd, c.psf, c.options, tuning, serial, {}, nullptr);
  const std::vector<DeviceStageTime>& stages = again.device.stages;
  EXPECT_TRUE(same_bytes(kept, again));
  const auto spots = std::find_if(stages.begin(), stages.end(),
                                  [](const DeviceStageTime& t) { return t.name == "spots"; });
  ASSERT_NE(spots, stages.end());
  EXPECT_EQ(spots->count, 2);
}

TEST(DeviceEngine, GivesTheSameBytesWhateverTheThreadsOfABlockMayShare) {
  Case c = make_case(6, 3, 0, 120);
  kill_block(c, 12, 9);
  const ExtractResult one = by_device(c, *emulated());
  for (const std::size_t kilobytes :
       {99, 64, 48}) {  // as many; smaller tiles, as on AMD's cards; none
    EXPECT_TRUE(same_bytes(one, by_device(c, *emulated({.shared_bytes = kilobytes << 10}))))
        << kilobytes;
  }
}

TEST(DeviceEngine, GivesTheFramesOfALostDeviceToTheOthersAndSaysSoOnce) {
  const Case c = make_case(5, 2);
  const ExtractResult on_device = by_device(c, *emulated()), on_cpu = by_cpu(c);
  for (const long after : {0L, 9L, 60L}) {
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(make_emulated_device());
    devices.push_back(make_emulated_device());
    Device* second = devices[1].get();
    DeviceEngineOptions options;
    options.on_error = OnDeviceError::kCpu;
    DeviceEngine engine(std::move(devices), options);
    second->inject({DeviceOperation::kAny, after});
    int by_cpu_frames = 0, lost = 0;
    Observer observer;
    observer.message = [&](LogLevel, const std::string& text) {
      lost += text.find("is lost and gets no more frames") != std::string::npos;
    };
    SerialExecutor serial;
    for (int i = 0; i < 5; ++i) {
      const ExtractResult r = engine.extract(c.ccd, c.psf, c.options, serial, observer);
      by_cpu_frames += r.device.failure.empty() ? 0 : 1;
      EXPECT_TRUE(same_bytes(r, r.device.failure.empty() ? on_device : on_cpu)) << after;
    }
    EXPECT_EQ(by_cpu_frames, 1) << after;
    EXPECT_EQ(lost, 1) << after;
  }
}

TEST(DeviceEngine, EndsInAnErrorOrOnTheCpuWhenNoDeviceIsLeft) {
  const Case c = make_case(5, 2);
  for (const OnDeviceError answer : {OnDeviceError::kFail, OnDeviceError::kCpu}) {
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(make_emulated_device());
    Device* only = devices[0].get();
    DeviceEngine engine(std::move(devices), {.on_error = answer});
    only->inject({DeviceOperation::kAny, 4});
    for (int i = 0; i < 2; ++i) {
      if (answer == OnDeviceError::kFail) {
        EXPECT_THROW((void)by_device(c, engine), Error);
      } else {
        const ExtractResult r = by_device(c, engine);
        EXPECT_TRUE(same_bytes(by_cpu(c), r));
        EXPECT_NE(r.device.failure.find(i == 0 ? "injected fault" : "no device is left"),
                  std::string::npos)
            << r.device.failure;
      }
    }
  }
}

}  // namespace
}  // namespace fiberloom
