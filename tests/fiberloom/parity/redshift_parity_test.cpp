// SPDX-License-Identifier: BSD-3-Clause
// A real DESI coadd of 30 exposures (FIBERLOOM_TEMPLATES_DIR). redrock 0.17 with a galaxy template
// of 10 vectors found z = 0.36874355163716 from 7926 pixels; redrock 0.22 with the two templates at
// hand, of 5 vectors, finds what kPeer says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "tests/fiberloom/parity/coadd_file.hpp"

namespace fiberloom {
namespace {

using namespace redshift;

constexpr double kPublishedZ = 0.36874355163716;
constexpr struct {
  double z, zerr, chi2, delta_chi2, first_coefficient;
  long pixels;
} kPeer{0.368746018614, 1.345036e-06, 71473.73777771, 106173.713043, 2871.944095, 7926};

class RealCoadd : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("FIBERLOOM_TEMPLATES_DIR");
    if (folder == nullptr) GTEST_SKIP() << "FIBERLOOM_TEMPLATES_DIR is not set";
    const std::string base(folder);
    coadd_ = parity::read_coadd(base + "/coadd-4-80613-thru20210324.fits");
    templates_.push_back(templates::read_template(base + "/rrtemplate-galaxy-0.2.fits"));
    templates_.push_back(templates::read_template(base + "/rrtemplate-STAR-G-v0.1.fits"));
  }
  parity::CoaddFile coadd_;
  TemplateSet templates_;
  SerialExecutor executor_;
};

TEST_F(RealCoadd, HasThePeersPixelsAndRedshiftByThePeersRules) {
  const TargetSet set = prepare(coadd_.views(), redrock_rules(), executor_);
  ASSERT_EQ(set.targets.size(), 1U);
  EXPECT_EQ(set.targets[0].good_pixels, kPeer.pixels);
  const auto curves = scan(set, templates_, redrock_scan(), executor_);
  const Candidate best = find_redrock(set, curves, {}, {}, executor_)[0][0];
  EXPECT_EQ(best.spectype, "GALAXY");
  EXPECT_EQ(best.zwarn, 0U);
  EXPECT_NEAR(best.z, kPeer.z, 1e-9);
  EXPECT_NEAR(best.zerr, kPeer.zerr, 1e-10);
  EXPECT_NEAR(best.chi2, kPeer.chi2, 1e-8 * kPeer.chi2);
  EXPECT_NEAR(best.delta_chi2, kPeer.delta_chi2, 1e-8 * kPeer.delta_chi2);
  EXPECT_NEAR(best.coefficients[0], kPeer.first_coefficient, 1e-6);
  EXPECT_NEAR(best.z, kPublishedZ, 5e-6);
}

TEST_F(RealCoadd, FastAndExactAgreeAndLoseFewerPixels) {
  const TargetSet set = prepare(coadd_.views(), {}, executor_);
  EXPECT_GT(set.targets[0].good_pixels, kPeer.pixels);
  std::vector<Candidate> best;
  for (const ScanMode mode : {ScanMode::kFast, ScanMode::kExact}) {
    const auto curves = scan(set, templates_, {.mode = mode}, executor_);
    best.push_back(refine(set, curves, {}, {}, executor_)[0][0]);
  }
  for (const Candidate& b : best) EXPECT_NEAR(b.z, kPublishedZ, 2e-6);
  EXPECT_LT(std::abs(velocity_kms(best[0].z, best[1].z)), 0.1);
  EXPECT_NEAR(best[0].chi2, best[1].chi2, 1e-2);
}

/// The peer's parabola goes through points 30 km/s apart, 100 of its errors: of its own pixels chi2
/// is lower at the redshift that is closed in on, which is nearer to what was published.
TEST_F(RealCoadd, OfThePeersPixelsTheMinimumLiesBelowThePeersParabola) {
  const TargetSet set = prepare(coadd_.views(), redrock_rules(), executor_);
  const auto curves = scan(set, templates_, {}, executor_);
  const Candidate best = refine(set, curves, {}, {}, executor_)[0][0];
  EXPECT_NEAR(best.z, kPublishedZ, 2e-6);
  const Fitter& fitter = *curves[best.curve].fitter;
  std::vector<double> part(fitter.part_doubles());
  PackFit at_peer;
  fitter.fit(set.targets[0], std::vector<double>{kPeer.z}, part, at_peer);
  EXPECT_GT(at_peer.chi2[0], best.chi2 + 7);
  EXPECT_LT(at_peer.chi2[0], best.chi2 + 9);
}

}  // namespace
}  // namespace fiberloom
