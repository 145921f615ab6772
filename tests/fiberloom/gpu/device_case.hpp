// SPDX-License-Identifier: BSD-3-Clause
// A small frame by the CPU engine and by the device's algorithm on the CPU in place of a card, and
// how far apart they may be.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "fiberloom/bench/gpu_agreement.hpp"
#include "fiberloom/bench/small_case.hpp"
#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "loom/device/emulated_device.hpp"

namespace fiberloom {

using Case = SmallCase;

inline Case make_case(int nfiber = 6, int bundle = 3, double crosstalk = 0,
                      std::size_t nwave = 90) {
  SmallFrameOptions o;
  o.nfiber = nfiber;
  o.nwave = nwave;
  o.crosstalk = crosstalk;
  o.margin_aa = 110;  // guard bins on the CCD: the condition number of real frames
  SerialExecutor serial;
  return make_small_case(o, bundle, serial);
}

inline Array2D<double>& ivar_of(Case& c) { return std::get<Array2D<double>>(c.ccd.ivar.data()); }

inline ExtractResult by_cpu(const Case& c) {
  SerialExecutor serial;
  return extract_exact(c.ccd, c.psf, c.options, serial);
}

inline DeviceStageTime stage_of(const ExtractResult& r, const std::string& name) {
  for (const DeviceStageTime& t : r.device.stages) {
    if (t.name == name) return t;
  }
  ADD_FAILURE() << "no stage " << name;
  return {};
}

/// With parts of the axis as a device has them.
inline ExtractResult by_cpu_as_there(const Case& c) {
  SerialExecutor serial;
  exact::Tuning tuning = exact::tuning_of(c.options);
  tuning.device_parts = true;
  return exact::extract(c.ccd, c.psf, c.options, tuning, active_isa(), serial, {}, nullptr);
}

/// With wide bands from end to end of a bundle.
inline exact::Tuning with_bands_everywhere(const Case& c) {
  exact::Tuning tuning = exact::tuning_of(c.options);
  tuning.wide_bands = exact::WideBands::kEverywhere;
  return tuning;
}

inline std::unique_ptr<DeviceEngine> emulated(const EmulatedDeviceOptions& device = {},
                                              const DeviceEngineOptions& options = {}) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_emulated_device(device));
  return std::make_unique<DeviceEngine>(std::move(devices), options);
}

inline ExtractResult by_device(const Case& c, DeviceEngine& engine) {
  SerialExecutor serial;
  return engine.extract(c.ccd, c.psf, c.options, serial);
}

struct Both {
  ExtractResult cpu, device;
};
/// By both, nothing being left to the CPU.
inline Both by_both(const Case& c) {
  Both both{by_cpu(c), by_device(c, *emulated())};
  EXPECT_TRUE(both.device.device.cpu_bundles.empty());
  return both;
}

/// Differences: flux in sigma, the others relative or absolute as they are kept. Counted, since the
/// largest of numbers and a NaN is a number.
inline void expect_equal_within(const ExtractResult& a, const ExtractResult& b, double sigma) {
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

inline double allowed(const ExtractResult& r) {
  double kappa = 1;
  for (const BundleReport& b : r.bundles) kappa = std::max(kappa, b.kappa);
  return 1e-9 + 10 * 2.2e-16 * kappa;
}

inline void expect_same_decisions(const ExtractResult& a, const ExtractResult& b) {
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

/// Kills pixels around the middle of the CCD, or so many rows above it.
inline void kill_block(Case& c, std::size_t half_rows, std::size_t half_columns, int above = 0) {
  Array2D<double>& ivar = ivar_of(c);
  const std::size_t middle = ivar.rows() / 2 + static_cast<std::size_t>(above);
  for (std::size_t y = middle - half_rows; y < middle + half_rows; ++y) {
    for (std::size_t x = ivar.cols() / 2 - half_columns; x < ivar.cols() / 2 + half_columns; ++x)
      ivar(y, x) = 0;
  }
  apply_mask(c.ccd, {});
}

}  // namespace fiberloom
