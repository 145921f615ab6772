// SPDX-License-Identifier: BSD-3-Clause
// Beside dead pixels: bands are widened, from end to end or in parts of the axis alone.
#include "tests/fiberloom/gpu/device_case.hpp"

namespace fiberloom {
namespace {

TEST(DeviceDefects, AgreesBesideDeadPixelsWhereBandsAreWidenedAndNarrowedAgain) {
  Case c = make_case(6, 3, 0, 120);
  kill_block(c, 12, 9);
  SerialExecutor serial;
  const exact::Tuning tuning = with_bands_everywhere(c);
  const ExtractResult cpu =
      exact::extract(c.ccd, c.psf, c.options, tuning, active_isa(), serial, {}, nullptr);
  const ExtractResult device =
      emulated()->extract(c.ccd, c.psf, c.options, tuning, serial, {}, nullptr);
  EXPECT_TRUE(device.device.cpu_bundles.empty());
  EXPECT_GT(cpu.bundles[0].half_bandwidth + cpu.bundles[1].half_bandwidth, 16);
  EXPECT_GT(cpu.bundles[0].unconstrained + cpu.bundles[1].unconstrained, 0U);
  expect_equal_within(cpu, device, allowed(cpu));
  expect_same_decisions(cpu, device);
}

/// Two blocks far from each other: bins in two ranges are left out, and done in two parts.
Case with_two_blocks() {
  Case c = make_case(6, 3, 0, 700);
  kill_block(c, 12, 9, -210);
  kill_block(c, 14, 9, 150);
  return c;
}

TEST(DeviceDefects, TakesWideBandsInPartsOfTheAxisAsTheCpuDoes) {
  const Case c = with_two_blocks();
  const auto [cpu, device] = by_both(c);
  EXPECT_GT(cpu.bundles[0].half_bandwidth, 16);
  SerialExecutor serial;
  expect_equal_within(by_cpu_as_there(c), device, allowed(cpu));
  const double bound = cpu.bundles[0].bound_sigma + device.bundles[0].bound_sigma;
  expect_equal_within(cpu, device, bound);
  for (std::size_t i = 0; i < cpu.bundles.size(); ++i) {
    EXPECT_EQ(cpu.bundles[i].half_bandwidth, device.bundles[i].half_bandwidth);
    EXPECT_EQ(cpu.bundles[i].unconstrained, device.bundles[i].unconstrained);
    // bounds are of other windows: a part is one on a device
    EXPECT_NEAR(cpu.bundles[i].kappa / device.bundles[i].kappa, 1, 0.3);
    EXPECT_LT(device.bundles[i].bound_sigma, 1.5 * cpu.bundles[i].bound_sigma);
    EXPECT_GT(device.bundles[i].seam_sigma, 0) << "what is around a part was compared";
  }
  const ExtractResult everywhere =
      emulated()->extract(c.ccd, c.psf, c.options, with_bands_everywhere(c), serial, {}, nullptr);
  expect_equal_within(everywhere, device, cpu.bundles[0].bound_sigma + cpu.bundles[1].bound_sigma);
  EXPECT_FALSE(same_bytes(everywhere, device));
}

TEST(DeviceDefects, SweepsOverPartsBesideTheRootsOfTheWholeAndGivesTheSameBytes) {
  Case c = make_case(6, 3, 0, 700);
  kill_block(c, 8, 6);  // one part, and so one batch of parts
  const ExtractResult one = by_device(c, *emulated({.timing = StreamTiming::kEager}));
  EXPECT_EQ(stage_of(one, "sweeps").count, 2);
  EXPECT_LE(stage_of(one, "sweeps").end, stage_of(one, "roots").begin);
  for (const StreamTiming timing : {StreamTiming::kLazy, StreamTiming::kSideFirst}) {
    EXPECT_TRUE(same_bytes(one, by_device(c, *emulated({.timing = timing}))));
  }
}

TEST(DeviceDefects, KeepsAGridThatRunsPastTheCcdAsTheCpuDoes) {
  Case c = make_case();
  std::vector<double>& wave = c.options.wave;
  const double step = wave[1] - wave[0], begin = wave.front() - 170 * step;
  wave.resize(wave.size() + 340);
  for (std::size_t j = 0; j < wave.size(); ++j) wave[j] = begin + static_cast<double>(j) * step;
  const auto [cpu, device] = by_both(c);
  EXPECT_GT(cpu.bundles[0].unconstrained, 20U);
  EXPECT_GT(cpu.bundles[0].half_bandwidth, 8) << "else there is nothing to see here";
  SerialExecutor serial;
  expect_equal_within(by_cpu_as_there(c), device, allowed(cpu));
  EXPECT_FALSE(same_bytes(
      emulated()->extract(c.ccd, c.psf, c.options, with_bands_everywhere(c), serial, {}, nullptr),
      device))
      << "no part was done by itself";
}

TEST(DeviceDefects, GivesTheSameBytesBesideDefectsInAnyMemory) {
  const Case c = with_two_blocks();
  const ExtractResult whole = by_device(c, *emulated());
  int limited = 0;
  for (const std::size_t mib : {120, 160, 200, 280}) {
    DeviceEngineOptions options;
    options.memory_bytes = mib << 20;
    try {
      EXPECT_TRUE(same_bytes(by_device(c, *emulated({}, options)), whole)) << mib;
      ++limited;
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), Status::kDevice) << e.what();
    }
  }
  EXPECT_GT(limited, 1);
}

/// Of the second bundle.
void expect_bytes_alone_as_among_others(Case c) {
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

TEST(DeviceDefects, GivesABundleAloneTheBytesThatItHasAmongOthers) {
  Case c = make_case(6, 3);
  kill_block(c, 8, 6);
  expect_bytes_alone_as_among_others(c);
}

TEST(DeviceDefects, GivesABundleAloneItsBytesAlsoWhereTheOthersHaveLongerParts) {
  Case c = make_case(6, 3, 0, 900);
  kill_block(c, 12, 9);
  Array2D<double>& ivar = ivar_of(c);  // of the first bundle more
  for (std::size_t y = ivar.rows() / 2 + 50; y < ivar.rows() / 2 + 74; ++y)
    for (std::size_t x = ivar.cols() / 2 - 16; x < ivar.cols() / 2 - 4; ++x) ivar(y, x) = 0;
  apply_mask(c.ccd, {});
  expect_bytes_alone_as_among_others(c);
}

}  // namespace
}  // namespace fiberloom
