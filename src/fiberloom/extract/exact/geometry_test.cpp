// SPDX-License-Identifier: BSD-3-Clause
// Bands, reach and strip of a bundle against all pairs of bins; the skirt against a dense inverse.
#include "fiberloom/extract/exact/geometry.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "fiberloom/extract/exact/test_bundle.hpp"

namespace fiberloom::exact {
namespace {

BundleGeometry geometry_of(const PsfModel& psf, const std::vector<double>& wave, BundleRange bundle,
                           double floor = 1e-12) {
  return bundle_geometry(make_spot_plan(psf, wave), bundle, spot_kernels(active_isa()).spots,
                         floor);
}

bool on_ccd(const PsfModel& psf, const Spot& s) {
  return s.x0 + s.nx > 0 && s.x0 < psf.npix_x && s.y0 + s.ny > 0 && s.y0 < psf.npix_y;
}

/// Largest |j - k| over bins of two fibres whose spots share a row.
int row_band(const PsfModel& psf, const std::vector<double>& wave, std::size_t a, std::size_t b) {
  int band = 0;
  for (std::size_t j = 0; j < wave.size(); ++j) {
    const Spot s = spot_reference(psf, a, wave[j]);
    for (std::size_t k = 0; k < wave.size(); ++k) {
      const Spot t = spot_reference(psf, b, wave[k]);
      if (on_ccd(psf, s) && on_ccd(psf, t) && std::abs(s.y0 - t.y0) < s.ny)
        band = std::max(band, std::abs(static_cast<int>(j) - static_cast<int>(k)));
    }
  }
  return band;
}

TEST(BundleGeometry, BandsAreThoseOfAllPairsOfBins) {
  const PsfModel psf = test::make_psf();
  for (const double step : {0.5, 0.8, 1.3}) {
    const std::vector<double> wave = test::make_grid(60, step);
    const BundleGeometry g = geometry_of(psf, wave, {0, 3});
    EXPECT_EQ(g.reach, 1);
    EXPECT_EQ(g.sweep_reach, 1);
    EXPECT_EQ(g.band, std::max({row_band(psf, wave, 0, 0), row_band(psf, wave, 1, 1),
                                row_band(psf, wave, 2, 2)}))
        << step;
    EXPECT_EQ(g.cross_band, std::max(row_band(psf, wave, 0, 1), row_band(psf, wave, 1, 2))) << step;
  }
}

TEST(BundleGeometry, TheStripHoldsEveryStampThatTouchesTheCcd) {
  const PsfModel psf = test::make_psf();
  const std::vector<double> wave = test::make_grid(110);  // beyond both ends of the CCD
  const BundleGeometry g = geometry_of(psf, wave, {1, 3});
  EXPECT_EQ(g.first_fiber, 1);
  EXPECT_EQ(g.nfiber, 2);
  EXPECT_EQ(g.columns % kLanes, 0);
  EXPECT_EQ(g.x0 % kLanes, 0);
  int live = 0;
  for (std::size_t f = 0; f < 2; ++f) {
    for (std::size_t j = 0; j < wave.size(); ++j) {
      const Spot s = spot_reference(psf, 1 + f, wave[j]);
      ASSERT_EQ(g.trace[f].live[j] != 0, on_ccd(psf, s)) << f << " " << j;
      const int y = g.trace[f].y0[j] - g.y0, x = g.trace[f].frame[j] - g.x0;
      EXPECT_GE(y, 0);  // dead bins lie where live ones do
      EXPECT_LE(y + s.ny, g.rows);
      EXPECT_GE(x, 0);
      EXPECT_LE(x + (s.nx + 2 * kLanes - 1) / kLanes * kLanes, g.columns + kLanes);
      if (!on_ccd(psf, s)) continue;
      ++live;
      EXPECT_EQ(g.trace[f].y0[j], s.y0);
      EXPECT_EQ(g.trace[f].x0[j], s.x0);
    }
  }
  EXPECT_GT(live, 80);
  EXPECT_LT(live, 210);
}

TEST(BundleGeometry, OffTheCcdIsSmallAndDead) {
  PsfModel psf = test::make_psf();
  for (std::size_t f = 0; f < 3; ++f) psf.x.coef(f, 0) += 1e4;
  const BundleGeometry g = geometry_of(psf, test::make_grid(20), {0, 3});
  EXPECT_EQ(g.rows, psf.stamp_ny());
  EXPECT_EQ(g.band, 0);
  for (const FiberTrace& t : g.trace) EXPECT_EQ(std::count(t.live.begin(), t.live.end(), 1), 0);
}

TEST(BundleGeometry, SeesSecondNeighboursAlsoWhereTheFirstBinsAreOffTheCcd) {
  test::SmallPsf o;
  o.nfiber = 4;
  o.pitch = 5;
  const PsfModel psf = test::make_psf(o);
  const std::vector<double> wave = test::make_grid(110);
  ASSERT_FALSE(on_ccd(psf, spot_reference(psf, 0, wave[10])));
  EXPECT_EQ(geometry_of(psf, wave, {0, 4}).reach, 2);
}

TEST(BundleGeometry, ReachesFartherWhereFibresAreCloserAndRefusesThirdNeighbours) {
  const auto reach = [](double pitch, double floor = 1e-12) {
    test::SmallPsf o;
    o.nfiber = 5;
    o.pitch = pitch;
    return geometry_of(test::make_psf(o), test::make_grid(40), {0, 5}, floor);
  };
  EXPECT_EQ(reach(30).cross_band, 0) << "no pixel in common";
  EXPECT_EQ(reach(8).reach, 1);
  const BundleGeometry close = reach(5);
  EXPECT_EQ(close.reach, 2);
  EXPECT_EQ(reach(5, 1.0).reach, 1) << "nothing beyond the next matters";
  EXPECT_EQ(reach(3.2, 1e-6).sweep_reach, 2);
  try {
    (void)reach(1.5);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::kUnsupported);
    EXPECT_NE(std::string(e.what()).find("fibres 0 to 4"), std::string::npos) << e.what();
  }
}

/// How far from the middle the inverse of A^T A of one fibre, whole and on an endless CCD, is above
/// `part` of its diagonal.
int dense_decay(const PsfModel& psf, double step, int half, double part) {
  const auto n = static_cast<std::size_t>(2 * half + 1);
  const double middle = 5050;
  test::Dense m(n);
  std::vector<Spot> spots;
  for (int j = -half; j <= half; ++j) spots.push_back(spot_reference(psf, 1, middle + j * step));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a; b < n; ++b) {
      double sum = 0;
      for (int y = std::max(spots[a].y0, spots[b].y0);
           y < std::min(spots[a].y0, spots[b].y0) + spots[a].ny; ++y) {
        for (int x = std::max(spots[a].x0, spots[b].x0);
             x < std::min(spots[a].x0, spots[b].x0) + spots[a].nx; ++x) {
          sum += spots[a].value[static_cast<std::size_t>((y - spots[a].y0) * spots[a].nx + x -
                                                         spots[a].x0)] *
                 spots[b].value[static_cast<std::size_t>((y - spots[b].y0) * spots[b].nx + x -
                                                         spots[b].x0)];
        }
      }
      m(a, b) = m(b, a) = sum;
    }
  }
  const test::Dense inverse = test::inverse(m);
  const auto mid = static_cast<std::size_t>(half);
  int length = half;
  while (length > 0 &&
         std::abs(inverse(mid, mid + static_cast<std::size_t>(length))) < part * inverse(mid, mid))
    --length;
  return length;
}

