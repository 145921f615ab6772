// SPDX-License-Identifier: BSD-3-Clause
// The oracle is checked by properties that need no other implementation.
#include "tests/fiberloom/oracle/dense_oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/fiberloom/oracle/profile_cholesky.hpp"
#include "tests/fiberloom/oracle/quadrature_spot.hpp"
#include "tests/fiberloom/oracle/small_case.hpp"

namespace fiberloom::oracle {
namespace {

constexpr int kGuard = 30;

double max_pull(const ExtractResult& a, const ExtractResult& b, std::size_t margin) {
  double worst = 0;
  for (std::size_t s = 0; s < a.flux.rows(); ++s) {
    for (std::size_t j = margin; j + margin < a.flux.cols(); ++j) {
      if (a.ivar(s, j) == 0 || b.ivar(s, j) == 0) continue;
      const double pull = (a.flux(s, j) - b.flux(s, j)) * std::sqrt(a.ivar(s, j));
      worst = std::max(worst, std::abs(pull));
    }
  }
  return worst;
}

TEST(QuadratureSpot, AgreesWithTheAntiderivative) {
  const SmallCase c = make_small_case();
  double worst = 0;
  for (std::size_t f = 0; f < 5; ++f) {
    for (const double wave : {5905.3, 5960.0, 6000.0, 6033.3, 6110.0}) {
      const ExtendedSpot mine = quadrature_spot(c.psf, f, wave);
      const Spot reference = spot_reference(c.psf, f, wave);
      ASSERT_EQ(mine.x0, reference.x0);
      ASSERT_EQ(mine.y0, reference.y0);
      ASSERT_EQ(mine.value.size(), reference.value.size());
      for (std::size_t k = 0; k < mine.value.size(); ++k) {
        worst = std::max(worst, std::abs(static_cast<double>(mine.value[k]) - reference.value[k]));
      }
    }
  }
  RecordProperty("max_difference", std::to_string(worst));
  EXPECT_LT(worst, 1e-13);
}

TEST(QuadratureSpot, AgreesWithTheTailsFormula) {
  SmallCase c = make_small_case();
  const auto constant = [&](double v) {
    LegendreSeries s = c.psf.sigma_x;
    s.coef = Array2D<double>(5, 1, v);
    return s;
  };
  c.psf.has_tails = true;
  c.psf.tails = {constant(0.005), constant(2.0), constant(1.0), constant(0.9), constant(2.2)};
  const ExtendedSpot mine = quadrature_spot(c.psf, 2, 6010.0);
  const Spot reference = spot_reference(c.psf, 2, 6010.0);
  for (std::size_t k = 0; k < mine.value.size(); ++k) {
    ASSERT_NEAR(static_cast<double>(mine.value[k]), reference.value[k], 1e-13);
  }
}

TEST(ProfileCholesky, SolvesAMatrixWithHolesInItsProfile) {
  ProfileMatrix m;
  m.append_row(0, {4});
  m.append_row(1, {5});
  m.append_row(0, {1, 2, 9});
  m.append_row(2, {-1, 3});
  const std::vector<Real> x{1, -2, 3, 4};
  std::vector<Real> b(4, 0);
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) b[i] += m.at(i, j) * x[j];
  }
  const ProfileMatrix l = cholesky(m);
  solve_lower(l, b, 0);
  solve_upper(l, b);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(static_cast<double>(b[i] - x[i]), 0.0, 1e-18);
  const ProfileMatrix part = submatrix(m, {0, 2, 3});
  EXPECT_EQ(part.at(2, 1), -1);
  EXPECT_EQ(part.at(0, 2), 0);
  EXPECT_EQ(part.at(1, 0), 1);
}

