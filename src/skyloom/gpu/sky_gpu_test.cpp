// SPDX-License-Identifier: BSD-3-Clause
// The device's pointing, runs and step of the solver, on the CPU in its place, in every order of a
// grid's threads: the CPU's own numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "loom/device/emulated_device.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/gpu/device_compression.hpp"
#include "skyloom/gpu/device_offsets.hpp"
#include "skyloom/mapping/destripe.hpp"
#include "skyloom/mapping/test_scan.hpp"

namespace skyloom {
namespace {

using loom::test::thrown_by;
using test::compressed;

constexpr GridOrder kOrders[] = {GridOrder::kInward, GridOrder::kForward, GridOrder::kBackward,
                                 GridOrder::kScattered};

std::unique_ptr<Device> device_of(GridOrder order) {
  return make_emulated_device({.threads = 2, .order = order});
}

/// A detector's samples, some of them not good: alone, in stretches longer than a piece, at both
/// ends.
struct Samples {
  explicit Samples(std::size_t n) : values(n), flags(n, 0) {
    const CounterRng random(3, n);
    for (std::size_t i = 0; i < n; ++i) values[i] = random.normal(i);
    for (std::size_t i = 200; i < n / 2; ++i) flags[i] = i % 7 == 0 || (i > 400 && i < 700) ? 1 : 0;
    values[0] = NAN;
    values[n / 2] = INFINITY;
    values[n - 1] = 1e31;
  }
  std::vector<double> values;
  std::vector<std::uint8_t> flags;
};

/// By the CPU, without fused multiply-adds: emulated kernels have none either.
skyloom::Stream on_cpu(const Boresight& boresight, const Detector& detector, const SkyGrid& grid,
                       std::size_t step, Samples samples) {
  const std::size_t n = boresight.cols();
  std::vector<Pixel> pixels(n);
  std::vector<double> q(n), u(n);
  expand_pointing(boresight, 0, detector, grid, {pixels, q, u}, Isa::kGeneric);
  for (std::size_t i = 0; i < n; ++i) {
    if (pixels[i] < 0) samples.flags[i] = 1;
  }
  RunBuilder builder({grid.tile_shift(), grid.tiles()}, step, 0.7);
  builder.add({pixels, q, u, samples.values, samples.flags});
  return builder.finish();
}

/// Whether this build has the CPU's loops without fused multiply-adds (FIBERLOOM_ISA_LEVELS).
bool plain_loops_are_built() {
  try {
    expand_pointing(satellite_boresight({}, 5, 0, 0), 0, {}, Healpix(1), {}, Isa::kGeneric);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void expect_same(const skyloom::Stream& found, const skyloom::Stream& want) {
  EXPECT_EQ(found.weight, want.weight);
  EXPECT_EQ(found.good, want.good);
  EXPECT_EQ(found.flagged, want.flagged);
  EXPECT_EQ(found.not_finite, want.not_finite);
  EXPECT_EQ(found.lengths, want.lengths);
  ASSERT_EQ(found.segments.size(), want.segments.size());
  for (std::size_t k = 0; k < found.segments.size(); ++k) {
    const Segment &a = found.segments[k], &b = want.segments[k];
    EXPECT_TRUE(a.tile == b.tile && a.baseline == b.baseline && a.runs == b.runs) << k;
  }
  ASSERT_EQ(found.runs.size(), want.runs.size());
  ASSERT_EQ(found.products.size(), want.products.size());
  for (std::size_t r = 0; r < found.runs.size(); ++r) {
    EXPECT_EQ(found.runs[r].place, want.runs[r].place);
    EXPECT_EQ(found.runs[r].n, want.runs[r].n);
    EXPECT_EQ(found.runs[r].q, want.runs[r].q);
    EXPECT_EQ(found.runs[r].u, want.runs[r].u);
    const RunProducts &a = found.products[r], &b = want.products[r];
    const double mine[] = {a.qq, a.qu, a.uu, a.d, a.dq, a.du};
    const double others[] = {b.qq, b.qu, b.uu, b.d, b.dq, b.du};
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(mine[k], others[k]) << r;
  }
}

TEST(DeviceCompression, IsTheCpusToTheLastBit) {
  if (!plain_loops_are_built()) GTEST_SKIP() << "loops for this machine alone";
  const FocalPlane plane = hexagon({.pixels = 7, .width_deg = 10, .leakage = 0.05});
  const SkyGrid grids[] = {Healpix(1), Healpix(64), Healpix(8192),
                           SkyGrid(wcs_grid_of("car:15,-5,360,170,0.37")),
                           SkyGrid(wcs_grid_of("tan:20,60,110,110,0.2"))};
  std::size_t turn = 0;
  for (const SkyGrid& grid : grids) {
    const GridOrder order = kOrders[turn % 4];
    const bool plate = turn++ % 2 == 0;
    const auto device = device_of(order);
    DeviceCompression compression(*device, grid);
    for (const std::size_t n : {5011U, 3000U}) {  // of one device, one after the other
      const Boresight boresight =
          satellite_boresight({.spin_minutes = 1.3, .plate_rpm = plate ? 7.0 : 0.0}, 50, 0, n);
      const Samples samples(n);
      for (const std::size_t step : {1U, 50U, 130U, 0U}) {
        compression.begin(boresight, step);
        for (const std::size_t d : {0U, 5U}) {
          const Detector& detector = plane.detectors[d];
          expect_same(compression.compress(detector, 0.7, samples.values, samples.flags),
                      on_cpu(boresight, detector, grid, step, samples));
        }
      }
    }
  }
}

TEST(DeviceCompression, FindsNothingWhereAllIsFlagged) {
  const auto device = device_of(GridOrder::kBackward);
  const Healpix sky(16);
  DeviceCompression compression(*device, sky);
  const Boresight boresight = satellite_boresight({}, 5, 0, 300);
  compression.begin(boresight, 100);
  const std::vector<double> values(300, 1.0);
  const std::vector<std::uint8_t> flags(300, 2);
  const skyloom::Stream found =
      compression.compress(hexagon({.pixels = 1, .width_deg = 1}).detectors[0], 1, values, flags);
  EXPECT_EQ(found.runs.size() + found.segments.size() + found.good, 0U);
  EXPECT_EQ(found.flagged, 300U);
  EXPECT_EQ(found.lengths, (std::vector<std::uint32_t>{100, 100, 100}));
}

TEST(DeviceCompression, SaysWhatADeviceLacksAndWhenItFails) {
  const Healpix sky(16);
  const Boresight boresight = satellite_boresight({}, 5, 0, 3000);
  const Detector detector = hexagon({.pixels = 1, .width_deg = 1}).detectors[0];
  const Samples samples(3000);
  const auto small = make_emulated_device({.memory_bytes = 32 * 3000 + 1000});
  DeviceCompression cramped(*small, sky);
  cramped.begin(boresight, 100);
  const auto status_of = [&](DeviceCompression& on) {
    return thrown_by([&] { (void)on.compress(detector, 1, samples.values, samples.flags); }).status;
  };
  EXPECT_EQ(status_of(cramped), Status::kDevice);
  const auto device = make_emulated_device({});
  DeviceCompression compression(*device, sky);
  compression.begin(boresight, 100);
  (void)compression.compress(detector, 1, samples.values, samples.flags);
  for (const DeviceOperation operation :
       {DeviceOperation::kCopy, DeviceOperation::kLaunch, DeviceOperation::kSynchronize}) {
    device->inject({.operation = operation, .after = 1});
    EXPECT_EQ(status_of(compression), Status::kDevice);
    device->inject({});
  }
  EXPECT_FALSE(DeviceCompression::takes(0, (std::size_t{1} << 24) + 1));
  EXPECT_TRUE(DeviceCompression::takes(0, std::size_t{1} << 24));
}

/// Streams as compressed pointing, and a system of them.
struct SystemCase {
  SystemCase(const Healpix& sky, const std::vector<PlainStream>& plain, Executor& executor)
      : sums(sky), system(test::system_of(sums, sky, plain, executor)) {}
  SkySums sums;
  OffsetSystem system;
};

TEST(DeviceOffsets, AreTheCpusToTheLastBit) {
  SerialExecutor one;
  for (const std::size_t step : {7U, 50U, 0U}) {
    for (const std::int64_t nside : {1, 8, 64}) {
      auto plain = test::scan({.nside = nside, .samples = 3000, .noise = 1});
      for (PlainStream& stream : plain) stream.step = step;
      plain[1].flags.assign(3000, 0);
      for (std::size_t i = 300; i < 1500; ++i) plain[1].flags[i] = 1;
      const SystemCase of(Healpix(nside), plain, one);
      const std::size_t n = of.system.size();
      std::vector<double> a(n), want(n), found(n);
      const CounterRng random(5, n);
      for (std::size_t i = 0; i < n; ++i) a[i] = random.normal(i);
      of.system.apply(a, want, one);
      for (const GridOrder order : kOrders) {
        DeviceOffsets on_device(of.system, device_of(order));
        for (int time = 0; time < 2; ++time) {  // what the first step left does not matter
          on_device.apply(a, found);
          EXPECT_EQ(found, want) << step << " " << nside;
        }
      }
    }
  }
}

TEST(DeviceOffsets, IterateAsTheCpuToTheLastBit) {
  SerialExecutor one;
  auto plain = test::scan({.nside = 8, .samples = 20000, .noise = 1});
  for (PlainStream& stream : plain) stream.step = 7;
  plain[1].flags.assign(20000, 0);
  for (std::size_t i = 300; i < 1500; ++i) plain[1].flags[i] = 1;
  const SystemCase of(Healpix(8), plain, one);
  ASSERT_GT(of.system.size(), std::size_t{kSumBlock});  // sums of several blocks
  const SolveLimits limits{.tolerance = 1e-12, .iterations = 7};
  const Solution want = destripe(of.system, {}, limits, one);
  ASSERT_EQ(want.residuals.size(), 7U);
  for (const GridOrder order : kOrders) {
    DeviceOffsets on_device(of.system, device_of(order));
    for (int time = 0; time < 2; ++time) {
      const Solution found = destripe(of.system, {}, limits, one, {}, nullptr,
                                      Preconditioner::kBanded, {{}, &on_device});
      EXPECT_EQ(found.residuals, want.residuals);
      EXPECT_EQ(found.x, want.x);
    }
  }
}

TEST(DeviceOffsets, SayWhatADeviceLacksAndWhenItFails) {
  SerialExecutor one;
  const auto plain = test::scan({.nside = 8, .samples = 3000, .noise = 1});
  const SystemCase of(Healpix(8), plain, one);
  const std::size_t bytes = DeviceOffsets::device_bytes(of.system);
  EXPECT_GT(bytes, of.system.runs() * (sizeof(skyloom::Run) + 8));
  EXPECT_EQ(thrown_by([&] {
              DeviceOffsets(of.system, make_emulated_device({.memory_bytes = bytes / 2}));
            }).status,
            Status::kDevice);
  auto device = make_emulated_device({});
  Device& lent = *device;
  DeviceOffsets on_device(of.system, std::move(device));
  std::vector<double> a(of.system.size(), 1.0), out(a.size());
  on_device.apply(a, out);
  for (const DeviceOperation operation :
       {DeviceOperation::kCopy, DeviceOperation::kLaunch, DeviceOperation::kSynchronize}) {
    lent.inject({.operation = operation, .after = 1});
    EXPECT_EQ(thrown_by([&] { on_device.apply(a, out); }).status, Status::kDevice);
    lent.inject({});
  }
}

}  // namespace
}  // namespace skyloom
