// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/compare_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Flux 10, ivar 4, mask 0, R the identity with three diagonals.
FrameFile flat_frame(std::size_t nspec, std::size_t nwave, int first_fiber = 0) {
  FrameFile frame;
  frame.path = "frame.fits";
  frame.header.set("FIBERMIN", std::int64_t{first_fiber});
  for (std::size_t j = 0; j < nwave; ++j) frame.wave.push_back(5000 + static_cast<double>(j));
  frame.flux = Array2D<double>(nspec, nwave, 10.0);
  frame.ivar = Array2D<double>(nspec, nwave, 4.0);
  frame.mask = Array2D<std::uint32_t>(nspec, nwave, 0U);
  frame.resolution = Array3D<float>(nspec, 3, nwave, 0.0F);
  for (std::size_t s = 0; s < nspec; ++s) {
    for (std::size_t j = 0; j < nwave; ++j) frame.resolution(s, 1, j) = 1;
  }
  return frame;
}

TEST(CompareFrames, FindsNoDifferenceOfAFrameFromItself) {
  const FrameFile a = flat_frame(2, 5);
  const FrameComparison c = compare_frames(a, a);
  EXPECT_EQ(c.good, 10U);
  EXPECT_EQ(c.pulls_below[0], 10U);
  EXPECT_EQ(c.max_pull, 0);
  EXPECT_EQ(c.max_ivar, 0);
  EXPECT_EQ(c.max_resolution, 0);
  EXPECT_EQ(c.mask_difference(), 0);
}

TEST(CompareFrames, MeasuresPullsInUnitsOfBothSigmas) {
  const FrameFile a = flat_frame(2, 5);
  FrameFile b = flat_frame(2, 5);
  b.flux(1, 3) += 0.5 * std::sqrt(2.0) * 0.02;  // sigma is 0.5 on both sides
  const FrameComparison c = compare_frames(a, b);
  EXPECT_NEAR(c.max_pull, 0.02, 1e-12);
  EXPECT_EQ(c.max_pull_at.fiber, 1);
  EXPECT_EQ(c.max_pull_at.wave_aa, 5003);
  EXPECT_EQ(c.pulls_below, (std::array<std::size_t, 5>{9, 9, 9, 9, 10}));
}

/// A frame whose flux is off by 1 sigma at these bins of every spectrum.
FrameFile with_jumps(FrameFile frame, std::initializer_list<std::size_t> bins) {
  for (const std::size_t j : bins) {
    for (std::size_t s = 0; s < frame.flux.rows(); ++s) frame.flux(s, j) += 1;
  }
  return frame;
}

TEST(SeamHint, CountsFarPullsBesideMultiplesOfThePatch) {
  const FrameFile a = flat_frame(2, 200);
  const FrameFile b = with_jumps(flat_frame(2, 200), {2, 48, 50, 75, 152});

  const FrameComparison c = compare_frames(a, b, {.far_pull = 0.1});

  EXPECT_EQ(c.far, 10U);
  EXPECT_EQ(c.far_at_seams, 6U);  // not bin 2, at the end of the grid, and not bin 75
  EXPECT_NE(seam_hint(a, b, c).find("6 of the 10 bins"), std::string::npos);
}

TEST(SeamHint, IsSilentWithoutFarPullsElsewhereAndForTwoExactFrames) {
  FrameFile a = flat_frame(2, 200), b = with_jumps(a, {50, 100});
  const auto hint = [&](double far_pull) {
    return seam_hint(a, b, compare_frames(a, b, {.far_pull = far_pull}));
  };
  EXPECT_EQ(hint(10), "");
  EXPECT_NE(hint(0.1), "");
  a.header.set("EXMETHOD", std::string("exact"));
  b.header.set("EXMETHOD", std::string("exact"));
  EXPECT_EQ(hint(0.1), "");

  b = with_jumps(flat_frame(2, 200), {75});
  EXPECT_EQ(hint(0.1), "");
  b.header.set("EXMETHOD", std::string("patch"));
  EXPECT_NE(hint(0.1).find("B was made in patches"), std::string::npos);
}

TEST(CompareFrames, CountsAndNamesWhatOneSideMasks) {
  FrameFile a = flat_frame(2, 5), b = flat_frame(2, 5);
  a.ivar(0, 0) = 0;
  a.ivar(0, 1) = b.ivar(0, 1) = 0;
  b.mask(1, 4) = kSomeBadPix;
  const FrameComparison c = compare_frames(a, b, {.list = 5});
  EXPECT_EQ(c.masked_a, 2U);
  EXPECT_EQ(c.masked_b, 2U);
  EXPECT_EQ(c.only_a, 1U);
  EXPECT_EQ(c.only_b, 1U);
  EXPECT_DOUBLE_EQ(c.mask_difference(), 0.2);
  ASSERT_EQ(c.list_only_b.size(), 1U);
  EXPECT_EQ(c.list_only_b[0].fiber, 1);
  EXPECT_EQ(c.list_only_b[0].wave_aa, 5004);
}

