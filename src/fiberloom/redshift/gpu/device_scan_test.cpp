// SPDX-License-Identifier: BSD-3-Clause
// The device's scan, emulated, against the CPU's: the same numbers to the rounding of floats, the
// same candidates, the same bytes whatever the memory, the order of threads and who else is
// scanned.
#include "fiberloom/redshift/gpu/device_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/redshift/sky_continuum.hpp"
#include "fiberloom/redshift/smooth_reference.hpp"
#include "fiberloom/redshift/test_spectra.hpp"
#include "loom/base/print.hpp"
#include "loom/base/test_status.hpp"
#include "loom/device/emulated_device.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::redshift {
namespace {

using test::Target;

/// Resolutions that differ, gaps, a camera missing, a target without a good pixel.
std::vector<Target> some_targets(std::size_t n, double stretch = 1) {
  const Template t = test::line_template(3);
  std::vector<Target> targets;
  const CounterRng rng(12, 2);
  for (std::size_t i = 0; i < n; ++i) {
    const double z = 0.01 + 0.15 * rng.uniform(i), sigma = 1.1 + 0.5 * rng.uniform(300 + i);
    const std::vector<double> c{1, 1 + rng.uniform(100 + i), rng.uniform(200 + i)};
    targets.push_back(test::make_target(t, c, z, 9, i, sigma));
    std::vector<test::Spectrum>& spectra = targets.back().spectra;
    if (i % 3 == 1) spectra.pop_back();
    if (i % 4 == 2) std::fill_n(spectra[0].ivar.begin() + 30, 70, 0.0);
    if (i == 4) {
      for (test::Spectrum& s : spectra) std::fill(s.ivar.begin(), s.ivar.end(), 0.0);
    }
    for (test::Spectrum& s : spectra) {
      for (double& w : s.wave) w = 4000 + stretch * (w - 4000);
    }
  }
  return targets;
}

/// As many vectors as kernels know as constants, and as they do not; one that is not negative; of
/// galaxies, which are punished for [OII] below zero; with hydrogen; with training; two that others
/// have as many vectors as, but other units.
TemplateSet some_templates() {
  TemplateSet set{test::line_template(3)};
  for (const std::size_t nb : {1U, 2U, 4U, 5U, 7U, 10U}) {
    Template t = test::line_template(nb, 20 + nb);
    t.spectype = nb == 4 ? "GALAXY" : "QSO";
    t.subtype = print("%zu", nb);
    t.redshifts.resize(37 + nb);
    if (nb == 5) t.igm = Igm::kInoue14;
    if (nb == 2) t.method = Method::kNmf;
    set.push_back(std::move(t));
  }
  for (const std::size_t nb : {3U, 5U}) {
    Template t = test::line_template(nb, 40 + nb);
    t.spectype = "STAR";
    t.redshifts.resize(11 + nb);
    for (std::size_t k = 0; k < t.flux.size(); ++k) t.flux.data()[k] *= 3000;
    set.push_back(std::move(t));
  }
  Template& trained = set[3];
  const CounterRng rng(5, 5);
  trained.training = Array2D<double>(200, 4, 0.0);
  for (std::size_t i = 0; i < 800; ++i) trained.training.data()[i] = 0.2 + rng.uniform(i);
  return set;
}

ScanOptions with_all() {
  ScanOptions options;
  options.fit.evidence = WithEvidence::kYes;
  options.keep_coefficients = true;
  return options;
}

std::unique_ptr<DeviceScan> device_scan(const DeviceScanOptions& options = {},
                                        const EmulatedDeviceOptions& card = {}) {
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_emulated_device(card));
  return std::make_unique<DeviceScan>(std::move(devices), options);
}

void expect_near(const TargetSet& set, const std::vector<Curve>& cpu,
                 const std::vector<Curve>& card) {
  ASSERT_EQ(cpu.size(), card.size());
  for (std::size_t k = 0; k < cpu.size(); ++k) {
    ASSERT_EQ(cpu[k].z, card[k].z);
    for (std::size_t t = 0; t < set.targets.size(); ++t) {
      const double scale = set.targets[t].weight_flux2;
      for (std::size_t i = 0; i < cpu[k].z.size(); ++i) {
        // products and sums over a tile are floats, which FMA rounds once less
        ASSERT_NEAR(card[k].chi2(t, i), cpu[k].chi2(t, i), 1e-6 * scale)
            << k << " " << t << " " << i;
        ASSERT_NEAR(card[k].penalty(t, i), cpu[k].penalty(t, i), 1e-4 * (1 + cpu[k].penalty(t, i)));
        if (!cpu[k].evidence.empty()) {
          ASSERT_NEAR(card[k].evidence(t, i), cpu[k].evidence(t, i), 1e-6 * (scale + 100));
        }
        for (std::size_t a = 0; a < cpu[k].coefficients.cols(); ++a) {
          ASSERT_NEAR(card[k].coefficients(t, i, a), cpu[k].coefficients(t, i, a),
                      1e-4 * (1 + std::abs(cpu[k].coefficients(t, i, a))));
        }
      }
    }
  }
}

