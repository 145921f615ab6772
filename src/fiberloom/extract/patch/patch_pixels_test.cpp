// SPDX-License-Identifier: BSD-3-Clause
// A, A^T and A^T W A of a patch against sums over all pixels.
#include "fiberloom/extract/patch/patch_pixels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/patch/patch_test_case.hpp"

namespace fiberloom::patch {
namespace {

TEST(Box, IntersectsToWhatBothHold) {
  const Box a{0, 10, 0, 5}, b{4, 20, -3, 2};
  const Box both = intersect(a, b);
  EXPECT_EQ(both.x0 + both.x1, 14);
  EXPECT_EQ(both.y0 + both.y1, 2);
  EXPECT_FALSE(both.empty());
  EXPECT_TRUE(intersect(a, {10, 12, 0, 5}).empty());
  EXPECT_TRUE(intersect(a, {20, 30, 0, 5}).empty());
}

TEST(PatchPixels, TakeTheRowsThatThePaddingRuleSays) {
  const TestPatch t;
  for (const double frac : {0.0, 0.5, 1.0}) {
    const PatchPixels p(t.ccd, t.spots, t.plan, t.pad, frac);
    const auto [first, last] = t.rows(frac);
    EXPECT_EQ(p.size(), 3U * 16);
    EXPECT_EQ(p.nbin(), 16U);
    EXPECT_EQ(p.image().rows(), static_cast<std::size_t>(last - first)) << frac;
    const int x0 = std::max(t.spots.spot[0].x0, 0);
    EXPECT_LE(p.image().cols(), static_cast<std::size_t>(t.psf.npix_x));
    EXPECT_EQ(p.image()(0, 5), t.pixel(x0 + 5, first)) << frac;
    EXPECT_EQ(p.weight()(3, 7), t.weight(x0 + 7, first + 3)) << frac;
  }
}

TEST(PatchPixels, NormalMatrixAndTransposeAreSumsOverPixels) {
  const TestPatch t;
  const PatchPixels p(t.ccd, t.spots, t.plan, t.pad, 0.8);
  const Array2D<double> n = p.normal_matrix();
  const test::Dense want = t.normal(0.8);
  for (std::size_t i = 0; i < want.value.size(); ++i)
    ASSERT_NEAR(n.data()[i], want.value[i], 1e-14) << i;
  const std::vector<double> sums = p.transposed(p.weight());
  for (std::size_t u = 0; u < p.size(); ++u) {
    EXPECT_NEAR(sums[u],
                t.over_pixels(0.8, [&](int x, int y) { return t.value(u, x, y) * t.weight(x, y); }),
                1e-14)
        << u;
  }
}

TEST(PatchPixels, ProjectionIsTheAdjointOfTheTranspose) {
  const TestPatch t;
  const PatchPixels p(t.ccd, t.spots, t.plan, t.pad, 0.8);
  std::vector<double> x;
  for (std::size_t u = 0; u < p.size(); ++u) x.push_back(std::sin(static_cast<double>(u)));
  const Array2D<double> projected = p.projected(x.data());
  const std::vector<double> back = p.transposed(p.image());
  double left = 0, right = 0;
  for (std::size_t i = 0; i < projected.size(); ++i)
    left += projected.data()[i] * p.image().data()[i];
  for (std::size_t u = 0; u < x.size(); ++u) right += x[u] * back[u];
  EXPECT_NEAR(left, right, 1e-12 * std::abs(left) + 1e-12);
  EXPECT_GT(std::abs(left), 1);
}

TEST(PatchPixels, LostFractionIsWhatFellOnBadPixelsOrOffThePatch) {
  TestPatch t;
  const std::size_t u = 16 + 8;
  const Spot& s = t.spots.spot[u];
  for (int y = s.y0; y < s.y0 + s.ny; ++y) {
    for (int x = s.x0; x < s.x0 + s.nx; ++x)
      t.ivar()(static_cast<std::size_t>(y), static_cast<std::size_t>(x)) = x < s.x0 + 8 ? 0.0 : 1.0;
  }
  const auto lost = [&](double frac) { return PatchPixels(t.ccd, t.spots, t.plan, t.pad, frac); };
  EXPECT_NEAR(
      lost(1).lost_fraction(u),
      1 - t.over_pixels(1, [&](int x, int y) { return x >= s.x0 + 8 ? t.value(u, x, y) : 0.0; }),
      1e-12);
  EXPECT_GT(lost(0).lost_fraction(0), lost(1).lost_fraction(0))
      << "rows of the padding are left out";
  for (std::size_t i = 0; i < t.ivar().size(); ++i) t.ivar().data()[i] = 0;
  EXPECT_EQ(lost(1).lost_fraction(u), 1.0);
}

}  // namespace
}  // namespace fiberloom::patch