TEST(Skirt, IsAsLongAsADenseInverseTakesToDecay) {
  const PsfModel psf = test::make_psf();
  constexpr int kHalf = 140;
  for (const double step : {0.7, 0.9, 1.2}) {
    const Skirt skirt = skirt_of(psf, step);
    const int length = dense_decay(psf, step, kHalf, 1e-10);
    ASSERT_LT(length, kHalf);
    EXPECT_EQ(skirt.bins % kLanes, 0);
    EXPECT_GE(skirt.bins, length) << step;
    EXPECT_LE(skirt.bins, 1.35 * length + 2 * kLanes)
        << step << ": the shape varies along the trace";
    EXPECT_NEAR(std::log(1e-10) / std::log(skirt.decay), length, 0.35 * length + 2) << step;
  }
  EXPECT_GT(skirt_of(psf, 0.5).bins, skirt_of(psf, 0.8).bins);
}

TEST(GuardedGrid, ContinuesTheGridAtBothEndsWithTheStepsThatItHasThere) {
  const PsfModel psf = test::make_psf();
  const std::vector<double> wave{5040, 5041, 5042.5, 5044, 5045.2};
  const GuardedGrid grid = guard_grid(psf, wave);
  const auto guard = static_cast<std::size_t>(grid.guard);
  EXPECT_EQ(grid.guard, skirt_of(psf, 1.0).bins);
  EXPECT_EQ(grid.step_aa, 1.0);
  ASSERT_EQ(grid.wave.size(), wave.size() + 2 * guard);
  EXPECT_EQ(std::vector<double>(grid.wave.begin() + grid.guard, grid.wave.end() - grid.guard),
            wave);
  EXPECT_NEAR(grid.wave.front(), 5040 - grid.guard, 1e-9);
  EXPECT_NEAR(grid.wave.back(), 5045.2 + 1.2 * grid.guard, 1e-9);
  EXPECT_TRUE(std::is_sorted(grid.wave.begin(), grid.wave.end()));
}

TEST(GuardedGrid, OfAPartOfAGridHasTheSameSkirt) {
  const PsfModel psf = test::make_psf();
  const std::vector<double> all = test::make_grid(60), part(all.begin() + 20, all.begin() + 30);
  EXPECT_EQ(guard_grid(psf, all).guard, guard_grid(psf, part).guard);
  EXPECT_EQ(guard_grid(psf, {5050}).wave.size(),
            1 + 2 * static_cast<std::size_t>(guard_grid(psf, {5050}).guard));
}

TEST(RequireBands, RefusesWhatTheKernelsAreNotCompiledForAndNamesAStepThatIs) {
  BundleGeometry g;
  g.band = kMostOwnBins;
  g.cross_band = kMostCrossBins;
  EXPECT_NO_THROW(require_bands(g, 0.2));
  g.sweep_reach = 2;  // bins interleaved
  EXPECT_THROW(require_bands(g, 0.2), Error);
  g.sweep_reach = 1;
  g.band = 2 * kMostOwnBins;
  try {
    require_bands(g, 0.2);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::kUnsupported);
    EXPECT_NE(std::string(e.what()).find("about 0.40 Angstrom"), std::string::npos) << e.what();
  }
}

TEST(ModelBins, LeaveOutGuardBinsThatMeetNoneOfTheGrid) {
  BundleGeometry g;
  g.nbin = 200;
  g.band = 7;
  g.cross_band = 9;
  EXPECT_EQ(model_bins(g, 48).first, 39);
  EXPECT_EQ(model_bins(g, 48).last, 161);
  EXPECT_EQ(model_bins(g, 5).first, 0);
  EXPECT_EQ(model_bins(g, 5).last, 200);
}

}  // namespace
}  // namespace fiberloom::exact
