// SPDX-License-Identifier: BSD-3-Clause
// The device's algorithm, whole, on the CPU in place of a card, against the CPU engine.
#include "fiberloom/extract/exact/gpu/device_engine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <future>
#include <span>
#include <thread>
#include <utility>

#include "fiberloom/bench/gpu_agreement.hpp"
#include "fiberloom/bench/small_case.hpp"
#include "fiberloom/extract/exact/engine.hpp"
#include "loom/device/emulated_device.hpp"

namespace fiberloom {
namespace {

using Case = SmallCase;

Case make_case(int nfiber = 6, int bundle = 3, double crosstalk = 0, std::size_t nwave = 90) {
  SmallFrameOptions o;
  o.nfiber = nfiber;
  o.nwave = nwave;
  o.crosstalk = crosstalk;
  o.margin_aa = 110;  // guard bins on the CCD: the condition number of real frames
  SerialExecutor serial;
  return make_small_case(o, bundle, serial);
}

Array2D<double>& ivar_of(Case& c) { return std::get<Array2D<double>>(c.ccd.ivar.data()); }

ExtractResult by_cpu(const Case& c) {
  SerialExecutor serial;
  return extract_exact(c.ccd, c.psf, c.options, serial);
}

/// With wide bands from end to end of a bundle, as a device has them.
ExtractResult by_cpu_with_bands_everywhere(const Case& c) {
  SerialExecutor serial;
  exact::Tuning tuning = exact::tuning_of(c.options);
  tuning.wide_bands = exact::WideBands::kEverywhere;
  return exact::extract(c.ccd, c.psf, c.options, tuning, active_isa(), serial, {}, nullptr);
}

std::unique_ptr<DeviceEngine> emulated(const EmulatedDeviceOptions& device = {},
                                       const DeviceEngineOptions& options = {}) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_emulated_device(device));
  return std::make_unique<DeviceEngine>(std::move(devices), options);
}

ExtractResult by_device(const Case& c, DeviceEngine& engine) {
  SerialExecutor serial;
  return engine.extract(c.ccd, c.psf, c.options, serial);
}

struct Both {
  ExtractResult cpu, device;
};
/// By both, nothing being left to the CPU.
Both by_both(const Case& c) {
  Both both{by_cpu(c), by_device(c, *emulated())};
  EXPECT_TRUE(both.device.device.cpu_bundles.empty());
  return both;
}

/// Differences: flux in sigma, the others relative or absolute as they are kept. Counted, since the
/// largest of numbers and a NaN is a number.
void expect_equal_within(const ExtractResult& a, const ExtractResult& b, double sigma) {
  std::size_t flux = 0, ivar = 0, xflux = 0, resolution = 0, chi2 = 0, lost = 0;
  for (std::size_t i = 0; i < a.flux.size(); ++i) {
    ASSERT_EQ(a.ivar.data()[i] > 0, b.ivar.data()[i] > 0) << i;
    const double s = std::sqrt(a.ivar.data()[i]);
    flux += !(std::abs(a.flux.data()[i] - b.flux.data()[i]) * s <= sigma);
    xflux += !(std::abs(a.xflux.data()[i] - b.xflux.data()[i]) * s <= 10 * sigma);
    if (s > 0) {
      ivar += !(std::abs(b.ivar.data()[i] / a.ivar.data()[i] - 1) <= 2 * sigma);
    } else {
      ivar += !(b.ivar.data()[i] == 0 && b.flux.data()[i] == a.flux.data()[i]);
    }
    // the CPU has float32 spots in the diagnostics
    chi2 +=
        !(std::abs(a.chi2pix.data()[i] - b.chi2pix.data()[i]) <= 1e-5 * (1 + a.chi2pix.data()[i]));
    lost += !(std::abs(a.pixmask_fraction.data()[i] - b.pixmask_fraction.data()[i]) <= 1e-13);
    ASSERT_TRUE(std::isfinite(b.flux.data()[i]));
  }
  for (std::size_t i = 0; i < a.resolution.size(); ++i)  // float32
    resolution += !(std::abs(a.resolution.data()[i] - b.resolution.data()[i]) <= 1.2e-7F);
  EXPECT_EQ(flux, 0U);
  EXPECT_EQ(ivar, 0U);
  EXPECT_EQ(xflux, 0U);
  EXPECT_EQ(resolution, 0U);
  EXPECT_EQ(chi2, 0U);
  EXPECT_EQ(lost, 0U);
  std::size_t masks = 0;
  for (std::size_t i = 0; i < a.mask.size(); ++i) masks += a.mask.data()[i] != b.mask.data()[i];
  EXPECT_EQ(masks, 0U);
}

double allowed(const ExtractResult& r) {
  double kappa = 1;
  for (const BundleReport& b : r.bundles) kappa = std::max(kappa, b.kappa);
  return 1e-9 + 10 * 2.2e-16 * kappa;
}