TEST(SmallCase, CrosstalkKnobGivesFivePercent) {
  const SmallCase c = make_small_case(with_crosstalk({}));
  const ExtendedSpot a = quadrature_spot(c.psf, 2, 6000.0), b = quadrature_spot(c.psf, 3, 6000.0);
  Real ab = 0, aa = 0;
  for (int y = 0; y < c.psf.npix_y; ++y) {
    for (int x = 0; x < c.psf.npix_x; ++x) {
      const auto at = [&](const ExtendedSpot& s) -> Real {
        const int i = x - s.x0, j = y - s.y0;
        if (i < 0 || j < 0 || i >= s.nx || j >= s.ny) return 0;
        return s.value[static_cast<std::size_t>(j * s.nx + i)];
      };
      ab += at(a) * at(b);
      aa += at(a) * at(a);
    }
  }
  EXPECT_NEAR(static_cast<double>(ab / aa), 0.05, 0.01);
}

TEST(DenseOracle, ReturnsTheTruthOfANoiselessFrame) {
  SmallCaseKnobs knobs;
  knobs.noise = 0;
  knobs.rows = 200;
  knobs.nwave = 60;
  knobs.line_snr = 300;
  const SmallCase c = make_small_case(knobs);
  // guard bins must cover all the light for x to be exact
  const ExtractResult r = dense_oracle(c.ccd, c.psf, c.options, 70);
  for (std::size_t s = 0; s < r.xflux.rows(); ++s) {
    for (std::size_t j = 0; j < r.xflux.cols(); ++j) {
      const double sigma = 1 / std::sqrt(r.ivar(s, j));
      ASSERT_NEAR(r.xflux(s, j) * knobs.step_aa, c.truth(s, j),
                  1e-9 * sigma + 1e-12 * c.truth(s, j));
      ASSERT_LT(r.chi2pix(s, j), 1e-12);
      ASSERT_EQ(r.mask(s, j) & (kSomeBadPix | kAllBadPix), 0U);
    }
  }
}

TEST(DenseOracle, FluxIsTheResolutionAppliedToTheDeconvolvedFlux) {
  SmallCaseKnobs knobs;
  knobs.rows = 200;
  knobs.nwave = 60;
  const SmallCase c = make_small_case(knobs);
  ExtractOptions options = c.options;
  options.ndiag = 2 * knobs.nwave + 1;  // the whole R
  const ExtractResult r = dense_oracle(c.ccd, c.psf, options, kGuard);
  const int half = options.ndiag / 2;
  const std::size_t skirt = 20;
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t i = skirt; i + skirt < r.flux.cols(); ++i) {
      double sum = 0, rx = 0;
      for (std::size_t j = 0; j < r.flux.cols(); ++j) {
        const int k = static_cast<int>(i) - static_cast<int>(j) + half;
        const double entry = r.resolution(s, static_cast<std::size_t>(k), j);
        sum += entry;
        rx += entry * r.xflux(s, j);
      }
      ASSERT_NEAR(sum, 1.0, 1e-6);
      ASSERT_NEAR(rx, r.flux(s, i), 1e-4 / std::sqrt(r.ivar(s, i)));
    }
  }
}

TEST(DenseOracle, ResolutionRowsOutsideTheGridAreZero) {
  SmallCaseKnobs knobs;
  knobs.rows = 160;
  knobs.nwave = 40;
  const SmallCase c = make_small_case(knobs);
  const ExtractResult r = dense_oracle(c.ccd, c.psf, c.options, kGuard);
  const auto half = static_cast<std::size_t>(c.options.ndiag / 2);
  for (std::size_t k = 0; k < half; ++k) {
    EXPECT_EQ(r.resolution(0, k, 0), 0.0);
    EXPECT_EQ(r.resolution(0, 2 * half - k, 39), 0.0);
  }
  EXPECT_GT(r.resolution(0, half, 0), 0.3);
}

TEST(DenseOracle, GuardBinsMakeASubRangeAgreeWithTheWhole) {
  SmallCaseKnobs knobs;
  knobs.nwave = 100;
  const SmallCase c = make_small_case(knobs);
  const ExtractResult whole = dense_oracle(c.ccd, c.psf, c.options, 20);
  SmallCase part = c;
  part.options.wave.assign(c.options.wave.begin() + 30, c.options.wave.begin() + 70);
  const ExtractResult sub = dense_oracle(part.ccd, part.psf, part.options, 45);
  for (std::size_t s = 0; s < 5; ++s) {
    for (std::size_t j = 0; j < 40; ++j) {
      const double sigma = 1 / std::sqrt(whole.ivar(s, j + 30));
      ASSERT_NEAR(sub.flux(s, j), whole.flux(s, j + 30), 1e-6 * sigma);
    }
  }
}