TEST(CompareFrames, UsesMaskBitsOnlyWhereBothSidesHaveThem) {
  FrameFile a = flat_frame(1, 5), b = flat_frame(1, 5);
  a.mask(0, 2) = kBad2dFit;
  b.mask = {};
  EXPECT_EQ(compare_frames(a, b).masked_a, 0U);
  b.mask = Array2D<std::uint32_t>(1, 5, 0U);
  EXPECT_EQ(compare_frames(a, b).masked_a, 1U);
  EXPECT_EQ(compare_frames(a, b, {.mask_bits = kAllBadPix}).masked_a, 0U);
}

TEST(CompareFrames, TakesNotANumberForAnInfinitePull) {
  FrameFile a = flat_frame(1, 5);
  a.flux(0, 2) = kNan;
  EXPECT_TRUE(std::isinf(compare_frames(a, flat_frame(1, 5)).max_pull));
}

TEST(CompareFrames, RemembersAnEntryOfTheResolutionThatIsNoNumber) {
  const FrameFile a = flat_frame(1, 9);
  FrameFile b = flat_frame(1, 9);
  b.resolution(0, 1, 3) = static_cast<float>(kNan);
  b.resolution(0, 1, 6) = 1.5F;
  EXPECT_EQ(compare_frames(a, b).max_resolution, std::numeric_limits<double>::infinity());
}

TEST(CompareFrames, ComparesTheGridsOfEachFibre) {
  FrameFile a = flat_frame(2, 5);
  a.fiber_wave = Array2D<double>(2, 5);
  for (std::size_t s = 0; s < 2; ++s) std::copy_n(a.wave.data(), 5, a.fiber_wave.row(s));
  FrameFile b = a;
  EXPECT_EQ(compare_frames(a, b).max_pull, 0);
  b.fiber_wave(1, 2) += 0.25;
  try {
    (void)compare_frames(a, b);
    ADD_FAILURE() << "compared";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kWrongShape);
    EXPECT_NE(std::string(error.what()).find("fibre 1"), std::string::npos) << error.what();
  }
}

TEST(UnlikeHints, NameOtherFactorsAndUnits) {
  FrameFile a = flat_frame(1, 5), b = flat_frame(1, 5);
  EXPECT_TRUE(unlike_hints(a, b).empty());
  a.header.set("HELIOCOR", 1.00004);
  a.header.set("BUNIT", std::string("electron/Angstrom"));
  EXPECT_EQ(unlike_hints(a, b).size(), 1U) << "spex says no unit";
  b.header.set("BUNIT", std::string("electron"));
  EXPECT_EQ(unlike_hints(a, b).size(), 2U);
}

TEST(CompareFrames, IgnoresRowsOfTheResolutionOutsideTheGridAndNearBadBins) {
  FrameFile a = flat_frame(1, 5), b = flat_frame(1, 5);
  a.resolution(0, 0, 0) = 7;                         // row -1
  a.resolution(0, 2, 4) = static_cast<float>(kNan);  // row 5
  b.ivar(0, 2) = 0;
  b.resolution(0, 1, 2) = 9;
  EXPECT_EQ(compare_frames(a, b).max_resolution, 0);
  a.resolution(0, 1, 1) = 0.75F;
  EXPECT_EQ(compare_frames(a, b).max_resolution, 0.25);
}

TEST(CompareFrames, ComparesTheDiagonalsThatBothHave) {
  const FrameFile a = flat_frame(1, 5);
  FrameFile b = flat_frame(1, 5);
  b.resolution = Array3D<float>(1, 1, 5, 0.5F);
  EXPECT_EQ(compare_frames(a, b).max_resolution, 0.5);
}

TEST(CompareFrames, MatchesRowsByFibre) {
  FrameFile a = flat_frame(6, 5, 20);
  const FrameFile b = flat_frame(2, 5, 23);
  a.flux(2, 0) = 99;  // fibre 22 is not in b
  const FrameComparison c = compare_frames(a, b);
  EXPECT_EQ(c.nspec, 2U);
  EXPECT_EQ(c.max_pull, 0);
}

TEST(CompareFrames, RefusesWhatCannotBeCompared) {
  EXPECT_THROW((void)compare_frames(flat_frame(1, 5), flat_frame(1, 6)), Error);
  EXPECT_THROW((void)compare_frames(flat_frame(3, 5, 0), flat_frame(2, 5, 100)), Error);
  FrameFile shifted = flat_frame(1, 5);
  shifted.wave[3] += 0.1;
  EXPECT_THROW((void)compare_frames(flat_frame(1, 5), shifted), Error);
}

}  // namespace
}  // namespace fiberloom
