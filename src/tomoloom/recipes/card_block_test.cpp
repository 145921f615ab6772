// SPDX-License-Identifier: BSD-3-Clause
// Scans reconstructed on the CPU in place of a card, from counts on, against the CPU itself.
#include "tomoloom/recipes/card_block.hpp"

#include "tomoloom/recipes/test_recon.hpp"

namespace tomoloom {
namespace {

using CardBlockCase = test::ReconCase;

TEST_F(CardBlockCase, TheVolumeIsTheCpus) {
  SimulateJob scan = small();
  scan.columns = 48;
  scan.rows = 34;  // two blocks
  scan.angles = 60;
  scan.detector.photons = 5000;
  scan.detector.rings = 0.02;
  simulate(scan);
  for (const Stripe stripe : {Stripe::kNone, Stripe::kSf, Stripe::kTi, Stripe::kFw}) {
    ReconJob job = recon(scan, "cpu.h5");
    job.stripe.method = stripe;
    job.air = stripe == Stripe::kTi ? 2 : 0;
    const ReconSummary cpu = run(job);
    const auto want = volume(job.output);
    job.output = folder.file("card.h5");
    job.backend = Backend::kEmulate;
    const ReconSummary card = run(job);
    EXPECT_EQ(card.flaws.blind, cpu.flaws.blind);
    const auto got = volume(job.output);
    ASSERT_EQ(got.size(), want.size());
    double apart = 0, size = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      apart += std::pow(got[i] - want[i], 2);
      size += std::pow(want[i], 2);
    }
    EXPECT_LT(std::sqrt(apart / size), 2e-6) << static_cast<int>(stripe);
    EXPECT_NE(told.find("slices are made on CPU emulation"), std::string::npos) << told;
  }
}

TEST_F(CardBlockCase, WhatItCannotPrepareIsTheCpus) {
  const ScanLayout layout;
  const auto prepares = [&](const auto& change) {
    ReconJob job{.scan = "scan.h5", .output = "volume.h5"};
    change(job);
    return card_prepares(job, layout);
  };
  EXPECT_TRUE(prepares([](ReconJob&) {}));
  EXPECT_FALSE(prepares([](ReconJob& job) { job.outlier = 20; }));
  EXPECT_FALSE(prepares([](ReconJob& job) { job.acquisition = Acquisition::kHalf; }));
  EXPECT_FALSE(prepares([](ReconJob& job) { job.input = InputKind::kIntegrals; }));
  EXPECT_FALSE(prepares([](ReconJob& job) { job.centre_last = 4; }));
  EXPECT_FALSE(prepares([](ReconJob& job) { job.stripe.method = Stripe::kAll; }));
  EXPECT_FALSE(prepares([](ReconJob& job) { job.window.bin = 2; }));
  ScanLayout moved;
  moved.shift = {0, 1};
  EXPECT_FALSE(card_prepares({.scan = "scan.h5", .output = "volume.h5"}, moved));
}

}  // namespace
}  // namespace tomoloom