template <class A>
bool same(const A& a, const A& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(*a.data())) == 0;
}

bool same_bytes(const std::vector<Curve>& a, const std::vector<Curve>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!same(a[k].chi2, b[k].chi2) || !same(a[k].penalty, b[k].penalty) ||
        !same(a[k].evidence, b[k].evidence) || !same(a[k].coefficients, b[k].coefficients)) {
      return false;
    }
  }
  return a.size() == b.size();
}

class DeviceScanTest : public testing::TestWithParam<GridOrder> {
 protected:
  TemplateSet templates_ = some_templates();
  std::vector<Target> targets_ = some_targets(7);
  TargetSet set_ = test::prepared(targets_);
  SerialExecutor executor_;

  std::vector<Curve> on(DeviceScan& card) {
    return scan(set_, templates_, with_all(), executor_, &card);
  }
};

TEST_P(DeviceScanTest, IsTheCpusToRoundingAndNamesTheSameCandidates) {
  const auto cpu = scan(set_, templates_, with_all(), executor_);
  const auto card = device_scan({}, {.order = GetParam()});
  const auto curves = on(*card);
  EXPECT_EQ(card->report().scans, 1U);
  expect_near(set_, cpu, curves);
  const auto expected = refine(set_, cpu, {}, {}, executor_);
  const auto found = refine(set_, curves, {}, {}, executor_);
  for (std::size_t t = 0; t < expected.size(); ++t) {
    ASSERT_EQ(found[t].size(), expected[t].size());
    for (std::size_t k = 0; k < found[t].size(); ++k) {
      EXPECT_EQ(found[t][k].spectype, expected[t][k].spectype);
      EXPECT_NEAR(found[t][k].z, expected[t][k].z, 1e-9);
      EXPECT_NEAR(found[t][k].probability, expected[t][k].probability, 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, DeviceScanTest,
                         testing::Values(GridOrder::kInward, GridOrder::kScattered));

using DeviceScanOnce = DeviceScanTest;
INSTANTIATE_TEST_SUITE_P(One, DeviceScanOnce, testing::Values(GridOrder::kForward));

TEST_P(DeviceScanOnce, TakesMoreTargetsThanABlockOfThreads) {
  templates_.resize(1);
  templates_[0].redshifts.resize(21);
  const std::vector<Target> many = some_targets(71);
  const TargetSet set = test::prepared(many);
  const auto cpu = scan(set, templates_, with_all(), executor_);
  const auto card = device_scan({}, {.order = GridOrder::kScattered});
  expect_near(set, cpu, scan(set, templates_, with_all(), executor_, card.get()));
}

TEST_P(DeviceScanOnce, GivesTheSkysContinuumItsAmplitudes) {
  const auto plain = scan(set_, templates_, with_all(), executor_);
  add_sky_continuum(set_, std::vector<SkyWidth>{{set_.grids[0].wave, 0.4}});
  ASSERT_EQ(set_.sky_terms, set_.grids.size());  // one of them of width 0
  const auto card = device_scan({}, {.order = GridOrder::kScattered});
  const auto curves = on(*card);
  EXPECT_EQ(card->report().scans, 1U);
  expect_near(set_, scan(set_, templates_, with_all(), executor_), curves);
  const auto changed = [&](std::size_t t) {
    return std::abs(curves[0].chi2(t, 0) - plain[0].chi2(t, 0)) > 1;
  };
  EXPECT_TRUE(changed(0));
  const auto again = device_scan({.in_flight = 1});
  EXPECT_TRUE(same_bytes(curves, on(*again)));
}

TEST_P(DeviceScanOnce, KnowsTemplatesThatReachOverAPartOfThePixels) {
  add_smooth_reference(set_);
  templates_.resize(3);
  for (Template& t : templates_) {  // red pixels are out of reach at low redshift
    const std::size_t kept = 3300;
    t.wave.resize(kept);
    Array2D<double> flux(t.nbasis(), kept);
    for (std::size_t a = 0; a < t.nbasis(); ++a) {
      std::copy_n(t.flux.row(a), kept, flux.row(a));
    }
    t.flux = std::move(flux);
  }
  ScanOptions options = with_all();
  options.coverage = Coverage::kPartial;
  options.least_coverage = 0.3;
  const auto cpu = scan(set_, templates_, options, executor_);
  const auto whole = scan(set_, templates_, with_all(), executor_);
  ASSERT_GT(cpu[0].z.size(), whole[0].z.size());  // some are fitted in part
  const auto card = device_scan();
  expect_near(set_, cpu, scan(set_, templates_, options, executor_, card.get()));
}

TEST_P(DeviceScanOnce, GivesTheSameBytesForAnyThreadsAndAnyMemory) {
  const auto card = device_scan();
  const auto expected = on(*card);
  TestThreads three(3);
  EXPECT_TRUE(same_bytes(expected, scan(set_, templates_, with_all(), three, card.get())));
  EXPECT_EQ(card->report().fills, 1U);
  // a limit that is an error tells what is enough; a little more than that is not enough for the
  // templates to stay
  std::size_t least = 0;
  try {
    (void)on(*device_scan({.memory_bytes = 1}));
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::kDevice);
    const std::string text = e.what(), head = "GPU: a scan needs at least ";
    ASSERT_TRUE(text.starts_with(head)) << text;
    least = (std::stoul(text.substr(head.size())) + 1) << 20;
  }
  ASSERT_GT(least, 0U);
  const auto little = device_scan({.memory_bytes = least, .in_flight = 1});
  EXPECT_TRUE(same_bytes(expected, on(*little)));
  EXPECT_TRUE(same_bytes(expected, on(*little)));
  EXPECT_EQ(little->report().fills, 2U);  // they went there both times
  EXPECT_LT(little->report().memory_bytes, card->report().memory_bytes);
}

TEST_P(DeviceScanOnce, TemplatesGoToTheCardOnceUntilTheyAreOthers) {
  const auto card = device_scan({.in_flight = 1});
  const auto first = on(*card);
  const TargetSet fewer = test::prepared(std::span(targets_).subspan(1, 5));
  (void)scan(fewer, templates_, with_all(), executor_, card.get());
  EXPECT_TRUE(same_bytes(first, on(*card)));
  EXPECT_EQ(card->report().fills, 1U);
  // the same objects with other contents
  templates_[0].flux(0, 2000) += 0.5;
  expect_near(set_, scan(set_, templates_, with_all(), executor_), on(*card));
  EXPECT_EQ(card->report().fills, 2U);
  const std::vector<Target> wider = some_targets(7, 1.02);
  const TargetSet others = test::prepared(wider);
  expect_near(others, scan(others, templates_, with_all(), executor_),
              scan(others, templates_, with_all(), executor_, card.get()));
  EXPECT_EQ(card->report().fills, 3U);
}

TEST_P(DeviceScanOnce, ScansOfSeveralThreadsDoNotMindEachOther) {
  templates_.resize(4);
  const auto card = device_scan();
  const auto expected = on(*card);
  std::vector<std::vector<Curve>> found(4);
  std::vector<std::thread> threads;
  for (auto& curves : found) {
    threads.emplace_back([&] {
      SerialExecutor own;
      curves = scan(set_, templates_, with_all(), own, card.get());
    });
  }
  for (std::thread& t : threads) t.join();
  for (const auto& curves : found) EXPECT_TRUE(same_bytes(expected, curves));
  EXPECT_EQ(card->report().scans, 5U);
  EXPECT_LE(card->report().fills, 2U);  // one for each place
}

TEST_P(DeviceScanOnce, AFailureIsAnErrorOrLeavesTheScanToTheCpu) {
  templates_.resize(2);
  const auto cpu = scan(set_, templates_, with_all(), executor_);
  for (const DeviceOperation operation :
       {DeviceOperation::kAllocate, DeviceOperation::kCopy, DeviceOperation::kLaunch,
        DeviceOperation::kSynchronize}) {
    for (const OnDeviceError answer : {OnDeviceError::kFail, OnDeviceError::kCpu}) {
      std::vector<std::unique_ptr<Device>> devices;
      devices.push_back(make_emulated_device());
      Device* faulty = devices[0].get();
      std::vector<std::string> said;
      Observer observer;
      observer.message = [&](LogLevel, const std::string& text) { said.push_back(text); };
      DeviceScan card(std::move(devices), {.on_error = answer}, observer);
      faulty->inject({operation, operation == DeviceOperation::kAllocate ? 0 : 2});
      if (answer == OnDeviceError::kFail) {
        EXPECT_EQ(loom::test::status_of([&] { (void)on(card); }), Status::kDevice);
      } else {
        EXPECT_TRUE(same_bytes(cpu, on(card)));
        EXPECT_EQ(card.report().by_cpu, 1U);
        EXPECT_NE(card.report().failure.find("injected fault"), std::string::npos);
        ASSERT_EQ(said.size(), 1U);
        EXPECT_TRUE(said[0].ends_with("; the CPU scans these targets")) << said[0];
      }
      faulty->inject({});
      expect_near(set_, cpu, on(card));
      EXPECT_EQ(card.report().scans, 1U);
    }
  }
}

TEST_P(DeviceScanOnce, WhatIsTooLargeGoesToTheCpuWhereThatWasAskedFor) {
  const auto card = device_scan({.memory_bytes = 1000, .too_large = TooLarge::kCpu});
  EXPECT_TRUE(same_bytes(scan(set_, templates_, with_all(), executor_), on(*card)));
  EXPECT_EQ(card->report().by_cpu, 1U);
  EXPECT_EQ(card->report().failure, "");
}

TEST_P(DeviceScanOnce, FewTargetsAndExactScansAreTheCpus) {
  const auto card = device_scan();
  const TargetSet three = test::prepared(std::span(targets_).subspan(0, 3));
  (void)scan(three, templates_, with_all(), executor_, card.get());
  (void)scan(set_, templates_, {.mode = ScanMode::kExact}, executor_, card.get());
  EXPECT_EQ(card->report().scans, 0U);
}

}  // namespace
}  // namespace fiberloom::redshift
