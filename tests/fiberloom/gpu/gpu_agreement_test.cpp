// SPDX-License-Identifier: BSD-3-Clause
// The agreement check must see what it is there for: each fault is made here, in each array.
#include "fiberloom/bench/gpu_agreement.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace fiberloom {
namespace {

constexpr std::size_t kFibers = 4, kBins = 7;

/// Two bundles of two fibres, the second badly conditioned; bin 3 of fibre 1 has no information.
ExtractResult make_result() {
  ExtractResult r;
  r.spec_min = 10;
  r.wave.assign(kBins, 6000.0);
  r.flux = r.ivar = r.xflux = r.chi2pix = Array2D<double>(kFibers, kBins, 1.0);
  r.pixmask_fraction = Array2D<double>(kFibers, kBins, 0.0);
  r.mask = Array2D<std::uint32_t>(kFibers, kBins, 0U);
  r.resolution = Array3D<float>(kFibers, 3, kBins);
  for (std::size_t i = 0; i < r.resolution.size(); ++i) r.resolution.data()[i] = 0.3F;
  r.flux(1, 3) = r.ivar(1, 3) = 0;
  BundleReport bundle;
  bundle.nfiber = 2;
  for (const double kappa : {1e3, 1e9}) {
    bundle.first_fiber = kappa < 1e6 ? 10 : 12;
    bundle.kappa = kappa;
    r.bundles.push_back(bundle);
  }
  return r;
}

bool passes_with(const std::function<void(ExtractResult&)>& fault) {
  const ExtractResult cpu = make_result();
  ExtractResult gpu = cpu;
  fault(gpu);
  return compare_with_cpu(cpu, gpu).passed;
}

TEST(GpuAgreement, ANaNInAnyArrayIsADisagreement) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(passes_with([](ExtractResult&) {}));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.flux(0, 0) = kNaN; }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.ivar(0, 0) = kNaN; }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.xflux(0, 0) = kNaN; }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.chi2pix(0, 0) = kNaN; }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.pixmask_fraction(0, 0) = kNaN; }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.resolution(3, 2, 6) = std::nanf(""); }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.mask(0, 0) = 1; }));
}

TEST(GpuAgreement, TellsTheLargestDifferenceAlsoWhenANaNCameFirst) {
  const ExtractResult cpu = make_result();
  ExtractResult gpu = cpu;
  gpu.xflux(0, 0) = std::numeric_limits<double>::quiet_NaN();
  gpu.xflux(1, 1) = 3;
  EXPECT_NE(compare_with_cpu(cpu, gpu).detail.find("xflux nan of 1.0e-08 (2 BAD)"),
            std::string::npos)
      << compare_with_cpu(cpu, gpu).detail;
}

TEST(GpuAgreement, WhereTheCpuHasNoInformationTheDeviceMustHaveNoneEither) {
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.ivar(1, 3) = 1e-9; }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.flux(1, 3) = 1e-9; }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.ivar(1, 3) = std::nan(""); }));
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.ivar(0, 0) = 0; }));
}

TEST(GpuAgreement, ABundleIsAllowedWhatItsOwnConditionNumberAllows) {
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.flux(1, 0) += 1e-7; }));  // kappa 1e3
  EXPECT_TRUE(passes_with([](ExtractResult& r) { r.flux(2, 0) += 1e-7; }));   // kappa 1e9
  EXPECT_FALSE(passes_with([](ExtractResult& r) { r.flux(2, 0) += 1e-5; }));
}

TEST(GpuAgreement, ARowOfNoBundleIsNotOverlooked) {
  ExtractResult cpu = make_result();
  cpu.bundles.pop_back();
  EXPECT_FALSE(compare_with_cpu(cpu, cpu).passed);
}

TEST(SameBytes, SeesAnyArrayAndTakesANaNForItself) {
  const ExtractResult one = make_result();
  const auto same_with = [&](const std::function<void(ExtractResult&)>& change) {
    ExtractResult other = one;
    change(other);
    return same_bytes(one, other);
  };
  EXPECT_TRUE(same_with([](ExtractResult&) {}));
  EXPECT_FALSE(same_with([](ExtractResult& r) { r.pixmask_fraction(0, 0) = -0.0; }));
  EXPECT_FALSE(same_with([](ExtractResult& r) { r.model = Array2D<float>(1, 1); }));
  EXPECT_FALSE(same_with([](ExtractResult& r) { r.resolution(0, 0, 0) = 0.30001F; }));
  ExtractResult odd = one;
  odd.xflux(0, 0) = std::nan("");
  EXPECT_TRUE(same_bytes(odd, odd));
}

}  // namespace
}  // namespace fiberloom