TEST(DenseOracle, BinsWithoutInformationLeaveEmptyAndFinite) {
  SmallCaseKnobs knobs;
  knobs.edges = CaseEdges::kOffCcd;
  knobs.rows = 120;
  knobs.defects = {Defect::kDeadBlock};
  const SmallCase c = make_small_case(knobs);
  ExtractOptions options = c.options;
  options.want_model = true;
  const ExtractResult r = dense_oracle(c.ccd, c.psf, options, 10);
  std::size_t lost = 0;
  const auto half = static_cast<std::size_t>(options.ndiag / 2);
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t j = 0; j < r.flux.cols(); ++j) {
      ASSERT_TRUE(std::isfinite(r.flux(s, j)) && std::isfinite(r.ivar(s, j)));
      ASSERT_TRUE(std::isfinite(r.chi2pix(s, j)));
      if (r.pixmask_fraction(s, j) <= 0.99) {
        ASSERT_GT(r.ivar(s, j), 0);
        continue;
      }
      ++lost;
      ASSERT_EQ(r.flux(s, j), 0.0);
      ASSERT_EQ(r.ivar(s, j), 0.0);
      ASSERT_EQ(r.xflux(s, j), 0.0);
      ASSERT_EQ(r.resolution(s, half, j), 1.0);
      ASSERT_NE(r.mask(s, j) & kAllBadPix, 0U);
    }
  }
  EXPECT_GT(lost, 20U);
  EXPECT_EQ(r.bundles.front().unconstrained, lost);
  EXPECT_GT(r.model(60, 12), 0.0F);
}

TEST(DenseOracle, PullsAgainstTheTruthAreStandardNormal) {
  SmallCaseKnobs knobs;
  knobs.defects = {Defect::kCosmics};
  const SmallCase c = make_small_case(with_crosstalk(knobs));
  SmallCaseKnobs quiet = knobs;
  quiet.noise = 0;
  const SmallCase clean = make_small_case(with_crosstalk(quiet));
  const ExtractResult noisy = dense_oracle(c.ccd, c.psf, c.options, kGuard);
  const ExtractResult exact = dense_oracle(clean.ccd, clean.psf, clean.options, kGuard);
  double sum2 = 0;
  std::size_t n = 0;
  for (std::size_t s = 0; s < noisy.flux.rows(); ++s) {
    for (std::size_t j = 0; j < noisy.flux.cols(); ++j, ++n) {
      const double d = noisy.flux(s, j) - exact.flux(s, j);
      sum2 += d * d * noisy.ivar(s, j);
    }
  }
  EXPECT_NEAR(sum2 / static_cast<double>(n), 1.0, 5 * std::sqrt(2.0 / static_cast<double>(n)));
  EXPECT_LT(max_pull(noisy, exact, 0), 5.0);
}

TEST(DenseOracle, SubRangeOfFibersHasTheSameNumbers) {
  SmallCaseKnobs knobs;
  knobs.rows = 140;
  knobs.nwave = 30;
  const SmallCase c = make_small_case(with_crosstalk(knobs));
  const ExtractResult all = dense_oracle(c.ccd, c.psf, c.options, 15);
  ExtractOptions options = c.options;
  options.spec_min = 3;
  options.nspec = 1;
  const ExtractResult one = dense_oracle(c.ccd, c.psf, options, 15);
  ASSERT_EQ(one.flux.rows(), 1U);
  for (std::size_t j = 0; j < 30; ++j) EXPECT_EQ(one.flux(0, j), all.flux(3, j));
}

}  // namespace
}  // namespace fiberloom::oracle