void expect_same_decisions(const ExtractResult& a, const ExtractResult& b) {
  ASSERT_EQ(a.bundles.size(), b.bundles.size());
  for (std::size_t i = 0; i < a.bundles.size(); ++i) {
    EXPECT_EQ(a.bundles[i].half_bandwidth, b.bundles[i].half_bandwidth);
    EXPECT_EQ(a.bundles[i].poles, b.bundles[i].poles);
    EXPECT_EQ(a.bundles[i].cg_iterations, b.bundles[i].cg_iterations);
    EXPECT_EQ(a.bundles[i].windows, b.bundles[i].windows);
    EXPECT_EQ(a.bundles[i].unconstrained, b.bundles[i].unconstrained);
    EXPECT_NEAR(a.bundles[i].kappa / b.bundles[i].kappa, 1, 1e-4);
    EXPECT_NEAR(a.bundles[i].bound_sigma / b.bundles[i].bound_sigma, 1, 1e-2);
    EXPECT_GT(b.bundles[i].pixels, 1000U);
    EXPECT_EQ(a.bundles[i].pixels, b.bundles[i].pixels);
    EXPECT_EQ(a.bundles[i].parameters, b.bundles[i].parameters);
    EXPECT_NEAR(a.bundles[i].chi2 / b.bundles[i].chi2, 1, 1e-5);
    EXPECT_EQ(a.bundles[i].bright_pixels, b.bundles[i].bright_pixels);
    EXPECT_NEAR(a.bundles[i].seen_psferr, b.bundles[i].seen_psferr, 1e-4);
  }
}

/// Kills pixels around the middle of the CCD.
void kill_block(Case& c, std::size_t half_rows, std::size_t half_columns) {
  Array2D<double>& ivar = ivar_of(c);
  for (std::size_t y = ivar.rows() / 2 - half_rows; y < ivar.rows() / 2 + half_rows; ++y) {
    for (std::size_t x = ivar.cols() / 2 - half_columns; x < ivar.cols() / 2 + half_columns; ++x)
      ivar(y, x) = 0;
  }
  apply_mask(c.ccd, {});
}

TEST(DeviceEngine, AgreesWithTheCpuEngineOnACleanFrameOfSeveralWindows) {
  const Case c = make_case(6, 3, 0, 260);
  const auto [cpu, device] = by_both(c);
  EXPECT_GT(cpu.bundles[0].windows, 1);
  expect_equal_within(cpu, device, allowed(cpu));
  expect_same_decisions(cpu, device);
}

TEST(DeviceEngine, AgreesBesideDeadPixelsWhereBandsAreWidenedAndNarrowedAgain) {
  Case c = make_case(6, 3, 0, 120);
  kill_block(c, 12, 9);
  const ExtractResult cpu = by_cpu_with_bands_everywhere(c);
  const ExtractResult device = by_device(c, *emulated());
  EXPECT_TRUE(device.device.cpu_bundles.empty());
  EXPECT_GT(cpu.bundles[0].half_bandwidth + cpu.bundles[1].half_bandwidth, 16);
  EXPECT_GT(cpu.bundles[0].unconstrained + cpu.bundles[1].unconstrained, 0U);
  expect_equal_within(cpu, device, allowed(cpu));
  expect_same_decisions(cpu, device);
  expect_equal_within(by_cpu(c), device, allowed(cpu));  // with them beside dead pixels alone
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

TEST(DeviceEngine, LeavesABundleThatNeedsAWiderBandThanItHasToTheCpuAndSaysSoInALine) {
  Case c = make_case(6, 3);
  c.options.tolerance = 1e-10;
  kill_block(c, 14, 9);
  const auto engine = emulated();
  std::string said;
  Observer observer;
  observer.message = [&](LogLevel, const std::string& text) { said += text + '\n'; };
  SerialExecutor serial;
  const ExtractResult device = engine->extract(c.ccd, c.psf, c.options, serial, observer);
  ASSERT_FALSE(device.device.cpu_bundles.empty());
  for (const CpuBundle& bundle : device.device.cpu_bundles) {
    EXPECT_EQ(bundle.reason.substr(0, 18), "it needs a band of") << bundle.reason;
  }
  EXPECT_NE(said.find("go to the CPU: it needs a band of"), std::string::npos) << said;
  const ExtractResult cpu = by_cpu(c);
  expect_equal_within(cpu, device, allowed(cpu));
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
  EXPECT_TRUE(same_bytes(one, by_device(c, *emulated({.timing = StreamTiming::kEager}))));
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

TEST(DeviceEngine, GivesABundleAloneTheBytesThatItHasAmongOthers) {
  Case c = make_case(6, 3);
  kill_block(c, 8, 6);
  const auto engine = emulated();
  const ExtractResult whole = by_device(c, *engine);
  c.options.spec_min = 3;
  c.options.nspec = 3;
  const ExtractResult part = by_device(c, *engine);
  const std::size_t n = part.flux.size(), r = part.resolution.size();
  EXPECT_TRUE(std::equal(part.flux.data(), part.flux.data() + n, whole.flux.data() + n));
  EXPECT_TRUE(std::equal(part.ivar.data(), part.ivar.data() + n, whole.ivar.data() + n));
  EXPECT_TRUE(std::equal(part.chi2pix.data(), part.chi2pix.data() + n, whole.chi2pix.data() + n));
  EXPECT_TRUE(
      std::equal(part.resolution.data(), part.resolution.data() + r, whole.resolution.data() + r));
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
    EXPECT_TRUE(same_bytes(one, by_device(c, *emulated({.shared_bytes = kilobytes << 10}))));
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
