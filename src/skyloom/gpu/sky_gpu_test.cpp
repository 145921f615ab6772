// SPDX-License-Identifier: BSD-3-Clause
// The device's pointing and step of the solver, on the CPU in its place, in every order of a grid's
// threads: the CPU's own numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "loom/device/emulated_device.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/gpu/device_offsets.hpp"
#include "skyloom/gpu/device_pointing.hpp"
#include "skyloom/gpu/device_runs.hpp"
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

TEST(DevicePointing, IsThatOfTheCpu) {
  constexpr std::size_t kSamples = 5011;
  const FocalPlane plane = hexagon({.pixels = 7, .width_deg = 10, .leakage = 0.05});
  for (const bool plate : {false, true}) {
    const Boresight boresight =
        satellite_boresight({.spin_minutes = 1.3, .plate_rpm = plate ? 7.0 : 0.0}, 5, 0, kSamples);
    const auto device = device_of(plate ? GridOrder::kScattered : GridOrder::kInward);
    DevicePointing on_device(boresight, *device);
    const SkyGrid grids[] = {Healpix(1), Healpix(1024), Healpix(8192),
                             SkyGrid(wcs_grid_of("car:15,-5,360,170,0.37")),
                             SkyGrid(wcs_grid_of("tan:20,60,110,110,0.2"))};
    for (const SkyGrid& grid : grids) {
      for (const std::size_t d : {0U, 5U}) {
        std::vector<Pixel> want(kSamples), found(kSamples);
        std::vector<double> q(kSamples), u(kSamples), p(kSamples), v(kSamples);
        expand_pointing(boresight, 0, plane.detectors[d], grid, {want, q, u});
        on_device.expand(plane.detectors[d], grid, {found, p, v});
        std::size_t apart = 0;  // on a border but for rounding
        for (std::size_t i = 0; i < kSamples; ++i) {
          apart += found[i] == want[i] ? 0 : 1;
          ASSERT_NEAR(p[i], q[i], 1e-11) << i;
          ASSERT_NEAR(v[i], u[i], 1e-11) << i;
        }
        EXPECT_LE(apart, 1U);
      }
    }
  }
}

/// Streams as compressed pointing, and a system of them.
struct SystemCase {
  SystemCase(const Healpix& sky, const std::vector<PlainStream>& plain, Executor& executor)
      : sums(sky), system(test::system_of(sums, sky, plain, executor)) {}
  SkySums sums;
  OffsetSystem system;
};

TEST(DeviceRuns, AreThoseOfTheCpuToTheLastBit) {
  auto plain = test::scan({.nside = 8, .samples = 3000, .noise = 1})[3];
  plain.flags.assign(3000, 0);
  for (std::size_t i = 200; i < 700; ++i) plain.flags[i] = i % 3 == 0 || i > 400 ? 1 : 0;
  plain.signal[0] = NAN;
  plain.signal[2999] = 1e31;
  const SampleBlock block{plain.pixels, plain.q, plain.u, plain.signal, plain.flags};
  for (const std::size_t step : {1U, 7U, 100U, 3000U, 0U}) {
    RunBuilder builder(TileGrid(Healpix(8)), step, 1);
    builder.add(block);
    const skyloom::Stream want = builder.finish();
    for (const GridOrder order : kOrders) {
      const auto device = device_of(order);
      const std::vector<gpu::PixelRun> found = runs_on_device(*device, block, step);
      ASSERT_EQ(found.size(), want.runs.size()) << step;
      for (std::size_t r = 0; r < found.size(); ++r) {
        EXPECT_EQ(TileGrid(Healpix(8)).place(found[r].pixel), want.runs[r].place);
        EXPECT_EQ(static_cast<float>(found[r].sums.n), want.runs[r].n);
        EXPECT_EQ(found[r].sums.q, want.runs[r].q);
        EXPECT_EQ(found[r].sums.u, want.runs[r].u);
        const RunProducts &a = found[r].sums.products, &b = want.products[r];
        const double mine[] = {a.qq, a.qu, a.uu, a.d, a.dq, a.du};
        const double others[] = {b.qq, b.qu, b.uu, b.d, b.dq, b.du};
        for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(mine[k], others[k]) << r;
      }
    }
  }
}

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
