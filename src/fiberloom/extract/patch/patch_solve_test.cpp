// SPDX-License-Identifier: BSD-3-Clause
// One patch against the same equations by plain dense arithmetic: no Eigen, no factor.
#include "fiberloom/extract/patch/patch_solve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/patch/patch_test_case.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::patch {
namespace {

constexpr SolveSettings kSettings{0.8, 0.0, 0.02, 5};

PatchResult solve(const TestPatch& t, const SolveSettings& settings = kSettings) {
  return solve_patch(t.ccd, t.spots, t.plan, t.pad, settings, {});
}

/// What the definition gives for the kept fibre: N x = y with the prior, Q = (block of N^-1)^-1/2.
struct Expected {
  std::vector<double> all, x, s, flux;  ///< all: x of every unknown
  test::Dense q;
  explicit Expected(const TestPatch& t, double regularize = 0) : q(t.spots.nwave) {
    test::Dense n = t.normal(0.8);
    std::vector<double> weight(n.n), y(n.n);
    for (std::size_t u = 0; u < n.n; ++u) {
      weight[u] =
          t.over_pixels(0.8, [&](int px, int py) { return t.value(u, px, py) * t.weight(px, py); });
      y[u] = t.over_pixels(0.8, [&](int px, int py) {
        return t.value(u, px, py) * t.weight(px, py) * t.pixel(px, py);
      });
    }
    const double least = 1e-4 * *std::max_element(weight.begin(), weight.end());
    for (std::size_t u = 0; u < n.n; ++u) {
      const double alpha = weight[u] < least ? least - weight[u] : regularize;
      n(u, u) += alpha * alpha + 1e-15;
    }
    const test::Dense inverse = test::inverse(n);
    all = test::times(inverse, y);
    const std::size_t nbin = t.spots.nwave;
    q = test::root(test::inverse(test::block(inverse, nbin, nbin)));
    s = test::times(q, std::vector<double>(nbin, 1.0));
    x.assign(all.begin() + static_cast<long>(nbin), all.begin() + static_cast<long>(2 * nbin));
    flux = test::times(q, x);
    for (std::size_t j = 0; j < nbin; ++j) flux[j] /= s[j];
  }
};

void expect_definition(const TestPatch& t, const PatchResult& r, const Expected& e) {
  ASSERT_EQ(r.flux.rows(), 1U);
  ASSERT_EQ(r.flux.cols(), t.plan.nkeep);
  for (std::size_t j = 0; j < t.plan.nkeep; ++j) {
    const std::size_t bin = t.pad + j;
    const double sigma = 1 / e.s[bin];
    EXPECT_NEAR(r.flux(0, j), e.flux[bin], 1e-8 * sigma) << j;
    EXPECT_NEAR(r.ivar(0, j) * sigma * sigma, 1, 1e-9) << j;
    EXPECT_NEAR(r.xflux(0, j), e.x[bin], 1e-7 * sigma) << j;
    for (std::size_t k = 0; k < r.resolution.rows(); ++k) {
      const std::size_t row = bin + k - r.resolution.rows() / 2;
      EXPECT_NEAR(r.resolution(0, k, j), e.q(row, bin) / e.s[row], 1e-9) << j << " " << k;
    }
  }
}

TEST(SolvePatch, IsTheDefinition) {
  const TestPatch t;
  const PatchResult r = solve(t);
  EXPECT_EQ(r.status, PatchStatus::kSolved);
  expect_definition(t, r, Expected(t));
}

TEST(SolvePatch, AddsTheRidgeSquared) {
  const TestPatch t;
  SolveSettings settings = kSettings;
  settings.regularize = 0.05;
  expect_definition(t, solve(t, settings), Expected(t, 0.05));
  EXPECT_LT(Expected(t).s[8], Expected(t, 0.05).s[8]);
}

TEST(SolvePatch, ReturnsTheLightOfANoiselessImage) {
  TestPatch t;
  t.plan.pad_first = t.plan.first = 0;
  t.plan.pad_last = t.plan.last = 3;
  t.plan.nkeep = t.plan.nwave;
  for (std::size_t i = 0; i < t.image().size(); ++i) t.image().data()[i] = 0;
  for (std::size_t u = 0; u < t.unknowns(); ++u) {
    const Spot& s = t.spots.spot[u];
    for (int k = 0; k < s.nx * s.ny; ++k)
      t.image()(static_cast<std::size_t>(s.y0 + k / s.nx),
                static_cast<std::size_t>(s.x0 + k % s.nx)) +=
          (100 + static_cast<double>(u)) * s.value[static_cast<std::size_t>(k)];
  }
  const PatchResult r = solve(t);
  for (std::size_t f = 0; f < 3; ++f) {
    for (std::size_t j = 0; j < t.plan.nkeep; ++j) {
      EXPECT_NEAR(r.xflux(f, j), 100 + static_cast<double>(f * 16 + t.pad + j), 1e-6);
      EXPECT_LT(r.chi2pix(f, j), 1e-12);
    }
  }
}

TEST(SolvePatch, Chi2pixIsTheMeanOverGoodPixelsUnderTheSpotWithTheModelsOwnError) {
  const TestPatch t;
  const Expected e(t);
  for (const double psferr : {0.02, 0.5}) {
    SolveSettings settings = kSettings;
    settings.psferr = psferr;
    const PatchResult r = solve(t, settings);
    for (std::size_t j = 0; j < t.plan.nkeep; ++j) {
      const std::size_t u = t.spots.nwave + t.pad + j;
      const auto chi2 = [&](int x, int y) {
        if (!(t.weight(x, y) > 0) || t.value(u, x, y) == 0) return 0.0;
        double model = 0;
        for (std::size_t v = 0; v < t.unknowns(); ++v) model += e.all[v] * t.value(v, x, y);
        return t.value(u, x, y) * std::pow(t.pixel(x, y) - model, 2) /
               (1 / t.weight(x, y) + std::pow(psferr * model, 2));
      };
      const double phi = t.over_pixels(
          0.8, [&](int x, int y) { return t.weight(x, y) > 0 ? t.value(u, x, y) : 0.0; });
      const double want = t.over_pixels(0.8, chi2) / phi;
      EXPECT_NEAR(r.chi2pix(0, j), want, 1e-7 * (1 + want)) << psferr << " " << j;
    }
  }
}

TEST(SolvePatch, WithoutAGoodPixelIsEmpty) {
  TestPatch t;
  for (std::size_t i = 0; i < t.ivar().size(); ++i) t.ivar().data()[i] = 0;
  const PatchResult r = solve(t);
  EXPECT_EQ(r.status, PatchStatus::kEmpty);
  for (std::size_t j = 0; j < t.plan.nkeep; ++j) {
    EXPECT_EQ(r.flux(0, j), 0);
    EXPECT_EQ(r.ivar(0, j), 0);
    EXPECT_EQ(r.pixmask_fraction(0, j), 1);
    for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(r.resolution(0, k, j), k == 2 ? 1 : 0);
  }
}

TEST(SolvePatch, ABinWithoutWeightLeavesWithoutAResultAndTheOthersAsTheyShould) {
  TestPatch t;
  const std::size_t dead = 16 + t.pad + 4;
  const Spot& s = t.spots.spot[dead];
  for (int k = 0; k < s.nx * s.ny; ++k)
    t.ivar()(static_cast<std::size_t>(s.y0 + k / s.nx), static_cast<std::size_t>(s.x0 + k % s.nx)) =
        0;
  const PatchResult r = solve(t);
  EXPECT_EQ(r.ivar(0, 4), 0);
  EXPECT_EQ(r.flux(0, 4), 0);
  EXPECT_NEAR(r.pixmask_fraction(0, 4), 1, 1e-12);
  EXPECT_GT(r.ivar(0, 0), 0);
}

TEST(SolvePatch, OfWhatIsNoNumberFailsAndNeverThrows) {
  TestPatch t;
  const Spot& s = t.spots.spot[16 + 8];
  t.image()(static_cast<std::size_t>(s.y0 + 5), static_cast<std::size_t>(s.x0 + 8)) = std::nan("");
  t.ivar()(static_cast<std::size_t>(s.y0 + 5), static_cast<std::size_t>(s.x0 + 8)) = 1;
  const PatchResult r = solve(t);
  EXPECT_EQ(r.status, PatchStatus::kFailed);
  for (std::size_t j = 0; j < t.plan.nkeep; ++j) EXPECT_EQ(r.ivar(0, j), 0);
  EXPECT_LT(r.pixmask_fraction(0, 4), 0.5) << "what light there was stays";
}

TEST(SolvePatch, HearsAStop) {
  const TestPatch t;
  Observer observer;
  observer.stop_requested = [] { return true; };
  EXPECT_THROW((void)solve_patch(t.ccd, t.spots, t.plan, t.pad, kSettings, observer), Error);
}

}  // namespace
}  // namespace fiberloom::patch
