// SPDX-License-Identifier: BSD-3-Clause
// The two sweeps against dense Schur complements: the inverse of a block of the inverse.
#include "fiberloom/extract/exact/marginal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/exact/test_bundle.hpp"

namespace fiberloom::exact {
namespace {

test::SmallPsf five_fibers(double pitch, int nbin) {
  test::SmallPsf o;
  o.pitch = pitch;
  o.nfiber = 5;
  o.npix_y = 40 + 2 * nbin;
  return o;
}

struct MarginalProblem {
  TestBundle bundle;
  Windows windows;
  int band;
  MarginalProblem(double pitch, int nbin, int skirt, int s_band)
      : bundle(test::make_psf(five_fibers(pitch, nbin)), test::make_grid(nbin, 0.9)),
        windows(cut_windows(nbin, skirt)),
        band(s_band) {
    bundle.assemble_equations(2 * skirt);
    add_prior(bundle.normal(), 0.0, 0.0);
  }
  /// Leaves second neighbours out, of the dense matrix too.
  void keep_next_neighbours_only() {
    bundle.geometry.sweep_reach = 1;
    bundle.normal().reach = 1;
  }
  [[nodiscard]] int reach() const { return bundle.geometry.sweep_reach; }
};

/// S of each fibre, from the cores of its windows; entries beyond the band are zero.
std::vector<test::Dense> sweep(MarginalProblem& p, Sweeps sweeps = Sweeps::kBoth) {
  TestBundle& b = p.bundle;
  std::vector<test::Dense> all(5, test::Dense(b.nbin()));
  int next = 4;
  marginal_precisions(b.normal(), p.reach(), p.windows, p.band, b.banded(), b.pixel(), sweeps,
                      nullptr, b.work.marginal, [&](int fiber, const double* s) {
                        EXPECT_EQ(fiber, next--) << "from the last to the first";
                        for (int j = 0; j < p.windows.nbin; ++j) {
                          const int lane = p.windows.window_of(j);
                          const int row = j - p.windows.bin(lane, 0);
                          for (int d = 0; d <= p.band && j + d < p.windows.nbin; ++d) {
                            const auto r = static_cast<std::size_t>(j),
                                       c = static_cast<std::size_t>(j + d);
                            test::Dense& m = all[static_cast<std::size_t>(fiber)];
                            m(r, c) = m(c, r) = s[(row * (p.band + 1L) + d) * kLanes + lane];
                          }
                        }
                      });
  EXPECT_EQ(next, -1);
  return all;
}

/// Largest difference from `want` within the band, relative to its diagonal.
double difference(const MarginalProblem& p, const test::Dense& got, const test::Dense& want) {
  double worst = 0;
  for (std::size_t r = 0; r < want.n; ++r) {
    for (std::size_t c = r; c < std::min(want.n, r + static_cast<std::size_t>(p.band) + 1); ++c)
      worst = std::max(worst, std::abs(got(r, c) - want(r, c)) / want(want.n / 2, want.n / 2));
  }
  return worst;
}

void expect_dense_schur(MarginalProblem& p, double tolerance) {
  const test::Dense inverse = test::inverse(p.bundle.dense_of_normal());
  const std::vector<test::Dense> s = sweep(p);
  const std::size_t n = p.bundle.nbin();
  double change = 0;
  for (std::size_t f = 0; f < s.size(); ++f) {
    EXPECT_LT(difference(p, s[f], test::inverse(test::block(inverse, f * n, n))), tolerance) << f;
    change =
        std::max(change, difference(p, s[f], test::block(p.bundle.dense_of_normal(), f * n, n)));
  }
  EXPECT_GT(change, 100 * tolerance) << "else the other fibres could have been left out";
}

TEST(MarginalPrecisions, AreDenseSchurComplements) {
  MarginalProblem p(5.2, 30, 30, 24);
  p.keep_next_neighbours_only();
  ASSERT_EQ(p.windows.count, 1);
  expect_dense_schur(p, 1e-11);
}

TEST(MarginalPrecisions, AreDenseSchurComplementsWithSecondNeighboursInPairs) {
  MarginalProblem p(4.0, 26, 26, 24);
  ASSERT_EQ(p.reach(), 2);
  expect_dense_schur(p, 1e-9);
}

TEST(MarginalPrecisions, OfWindowsAreThoseOfTheWholeWithinWhatASkirtLeaves) {
  MarginalProblem p(5.2, 120, 24, 16);
  p.keep_next_neighbours_only();
  ASSERT_EQ(p.windows.count, 2);
  expect_dense_schur(p, 1e-7);
}

TEST(MarginalPrecisions, WithoutSweepsAreTheFibresOwnAndWithOneTheSideThatItHasSeen) {
  MarginalProblem p(5.2, 30, 30, 24);
  p.keep_next_neighbours_only();
  const test::Dense n = p.bundle.dense_of_normal(), inverse = test::inverse(n);
  const std::vector<test::Dense> none = sweep(p, Sweeps::kNone), left = sweep(p, Sweeps::kLeftOnly);
  for (std::size_t f = 0; f < 5; ++f)
    EXPECT_EQ(difference(p, none[f], test::block(n, f * 30, 30)), 0) << f;
  EXPECT_EQ(difference(p, left[0], test::block(n, 0, 30)), 0);
  EXPECT_LT(difference(p, left[4], test::inverse(test::block(inverse, 4 * 30, 30))), 1e-11);
}

TEST(MarginalPrecisions, HearAStop) {
  MarginalProblem p(5.2, 30, 30, 8);
  Observer observer;
  observer.stop_requested = [] { return true; };
  EXPECT_THROW(marginal_precisions(p.bundle.normal(), 1, p.windows, 8, p.bundle.banded(),
                                   p.bundle.pixel(), Sweeps::kBoth, &observer,
                                   p.bundle.work.marginal, [](int, const double*) { FAIL(); }),
               Error);
}

}  // namespace
}  // namespace fiberloom::exact
